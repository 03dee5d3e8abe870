// SPDX-License-Identifier: Apache-2.0
#include "tutti/sort.hpp"

namespace tutti::detail {

sampling sampling_of(const communicator& ranks, std::size_t count) {
  const auto p = static_cast<std::size_t>(ranks.size());
  const std::size_t all = ranks.allreduce_single(send_buf(count), op(std::plus<>{}));
  const std::size_t samples_per_rank = std::clamp<std::size_t>(8192 / p, 32, 128);
  const std::size_t distance = std::max<std::size_t>(1, all / (samples_per_rank * p));
  // Multiples of the golden ratio, modulo 1, are well separated for any number of ranks.
  const double multiple = 0.6180339887498949 * ranks.rank();
  const double fraction = multiple - static_cast<double>(static_cast<std::size_t>(multiple));
  return {distance, static_cast<std::size_t>(fraction * static_cast<double>(distance))};
}

}  // namespace tutti::detail
