// SPDX-License-Identifier: Apache-2.0
//
// allreduce/recursive_multiplying
//
// The number of ranks is written as a product of factors of at most k; where it is none, ranks are folded to
// the greatest number below that is one, neighbours together. In each round as many groups as a factor says
// exchange whole partial results with one another, all at the same time: fewer rounds than doubling has, of
// more messages. Everyone combines what it has got in the order of the ranks.
//
// Source:       Ruefenacht, Bull, Booth 2017
// Parameters:   k = 4 in 2..32: the greatest factor, one more than the messages of a rank under way together
// Rounds:       <= (k - 1) * log(k, p) + 2
// Bytes:        <= n * ((k - 1) * log(k, p) + 1)
// Scratch:      n * (k - 1)
// Good for:     short vectors, where a message costs more than its bytes
#include "algorithms/parts/recursive_exchange.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_recursive_multiplying {

void write(const shape& s, builder& b) { parts::recursive_exchange(s, b, s.of(algorithm_parameter::k)); }

}  // namespace tutti::algorithms::allreduce_recursive_multiplying
