// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/best_fit.hpp"

#include <algorithm>
#include <iterator>

namespace tutti::shm {

best_fit::best_fit(std::uintptr_t begin, std::uintptr_t end) {
  all_.try_emplace(begin, entry{end, true, {}});
  free_.emplace(end - begin, begin);
}

// Cuts a free interval in two. Their nodes in free_ are made before anything changes.
void best_fit::cut(by_address::iterator from, std::uintptr_t at) {
  const std::uintptr_t begin = from->first, end = from->second.end;
  const auto second = all_.try_emplace(std::next(from), at, entry{end, true, {}});
  try {
    free_.emplace(end - at, at);
  } catch (...) {
    all_.erase(second);
    throw;
  }
  from->second.end = at;
  auto node = free_.extract({end - begin, begin});
  node.value().first = at - begin;
  free_.insert(std::move(node));
}

std::uintptr_t best_fit::allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + granule - 1) & ~(granule - 1);
  const std::uintptr_t mask = std::max(alignment, granule) - 1;
  if (rounded < bytes) return 0;
  for (auto at = free_.lower_bound({rounded, 0}); at != free_.end(); ++at) {
    const std::uintptr_t begin = at->second, end = begin + at->first, aligned = (begin + mask) & ~mask;
    if (aligned < begin || aligned > end || end - aligned < rounded) continue;
    const auto found = all_.find(begin);
    if (end - aligned > rounded) cut(found, aligned + rounded);
    if (aligned == begin) {
      take(found);
      return aligned;
    }
    try {
      cut(found, aligned);
    } catch (...) {  // merges the two parts
      take(found);
      deallocate(begin);
      throw;
    }
    take(std::next(found));
    return aligned;
  }
  return 0;
}

void best_fit::take(by_address::iterator at) noexcept {
  at->second.is_free = false;
  at->second.node = free_.extract({at->second.end - at->first, at->first});
}

best_fit::interval best_fit::find(std::uintptr_t allocation) const noexcept {
  const auto found = all_.find(allocation);
  if (found == all_.end() || found->second.is_free) return {};
  return {allocation, found->second.end};
}

void best_fit::deallocate(std::uintptr_t allocation) noexcept {
  auto at = all_.find(allocation);
  auto node = std::move(at->second.node);
  at->second.is_free = true;
  const auto merge_with_next = [&](by_address::iterator first) {
    const auto second = std::next(first);
    first->second.end = second->second.end;
    all_.erase(second);
  };
  if (const auto next = std::next(at); next != all_.end() && next->second.is_free) {
    free_.erase({next->second.end - next->first, next->first});
    merge_with_next(at);
  }
  if (at != all_.begin())
    if (const auto before = std::prev(at); before->second.is_free) {
      free_.erase({before->second.end - before->first, before->first});
      merge_with_next(before);
      at = before;
    }
  node.value() = {at->second.end - at->first, at->first};
  free_.insert(std::move(node));
}

}  // namespace tutti::shm
