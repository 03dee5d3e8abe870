// SPDX-License-Identifier: Apache-2.0
//
// allreduce/recursive_doubling
//
// Neighboring ranks are folded to a power of two of groups. In round i group g exchanges its whole
// partial result with group g xor 2^i; the lower group's is the left operand. Target and source
// alternate between two buffers, because the partner may still read what was sent.
//
// Source:       Thakur, Rabenseifner, Gropp 2005
// Rounds:       floor(log2(p)) + (p == pof2 ? 0 : 2)
// Bytes:        n * floor(log2(p)) + (p == pof2 ? 0 : n)
// Scratch:      p == 1 ? 0 : n
// Good for:     short vectors, and operators that do not commute
#include "algorithms/parts/recursive_exchange.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_recursive_doubling {

void write(const shape& s, builder& b) { parts::recursive_exchange(s, b, 2); }

}  // namespace tutti::algorithms::allreduce_recursive_doubling
