// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/tuna, alltoallw/tuna
//
// Write (destination - source) mod p as digits of base `radix`. For each position i, all blocks
// with the same digit at i travel in one message; a message before it contains their lengths. The
// messages of one position are in progress at the same time. First all ranks compute the length of
// the longest block in the same way. A small radix sends few messages and moves a block often. With
// a radix of at least p - 1, every block is sent directly, and no length is computed.
// Source:       Fan et al. 2025 (HPDC), arXiv 2411.02581
// Restrictions: not_in_place
// Reach:        hops around with radix = 2
// Parameters:   radix = 4 in 2..1024: base of the digits, radix - 1 messages at a time
// Rounds:       <= p <= radix + 1 ? p - 1 : 3 * ((ceil_log(radix, p) - 1) * (radix - 1) +
//                 ceil(p / pow(radix, ceil_log(radix, p) - 1)) - 1)
// Bytes:        <= (b + word) * floor(p * (radix - 1) / radix) * ceil_log(radix, p) +
//                 word * (radix - 1) * ceil_log(radix, p)
// Scratch:      p <= radix + 1 ? 0 : b * (p + 2 * floor(p * (radix - 1) / radix))
// Good for:     blocks of different lengths, from small (radix 2) to large (radix p - 1)
#include "algorithms/parts/vector_bruck.hpp"

namespace tutti::algorithms::alltoallv_tuna {

void write(const shape& s, builder& b) {
  const int radix = s.of(algorithm_parameter::radix);
  parts::vector_bruck(s, b, radix, parts::vector_bruck::slot_format::lengths_in_own_message).write();
}

}  // namespace tutti::algorithms::alltoallv_tuna
