// SPDX-License-Identifier: Apache-2.0
//
// Native collectives by address: all kinds, roots, operators and lengths, in place and not, many at
// a time. Each rank overwrites its buffers as soon as its call returns. Then the kernel refuses the
// reads of some ranks, and all results are the same.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

#include "many_calls.hpp"
#include "refused_reads.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

void run_longest(context& c) {
  const auto run = [&](const call& made) { c.native(made, here); };
  check_calls<triple>(kinds_that_move, {1000000}, run);
  check_calls<matrix>(kinds_that_combine, {187500}, run);
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
