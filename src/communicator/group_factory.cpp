// SPDX-License-Identifier: Apache-2.0
//
// Groups that are made without a message: ranges and lists of ranks (group_factory.hpp).
#include "communicator/group_factory.hpp"

#include <string>
#include <utility>

#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

communicator_handle group_factory::make_locally(const group& members, group_name name) {
  const std::uint64_t first = static_cast<std::uint32_t>(members.first_address());
  name = name.with(first << 32 | uses_of_name_[name]++);  // parts of one split have one name
  return communicator_impl::make(parent_.shared(), members, name);
}

communicator_handle group_factory::make_from_members(const group& members, std::uint64_t id) {
  parent_.this_rank().next_id = id + 1;
  // Groups with one id have no member in common, so their first members distinguish them.
  const group_name name = group_name{1, id}.with(static_cast<std::uint64_t>(members.first_address()));
  communicator_handle made = communicator_impl::make(parent_.shared(), members, name);
  parent_.this_rank().rejections.note_group(name.a);
  return made;
}

communicator_handle group_factory::range(int first, int last, int stride) {
  const auto reject_number = [&](const char* parameter, int value, const char* remedy) {
    parent_.reject("range", parameter, "is " + std::to_string(value), remedy);
  };
  parent_.validate_usable_at_entry("range");
  parent_.validate_knows_all("range");
  if (parent_.inter())
    parent_.reject("range", "communicator", "has two groups", "use a communicator with one group");
  if (first < 0 || first >= parent_.size()) parent_.reject_rank("range", "first", first);
  if (last < 0 || last >= parent_.size()) parent_.reject_rank("range", "last", last);
  if (stride == 0) reject_number("stride", stride, "pass 1 for one rank, else a divisor of last - first");
  // A division costs as much as all the rest of this function.
  const auto steps = [&](int distance) {
    return stride == 1 ? distance : stride == -1 ? -distance : distance / stride;
  };
  const int n = steps(last - first) + 1, own = steps(parent_.rank() - first);
  if (n < 1 || first + (n - 1) * stride != last)
    parent_.reject("range", "stride",
                   "is " + std::to_string(stride) + ", which does not lead from " + std::to_string(first) +
                       " to " + std::to_string(last),
                   "pass a divisor of last - first");
  if (own < 0 || own >= n || first + own * stride != parent_.rank())
    parent_.reject("range", "first, last, stride", "leave this rank out", "make a group on its members only");
  const auto number = [](int i) { return std::uint64_t{static_cast<std::uint32_t>(i)}; };
  return make_locally(parent_.members().part(first, stride, n, own),
                      parent_.name().with(number(first) << 32 | number(n), number(stride)));
}

communicator_handle group_factory::list(std::span<const int> ranks) {
  parent_.validate_usable_at_entry("list");
  parent_.validate_knows_all("list");
  if (parent_.inter())
    parent_.reject("list", "communicator", "has two groups", "use a communicator with one group");
  const int p = parent_.size(), n = static_cast<int>(ranks.size());
  std::vector<bool> seen(static_cast<std::size_t>(p));
  group_name name = parent_.name().with(~std::uint64_t{0});
  std::vector<int> addresses;
  addresses.reserve(ranks.size());
  int own = -1;
  for (int i = 0; i < n; ++i) {
    const int r = ranks[static_cast<std::size_t>(i)];
    if (r < 0 || r >= p)
      parent_.reject(
          "list", "ranks",
          "names rank " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(parent_.size() - 1),
          "name ranks of this communicator");
    if (seen[static_cast<std::size_t>(r)])
      parent_.reject("list", "ranks", "names rank " + std::to_string(r) + " twice", "name each member once");
    seen[static_cast<std::size_t>(r)] = true;
    if (r == parent_.rank()) own = i;
    name = name.with(static_cast<std::uint64_t>(r));
    addresses.push_back(parent_.members().address(r));
  }
  if (own < 0) parent_.reject("list", "ranks", "leaves this rank out", "make a group on its members only");
  return make_locally(group::of(std::move(addresses), own), name);
}

int group_factory::translate(int rank, const communicator_state& to, const char* operation) const {
  if (rank == rank::null) return rank::null;
  parent_.validate_usable_at_entry(operation);
  to.validate_usable_at_entry(operation);
  if (rank < 0 || rank >= parent_.size()) parent_.reject_rank(operation, "rank", rank);
  if (!parent_.members().is_known(rank))
    parent_.reject(
        operation, "rank",
        "is " + std::to_string(rank) + ", which rank " + std::to_string(parent_.rank()) + " does not know",
        "translate a rank that is known here, or use split(0), which knows all ranks");
  const int found = to.members().rank_of(parent_.members().address(rank));
  if (found < 0 && !to.knows_all())
    parent_.reject(operation, "rank",
                   "is " + std::to_string(rank) + ", which this rank does not know in the other communicator",
                   "translate to split(0) of the other one, which knows all ranks");
  return found < 0 ? rank::null : found;
}

}  // namespace tutti::detail
