// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/tuna
//
// The distance of a block is written to a radix. For each position, all blocks with the same digit
// there travel in one message; a message before it contains their lengths. The messages of one
// position are in progress at the same time. A small radix sends few messages and moves a block
// often; a radix of p sends every block directly.
// Source:       Fan et al. 2025 (HPDC), arXiv 2411.02581
// Restrictions: not_in_place
// Reach:        hops around with radix = 2
// Parameters:   radix = 4 in 2..1024: base of the digits, radix - 1 messages at a time
// Rounds:       <= p <= radix + 1 ? p - 1 : ceil(log2(p)) + 2 * ((ceil_log(radix, p) - 1) * (radix
//                 - 1) + ceil(p / pow(radix, ceil_log(radix, p) - 1)) - 1)
// Bytes:        <= (b + word) * floor(p * (radix - 1) / radix) * ceil_log(radix, p) + word *
//                 ceil(log2(p))
// Scratch:      p <= radix + 1 ? 0 : b * (p - radix - 1 + 2 * floor(p * (radix - 1) / radix))
// Good for:     blocks of different lengths, from small (radix 2) to large (radix p)
#include "algorithms/parts/vector_bruck.hpp"

namespace tutti::algorithms::alltoallv_tuna {

void write(const shape& s, builder& b) {
  parts::vector_bruck(s, b, s.of(algorithm_parameter::radix), parts::vector_bruck::slots_are::dense).write();
}

}  // namespace tutti::algorithms::alltoallv_tuna
