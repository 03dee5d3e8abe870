// SPDX-License-Identifier: Apache-2.0
//
// The children of a rank in a k-nomial tree, in rounds of `window` children each. With a window of
// 1 the largest subtree has the whole bandwidth of the link first.
#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial.hpp"

namespace tutti::parts {

/// Calls send(child) for the children of position v. Begins a round before each window.
template <class Send>
void serve_children(const shape& s, builder& b, int v, Send send) {
  int served = 0;
  patterns::for_each_knomial_child_down(v, s.size, s.of(algorithm_parameter::k), [&](int child) {
    if (served++ % s.of(algorithm_parameter::window) == 0) b.round();
    send(child);
  });
}

}  // namespace tutti::parts
