// SPDX-License-Identifier: Apache-2.0
//
// The trees on one communicator: where everything about a call is fixed but its count, they come down to a
// few stretches of counts, and a warm decision to a scan of them.
#include <algorithm>
#include <cstring>

#include "communicator/communicator_impl.hpp"
#include "selection/flat_tree.hpp"

namespace tutti::detail {

communicator_impl::count_intervals* communicator_impl::count_intervals_of(const call& c, bool make) {
  std::uint64_t head[4];
  std::memcpy(head, static_cast<const void*>(&c), 24);
  std::memcpy(head + 3, &c.op.which, 8);
  for (const auto& one : count_intervals_)
    if (std::memcmp(one->head, head, sizeof head) == 0) return one.get();
  if (!make) return nullptr;
  constexpr std::size_t most = 256;  // a program that changes its root with every call asks for many
  if (count_intervals_.size() == most) {
    for (cached_call& r : cached_calls()) r.by_count = nullptr;
    count_intervals_.clear();
  }
  auto made = std::make_unique<count_intervals>();
  std::memcpy(made->head, head, sizeof head);

  const agreed_signature sample = agreed_part(c, size(), inter());
  const auto ranks = static_cast<std::uint64_t>(size());
  // Native collectives of MPI count blocks, or all of them, by an int.
  constexpr std::uint64_t max_int = 0x7fffffff;
  const std::uint64_t native_bounds[] = {max_int / ranks, max_int};
  const auto native = [&](std::uint64_t count) {
    agreed_signature s = sample;
    s.count = count;
    return offers_native(s);
  };
  std::vector<std::uint64_t> cuts{0, ranks - 1, max_int / ranks, max_int};  // 0 and count_ge_ranks
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (const flat_step& s :
         flat_tree(*shared_->by->trees, selection_context_of(sample), half, native, native_bounds).steps())
      cuts.push_back(s.upper_bound_of_count);
  const std::uint64_t element = c.type.size;
  if (combines(c.what)) cuts.push_back((min_kernel_bytes - 1) / element);
  cuts.push_back(shm::channel::cell_bytes / element);  // up to which a schedule may be straight
  // More than an address can count is refused.
  cuts.push_back(static_cast<std::uint64_t>(PTRDIFF_MAX) / element / ranks);
  cuts.push_back(tree_step::open);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (const std::uint64_t upper_bound : cuts) made->all.push_back({upper_bound});
  count_intervals_.push_back(std::move(made));
  return count_intervals_.back().get();
}

}  // namespace tutti::detail
