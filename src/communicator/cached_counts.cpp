// SPDX-License-Identifier: Apache-2.0
#include "communicator/cached_counts.hpp"

#include <algorithm>
#include <utility>

namespace tutti::detail {
namespace {

// The numbers in the caller's type. Returns false if one does not fit.
bool store_integers(std::vector<std::byte>& to, const counts_view& from, bool wide) {
  const std::size_t width = wide ? sizeof(std::size_t) : sizeof(int);
  to.resize(from.size() * width);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t number = from[i];
    if (!wide && number > 0x7fffffff) return false;
    const auto narrow = static_cast<int>(number);
    std::memcpy(to.data() + i * width, wide ? static_cast<const void*>(&number) : &narrow, width);
  }
  return true;
}

}  // namespace

bool cached_side::store(const counts_view& c, const counts_view& d, bool left_out, bool wide) {
  if (!store_integers(heap_counts, c, wide) || !store_integers(heap_displs, d, wide)) return false;
  if (left_out) {
    dense = std::move(heap_displs);
    heap_displs = heap_counts;
  }
  const std::size_t bytes = heap_counts.size();
  word_bytes = bytes / 8 * 8;
  half_word = bytes % 8 != 0;
  if (bytes > max_inline) return true;
  std::copy(heap_counts.begin(), heap_counts.end(), counts);
  std::copy(heap_displs.begin(), heap_displs.end(), displs);
  heap_counts.clear();
  heap_displs.clear();
  return true;
}

bool cached_side::matches(const void* c, const void* d) const noexcept {
  const bool on_heap = !heap_counts.empty();
  const std::size_t bytes = on_heap ? heap_counts.size() : word_bytes + (half_word ? 4 : 0);
  return bytes == 0 || (std::memcmp(c, on_heap ? heap_counts.data() : counts, bytes) == 0 &&
                        std::memcmp(d, on_heap ? heap_displs.data() : displs, bytes) == 0);
}

}  // namespace tutti::detail
