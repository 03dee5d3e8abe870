// SPDX-License-Identifier: Apache-2.0
//
// Checked calls, many at a time.
#pragma once

#include <iterator>
#include <memory>
#include <vector>

#include "checked_call.hpp"
#include "mpi_program.hpp"

namespace tests {

/// Calls of 70000 and 300000 bytes, and short ones. A bcast or allreduce of up to 64 KiB has one
/// round.
inline void run_blocking(detail::context& c) {
  const auto run = [&](const call& made) { c.native(made, here); };
  check_calls<word>(kinds_that_move, {0, 1, 7, 1025, 8750}, run);
  check_calls<triple>(kinds_that_move, {1, 100000}, run);
  check_calls<matrix>(kinds_that_combine, {0, 1, 3, 130, 4375, 18750}, run);
}

/// Many calls at a time, which end in any order. `before(i)` is called before call i begins.
template <class Before>
void run_overlapping(detail::context& c, const Before& before) {
  constexpr collective kinds[] = {collective::reduce_scatter_block,
                                  collective::bcast,
                                  collective::allreduce,
                                  collective::gather,
                                  collective::scan,
                                  collective::scatter,
                                  collective::reduce,
                                  collective::allgatherv,
                                  collective::alltoall,
                                  collective::alltoallv,
                                  collective::gatherv,
                                  collective::scatterv,
                                  collective::barrier,
                                  collective::allgather};
  std::vector<std::unique_ptr<checked_call<matrix>>> calls;
  std::vector<detail::native_state> states(33);
  std::vector<bool> complete(states.size());
  for (unsigned i = 0; i < states.size(); ++i) {
    before(i);
    const std::size_t n = i % 3 == 0 ? 4000 : i % 7 == 0 ? 20000 : i % 6;
    test_allocator<matrix>::in_arena = uses_arena(i);
    calls.push_back(std::make_unique<checked_call<matrix>>(
        kinds[i % std::size(kinds)], n, static_cast<int>(i) % here_is.size, i, i % 2 == 0));
    c.native_begin(calls.back()->made, states[i]);
    if (i % 4 == 3) complete[i - 2] = c.native_progress(states[i - 2], false, here);
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (complete[i]) calls[i]->overwrite();
    if (!complete[i]) ++left;
  }
  for (; left > 0; c.ep().pause(here))
    for (std::size_t i = states.size(); i-- > 0;)
      if (!complete[i] && c.native_progress(states[i], false, here)) {
        complete[i] = true;
        calls[i]->overwrite();
        --left;
      }
  for (const auto& one : calls) one->compare();
}

/// Calls of two communicators, one in the other's wait.
inline void run_on_two(detail::context& one, detail::context& other) {
  test_allocator<matrix>::in_arena = uses_arena(1);
  checked_call<matrix> first(collective::allgather, 5000, 0, 1, false);
  detail::native_state state;
  one.native_begin(first.made, state);
  check_calls<matrix>(kinds_that_combine, {5000}, [&](const call& made) { other.native(made, here); });
  one.native_progress(state, true, here);
  first.overwrite();
  first.compare();
}

}  // namespace tests
