// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/padded_bruck, alltoallw/padded_bruck
//
// The ranks agree on the longest block and pad all blocks to that length. Then they travel as in
// Bruck's alltoall: write the distance as digits of base `radix`; for each position, all blocks
// with the same digit there travel in one message. The messages of one position are in progress at
// the same time.
//
// Source:       Fan et al. 2022 (HPDC)
// Restrictions: not_in_place
// Reach:        hops around with radix = 2
// Parameters:   radix = 2 in 2..1024: base of the digits, radix - 1 messages at a time
// Rounds:       <= p <= radix + 1 ? p - 1 : 2 * ((ceil_log(radix, p) - 1) * (radix - 1) +
//                 ceil(p / pow(radix, ceil_log(radix, p) - 1)) - 1)
// Bytes:        <= b * floor(p * (radix - 1) / radix) * ceil_log(radix, p) +
//                 word * (radix - 1) * ceil_log(radix, p)
// Scratch:      p <= radix + 1 ? 0 : b * (p - radix - 1 + 2 * floor(p * (radix - 1) / radix))
// Good for:     small blocks of similar length
#include "algorithms/parts/vector_bruck.hpp"

namespace tutti::algorithms::alltoallv_padded_bruck {

void write(const shape& s, builder& b) {
  const int radix = s.of(algorithm_parameter::radix);
  parts::vector_bruck(s, b, radix, parts::vector_bruck::slot_format::padded).write();
}

}  // namespace tutti::algorithms::alltoallv_padded_bruck
