// SPDX-License-Identifier: Apache-2.0
//
// bcast/knomial
//
// A k-nomial tree around the root: whoever has the vector sends it to its children, the one with the largest
// subtree first.
#include "patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms {
namespace {

void write(const shape& s, builder& b) {
  const int v = s.relative();
  if (v != 0) b.recv(s.absolute(patterns::knomial_parent(v, s.size, s.radix)), whole(buffer::output));
  b.round();
  const place data = whole(v == 0 ? buffer::input : buffer::output);
  patterns::for_each_knomial_child_down(v, s.size, s.radix,
                                        [&](int child) { b.send(s.absolute(child), data); });
  b.round();
}

}  // namespace

extern const pure_algorithm bcast_knomial;
const pure_algorithm bcast_knomial = {
    .name = "bcast/knomial",
    .what = collective::bcast,
    .needs = restriction::none,
    .idea =
        "A k-nomial tree around the root: whoever has the vector sends it to its children, the one with "
        "the largest subtree first.",
    .source = "folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007",
    .rounds = "ceil(log_k p)",
    .bytes = "n (k-1) ceil(log_k p)",
    .scratch = "0",
    .write = write,
};

}  // namespace tutti::algorithms
