// SPDX-License-Identifier: Apache-2.0
//
// allreduce/recursive_multiplying
//
// The number of ranks is written as a product of factors of at most k. If this is impossible,
// neighboring ranks are folded to the largest smaller number of groups that is such a product. In
// each round, sets of `factor` groups exchange whole partial results among all of them at the same
// time. This needs fewer rounds than doubling, with more messages each. Each rank combines what it
// received in rank order.
//
// Source:       Ruefenacht, Bull, Booth 2017
// Parameters:   k = 4 in 2..32: the largest factor, one more than the number of messages of a rank
//                 in progress
// Rounds:       <= (k - 1) * log(k, p) + 2
// Bytes:        <= n * ((k - 1) * log(k, p) + 1)
// Scratch:      n * (k - 1)
// Good for:     short vectors, for which the latency of a message dominates
#include "algorithms/parts/recursive_exchange.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_recursive_multiplying {

void write(const shape& s, builder& b) { parts::recursive_exchange(s, b, s.of(algorithm_parameter::k)); }

}  // namespace tutti::algorithms::allreduce_recursive_multiplying
