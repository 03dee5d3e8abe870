// SPDX-License-Identifier: Apache-2.0
//
// Communicators made of others: duplicates, parts, neighbours in a graph, two groups.
#include <algorithm>

#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

int communicator_impl::send_block_count(collective what) const noexcept {
  if (is_neighborly(what)) return static_cast<int>(topology_.destinations.size());
  const int first = topology_.first_group, own = rank() < first ? first : size() - first;
  if (what == collective::reduce_scatter || what == collective::reduce_scatter_block)
    return inter() ? own : size();
  return inter() ? size() - own : size();
}

int communicator_impl::recv_block_count(collective what) const noexcept {
  if (is_neighborly(what)) return static_cast<int>(topology_.sources.size());
  return send_block_count(what);
}

// A number that none of the members has used: the largest of what they would use next.
std::uint64_t communicator_impl::unused_number() {
  std::uint64_t next = shared_->next_id;
  call agree;
  agree.what = collective::allreduce;
  agree.type = element_of<std::uint64_t>();
  agree.count = 1;
  agree.in_place = true;
  agree.output = &next;
  agree.op = {[](const void* a, const void* b, void* c, std::size_t n, void*) {
                for (std::size_t i = 0; i < n; ++i)
                  static_cast<std::uint64_t*>(c)[i] = std::max(static_cast<const std::uint64_t*>(a)[i],
                                                               static_cast<const std::uint64_t*>(b)[i]);
              },
              nullptr, builtin_op::max, true};
  carry_out(agree, find(agree));
  shared_->next_id = next + 1;
  return next;
}

communicator_handle communicator_impl::duplicate() {
  refuse_freed("duplicate");
  if (inter() || topology_.graph) return union_of_groups().with(topology_, "duplicate");
  if (shared_->set.check) compare_with_others(nullptr, nullptr, "duplicate");
  be_open();
  if (!knows_all()) return of_members(members_, unused_number());
  return communicator_handle(
      new (*shared_) communicator_impl(shared_, ep().open(members_, unused_number(), where_.get())));
}

communicator_handle communicator_impl::with(topology shape, const char* operation) {
  refuse_freed(operation);
  refuse_few(operation);
  if (inter() && &union_of_groups() == this)
    refuse(operation, "communicator", "has two groups", "use a communicator with one group");
  for (const auto& [list, name] :
       {std::pair{&shape.sources, "sources"}, {&shape.destinations, "destinations"}})
    for (const int r : *list)
      if (r < 0 || r >= size())
        refuse(operation, name,
               "names rank " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(size() - 1),
               "name ranks of this communicator");
  if (!shape.graph && (shape.first_group <= 0 || shape.first_group >= size()))
    refuse(operation, "first",
           "is " + std::to_string(shape.first_group) + ", but there are " + std::to_string(size()) + " ranks",
           ("leave at least one rank to each group: 1 to " + std::to_string(size() - 1)).c_str());
  if (shared_->set.check) {
    compare_with_others(nullptr, nullptr, operation);
    if (shape.graph) check_graph(shape);
  }
  be_open();
  const auto open = [&] { return ep().open(members_, unused_number(), where_.get()); };
  communicator_handle made(new (*shared_) communicator_impl(shared_, open(), std::move(shape)));
  if (made->inter()) made->within_ = communicator_handle(new (*shared_) communicator_impl(shared_, open()));
  return made;
}

// Every edge has two ends: whoever sends to me must be whom I receive from, as many times.
void communicator_impl::check_graph(const topology& t) {
  const auto p = static_cast<std::size_t>(size());
  std::vector<std::uint64_t> to(p), from(p), named(p);
  for (const int r : t.destinations) ++to[static_cast<std::size_t>(r)];
  for (const int r : t.sources) ++from[static_cast<std::size_t>(r)];
  exchange(collective::alltoall, to.data(), named.data(), sizeof to[0], "graph");
  for (std::size_t r = 0; r < p; ++r)
    if (named[r] != from[r])
      throw mismatch_error("graph", rank(), "sources",
                           "rank " + std::to_string(r) + " lists this rank " + std::to_string(named[r]) +
                               " times as a destination, but this rank lists it " + std::to_string(from[r]) +
                               " times as a source",
                           "pass every edge on both of its ranks", place());
}

}  // namespace tutti::detail
