// SPDX-License-Identifier: Apache-2.0
//
// Communicators that all ranks of the parent make together: duplicates, graphs, splits, and two
// groups (group_factory.hpp).
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "communicator/communicator_impl.hpp"
#include "communicator/group_factory.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

// An id that no member has used: the largest of those that they would use next.
std::uint64_t group_factory::agree_on_unused_id() {
  std::uint64_t next = parent_.this_rank().next_id;
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
  control_.run_control(agree);
  parent_.this_rank().next_id = next + 1;
  return next;
}

std::vector<int> group_factory::addresses(const char* operation) {
  std::vector<int> all(static_cast<std::size_t>(parent_.size()));
  if (parent_.knows_all()) {
    for (int r = 0; r < parent_.size(); ++r) all[static_cast<std::size_t>(r)] = parent_.members().address(r);
  } else {
    const int own = parent_.members().address(parent_.rank());
    control_.exchange(collective::allgather, &own, all.data(), sizeof own, operation);
  }
  return all;
}

communicator_handle group_factory::duplicate() {
  parent_.validate_usable_at_entry("duplicate");
  if (parent_.inter()) return merged_->groups().with_topology(parent_.graph(), "duplicate");
  if (parent_.graph().graph) return with_topology(parent_.graph(), "duplicate");
  if (checked_mode_.is_on()) checked_mode_.compare("duplicate");
  if (!parent_.knows_all()) return make_from_members(parent_.members(), agree_on_unused_id());
  return communicator_impl::make(parent_.shared(), open_context());
}

// Collective over the parent.
std::unique_ptr<context> group_factory::open_context() {
  parent_.open();
  return parent_.ep().open(parent_.members(), agree_on_unused_id(), &parent_.engine_context());
}

communicator_handle group_factory::with_topology(topology shape, const char* operation) {
  parent_.validate_usable_at_entry(operation);
  parent_.validate_knows_all(operation);
  if (parent_.inter())
    parent_.reject(operation, "communicator", "has two groups", "use a communicator with one group");
  for (const auto& [list, name] :
       {std::pair{&shape.sources, "sources"}, {&shape.destinations, "destinations"}})
    for (const int r : *list)
      if (r < 0 || r >= parent_.size())
        parent_.reject(
            operation, name,
            "names rank " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(parent_.size() - 1),
            "name ranks of this communicator");
  if (!shape.graph && (shape.first_group <= 0 || shape.first_group >= parent_.size()))
    parent_.reject(
        operation, "first",
        "is " + std::to_string(shape.first_group) + ", but there are " + std::to_string(parent_.size()) +
            " ranks",
        ("leave at least one rank to each group: 1 to " + std::to_string(parent_.size() - 1)).c_str());
  if (checked_mode_.is_on()) {
    checked_mode_.compare(operation);
    if (shape.graph) checked_mode_.compare_edges(shape);
  }
  std::unique_ptr<context> where = open_context();
  communicator_handle merged;
  if (shape.first_group != 0) merged = communicator_impl::make(parent_.shared(), open_context());
  return communicator_impl::make(parent_.shared(), std::move(where), std::move(shape), std::move(merged));
}

// Each rank sends its request and the smallest id that it has not used. All ranks then compute the
// result locally.
communicator_handle group_factory::split(int color, int key, const char* operation, int bins) {
  parent_.validate_usable_at_entry(operation);
  if (parent_.inter())
    parent_.reject(operation, "communicator", "has two groups", "use a communicator with one group");
  if (checked_mode_.is_on()) checked_mode_.compare(operation);
  const split_request mine{next_unused_id(), color, bins == no_bins ? key : bins};
  std::vector<split_request> all(static_cast<std::size_t>(parent_.size()));
  control_.exchange(collective::allgather, &mine, all.data(), sizeof mine, operation);
  const std::vector<int> all_addresses = parent_.knows_all() ? std::vector<int>() : addresses(operation);
  std::vector<int> ranks;
  std::uint64_t id = 0;
  const auto request_of = [&](int r) -> const split_request& { return all[static_cast<std::size_t>(r)]; };
  for (int r = 0; r < parent_.size(); ++r) {
    id = std::max(id, request_of(r).id);
    if (bins != no_bins && request_of(r).key != bins)
      throw mismatch_error(operation, parent_.rank(), "bins",
                           "is " + std::to_string(bins) + ", but " + std::to_string(request_of(r).key) +
                               " on rank " + std::to_string(r),
                           "pass the same number of bins on all ranks", parent_.place());
    if (bins < 0) parent_.reject(operation, "bins", "is " + std::to_string(bins), "pass 0 bins or more");
    if (bins != no_bins && request_of(r).color >= bins)
      parent_.reject(operation, "bin",
                     "is " + std::to_string(request_of(r).color) + " on rank " + std::to_string(r) +
                         ", but there are " + std::to_string(bins) + " bins",
                     ("pass 0 to " + std::to_string(bins - 1) + ", or a negative bin for no group").c_str());
    if (request_of(r).color == color) ranks.push_back(r);
  }
  parent_.this_rank().next_id = id + 1;
  if (color < 0) return communicator_handle();
  const auto before = [&](int a, int b) { return request_of(a).key < request_of(b).key; };
  if (!std::is_sorted(ranks.begin(), ranks.end(), before))
    std::stable_sort(ranks.begin(), ranks.end(), before);
  const int own = static_cast<int>(std::find(ranks.begin(), ranks.end(), parent_.rank()) - ranks.begin());
  for (int& r : ranks)
    r = parent_.knows_all() ? parent_.members().address(r) : all_addresses[static_cast<std::size_t>(r)];
  return make_from_members(group::of(std::move(ranks), own), id);
}

distinct_number group_factory::number_distinct(std::string_view text) {
  parent_.validate_usable_at_entry("number_distinct");
  if (parent_.inter())
    parent_.reject("number_distinct", "communicator", "has two groups", "use a communicator with one group");
  if (checked_mode_.is_on()) checked_mode_.compare("number_distinct");
  std::vector<std::size_t> lengths(static_cast<std::size_t>(parent_.size()));
  const std::size_t mine = text.size();
  control_.exchange(collective::allgather, &mine, lengths.data(), sizeof mine, "number_distinct");
  std::string all(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}), ' ');
  call c;
  c.what = collective::allgatherv;
  c.type = element_of<char>();
  c.input = text.data();
  c.output = all.data();
  c.count = mine;
  c.in_counts = {&mine, 1};
  c.out_counts = {lengths.data(), lengths.size()};
  c.label = "number_distinct";
  control_.run_control(c);
  std::vector<std::string_view> texts;
  std::size_t at = 0;
  for (const std::size_t n : lengths) {
    texts.emplace_back(all.data() + at, n);
    at += n;
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const auto own = std::lower_bound(texts.begin(), texts.end(), text);
  return {static_cast<int>(own - texts.begin()), static_cast<int>(texts.size())};
}

// The leaders exchange the members of their groups. The group whose leader has the lower rank comes
// first in the union of both.
communicator_handle group_factory::between_groups(group_factory& local, int remote_leader) {
  parent_.validate_usable_at_entry("inter");
  local.parent_.validate_usable_at_entry("inter");
  parent_.validate_knows_all("inter");
  local.parent_.validate_knows_all("inter");
  if (parent_.inter() || local.parent_.inter())
    parent_.reject("inter", parent_.inter() ? "communicator" : "local", "has two groups",
                   "use communicators with one group");
  const bool is_leader = local.parent_.rank() == 0;
  if (is_leader && (remote_leader < 0 || remote_leader >= parent_.size()))
    parent_.reject_rank("inter", "remote_leader", remote_leader);
  struct side {
    std::uint64_t id;
    int leader, size;
  };
  // The smallest id that no rank of this group has used.
  std::vector<std::uint64_t> ids(static_cast<std::size_t>(local.parent_.size()));
  const std::uint64_t next = next_unused_id();
  local.control_.exchange(collective::allgather, &next, ids.data(), sizeof next, "inter");
  side mine{*std::max_element(ids.begin(), ids.end()), parent_.rank(), local.parent_.size()}, theirs{};
  std::vector<int> local_ranks, remote_ranks;
  for (int r = 0; r < local.parent_.size(); ++r) local_ranks.push_back(local.parent_.members().address(r));
  const auto from_leader = [&](void* data, std::size_t bytes) { local.control_.bcast(data, bytes, "inter"); };
  if (is_leader)
    parent_.run_hops("inter", {remote_leader, &mine, sizeof mine, remote_leader, &theirs, sizeof theirs});
  from_leader(&mine, sizeof mine);
  from_leader(&theirs, sizeof theirs);
  remote_ranks.resize(static_cast<std::size_t>(theirs.size));
  if (is_leader)
    parent_.run_hops("inter", {remote_leader, local_ranks.data(), local_ranks.size() * sizeof(int),
                               remote_leader, remote_ranks.data(), remote_ranks.size() * sizeof(int)});
  from_leader(remote_ranks.data(), remote_ranks.size() * sizeof(int));
  for (const int r : remote_ranks)
    if (std::find(local_ranks.begin(), local_ranks.end(), r) != local_ranks.end())
      parent_.reject("inter", "local", "has a rank that is also in the other group",
                     "pass groups without common ranks");
  const std::uint64_t id = std::max(mine.id, theirs.id);
  parent_.this_rank().next_id = id + 1;
  const bool first = mine.leader < theirs.leader;
  std::vector<int> all = first ? local_ranks : remote_ranks;
  const std::vector<int>& last = first ? remote_ranks : local_ranks;
  all.insert(all.end(), last.begin(), last.end());
  const int rank = local.parent_.rank() + (first ? 0 : theirs.size);
  const group merged = group::of(std::move(all), rank);
  const group_name name = group_name{1, id}.with(static_cast<std::uint64_t>(merged.address(0)));
  return communicator_impl::make(parent_.shared(), merged, name, first ? mine.size : theirs.size,
                                 communicator_impl::make(parent_.shared(), merged, name.with(1)));
}

}  // namespace tutti::detail
