// SPDX-License-Identifier: Apache-2.0
#include "communicator/cached_counts.hpp"

#include <algorithm>
#include <utility>

namespace tutti::detail {
namespace {

// The numbers in the caller's type. Returns false if one does not fit.
bool store_numbers(std::vector<std::byte>& to, const counts_view& from, bool wide) {
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
  if (!store_numbers(far_counts, c, wide) || !store_numbers(far_displs, d, wide)) return false;
  if (left_out) {
    dense = std::move(far_displs);
    far_displs = far_counts;
  }
  const std::size_t bytes = far_counts.size();
  whole = bytes / 8 * 8;
  odd = bytes % 8 != 0;
  if (bytes > max_near) return true;
  std::copy(far_counts.begin(), far_counts.end(), counts);
  std::copy(far_displs.begin(), far_displs.end(), displs);
  far_counts.clear();
  far_displs.clear();
  return true;
}

bool cached_side::matches(const void* c, const void* d) const noexcept {
  const bool far = !far_counts.empty();
  const std::size_t bytes = far ? far_counts.size() : whole + (odd ? 4 : 0);
  return bytes == 0 || (std::memcmp(c, far ? far_counts.data() : counts, bytes) == 0 &&
                        std::memcmp(d, far ? far_displs.data() : displs, bytes) == 0);
}

}  // namespace tutti::detail
