// SPDX-License-Identifier: Apache-2.0
//
// Native collectives by address: all kinds, roots, operators and lengths, in place and not, many at
// a time. Each rank overwrites its buffers as soon as its call returns. Then the kernel refuses the
// reads of some ranks, and all results are the same.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "checked_call.hpp"
#include "mpi_program.hpp"
#include "refused_reads.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

// The numbers of bytes are 70000, 300000 and 3000000, and some short ones. A short bcast or
// allreduce has one round without an address.
void run_blocking(context& c) {
  const auto run = [&](const call& made) { c.native(made, here); };
  check_calls<word>(kinds_that_move, {0, 1, 7, 1025, 8750}, run);
  check_calls<triple>(kinds_that_move, {1, 100000}, run);
  check_calls<matrix>(kinds_that_combine, {0, 1, 3, 130, 4375, 18750}, run);
}

void run_longest(context& c) {
  const auto run = [&](const call& made) { c.native(made, here); };
  check_calls<triple>(kinds_that_move, {1000000}, run);
  check_calls<matrix>(kinds_that_combine, {187500}, run);
}

// Many calls at a time, which end in any order. `before(i)` is called before call i begins.
template <class Before>
void run_overlapping(context& c, const Before& before) {
  constexpr collective kinds[] = {collective::reduce_scatter_block,
                                  collective::bcast,
                                  collective::allreduce,
                                  collective::gather,
                                  collective::scan,
                                  collective::scatter,
                                  collective::reduce,
                                  collective::allgatherv,
                                  collective::alltoall,
                                  collective::barrier,
                                  collective::allgather};
  std::vector<std::unique_ptr<checked_call<matrix>>> calls;
  std::vector<native_state> states(33);
  std::vector<bool> complete(states.size());
  for (unsigned i = 0; i < states.size(); ++i) {
    before(i);
    const std::size_t n = i % 3 == 0 ? 4000 : i % 7 == 0 ? 20000 : i % 6;
    calls.push_back(std::make_unique<checked_call<matrix>>(
        kinds[i % 11], n, static_cast<int>(i) % here_is.size, i, i % 2 == 0));
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

// Calls of two communicators, one in the other's wait.
void run_on_two(context& one, context& other) {
  checked_call<matrix> first(collective::allgather, 5000, 0, 1, false);
  native_state state;
  one.native_begin(first.made, state);
  check_calls<matrix>(kinds_that_combine, {5000}, [&](const call& made) { other.native(made, here); });
  one.native_progress(state, true, here);
  first.overwrite();
  first.compare();
}

// The limits are those of one byte, so that nearly all calls go by address.
void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  tutti::mpi::node_memory& memory = ep.memory();
  require(memory.is_open(), "there is no memory of the node");
  if (!memory.may_copy() && here_is.rank == 0)
    std::printf("no call goes by address here: %s\n", memory.why_not_copy().c_str());
  require(memory.may_copy() == memory.why_not_copy().empty(), "the reason is wrong");
  const auto usual = ep.open_locally(all_ranks(), {1, 7});
  run_longest(*usual);
  require(memory.calls_by_address() > 0 || !memory.may_copy(), "no long call has gone by address");

  memory.set_min_bytes_by_address(1);
  const auto one = ep.open_locally(all_ranks(), {2, 7}), other = ep.open_locally(all_ranks(), {3, 7});
  const std::uint64_t before = memory.calls_by_address();
  run_blocking(*one);
  require(memory.calls_by_address() > before + 100 || !memory.may_copy(), "few calls have gone by address");
  run_overlapping(*one, [](unsigned) {});
  run_on_two(*one, *other);

  // The last rank and rank 1 are refused while calls are under way.
  captured_errors errors;
  const bool is_last = here_is.rank == here_is.size - 1, refused = is_last || here_is.rank == 1;
  bool has_filter = false;
  run_overlapping(*one, [&](unsigned i) {
    if (refused && i == (is_last ? 9 : 16)) has_filter = refuse_reads();
  });
  run_overlapping(*one, [](unsigned) {});
  run_blocking(*one);
  run_blocking(*other);
  run_on_two(*other, *one);
  run_longest(*usual);
  const std::string text = errors.text();
  std::fputs(text.c_str(), stderr);
  std::size_t reports = 0;
  const std::string report =
      "tutti: rank " + std::to_string(here_is.rank) + " may not read the memory of rank ";
  for (std::size_t at = text.find(report); at != std::string::npos; at = text.find(report, at + 1)) ++reports;
  const std::size_t expected = has_filter && memory.may_copy() ? 1 : 0;
  require(reports == expected, "there are " + std::to_string(reports) + " reports: " + text);
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "copy", 1);
  tests::run_test(argc, argv, run_all);
}
