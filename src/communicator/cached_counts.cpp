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
  word_bytes = bytes <= max_inline ? static_cast<std::ptrdiff_t>(bytes / 8 * 8) : 0;
  half_word = bytes <= max_inline && bytes % 8 != 0;
  if (bytes > max_inline) return true;
  std::copy(heap_counts.begin(), heap_counts.end(), counts);
  std::copy(heap_displs.begin(), heap_displs.end(), displs);
  heap_counts.clear();
  heap_displs.clear();
  return true;
}

bool cached_side::matches(const void* c, const void* d) const noexcept {
  if (!heap_counts.empty())
    return std::memcmp(c, heap_counts.data(), heap_counts.size()) == 0 &&
           std::memcmp(d, heap_displs.data(), heap_displs.size()) == 0;
  if (half_word && differs<std::uint32_t>(c, d, word_bytes)) return false;
  for (std::ptrdiff_t i = 0; i < word_bytes; i += 8)
    if (differs<std::uint64_t>(c, d, i)) return false;
  return true;
}

}  // namespace tutti::detail
