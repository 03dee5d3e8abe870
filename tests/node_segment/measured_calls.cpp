// SPDX-License-Identifier: Apache-2.0
//
// Native collectives whose members measure whether they are faster by address or in pieces
// (engines/mpi/measured_times.hpp). The least part is one byte here, so that nearly all calls are
// measured. The calls use both ways, and all results are right: in place and not, blocking and
// overlapping, and while a wait progresses other calls.
#include <cstdint>
#include <cstdlib>

#include <mpi.h>

#include "engines/mpi/measured_times.hpp"
#include "many_calls.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

// The same call again and again. Returns how many went by address.
std::uint64_t repeat(tutti::mpi::mpi_endpoint& ep, context& c, collective what, bool in_place, int times) {
  const std::uint64_t before = ep.memory().calls_by_address();
  for (int i = 0; i < times; ++i) {
    checked_call<matrix> one(what, 3000, i % here_is.size, static_cast<unsigned>(i), in_place);
    c.native(one.made, here);
    one.overwrite();
    one.compare();
  }
  return ep.memory().calls_by_address() - before;
}

void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  tutti::mpi::node_memory& memory = ep.memory();
  require(memory.is_open(), "there is no memory of the node");
  memory.set_min_measured_part_bytes(1);
  const bool measures = memory.may_copy();
  const auto one = ep.open_locally(all_ranks(), {1, 7}), other = ep.open_locally(all_ranks(), {2, 7});
  run_blocking(*one);
  run_overlapping(*one, [](unsigned) {});
  run_on_two(*one, *other);
  run_blocking(*other);
  for (const collective what : {collective::allreduce, collective::scatter, collective::allgather,
                                collective::alltoall, collective::reduce_scatter_block, collective::exscan}) {
    if (what == collective::exscan && here_is.size != 2) continue;  // is not measured
    const auto c = ep.open_locally(all_ranks(), {100 + static_cast<std::uint64_t>(what), 7});
    const int times = combines(what) ? 20 : 40;  // products of matrices take longer
    const std::uint64_t by = repeat(ep, *c, what, false, times);
    const std::string text = std::string(name_of(what)) + ": " + std::to_string(by) + " calls by address";
    if (measures) {
      constexpr std::uint64_t samples = tutti::mpi::measured_times::samples_of_a_way;
      require(by >= samples, text);
      require(by <= static_cast<std::uint64_t>(times) - samples, text);
    }
    const std::uint64_t in_place = repeat(ep, *c, what, true, 10);
    require(!overwrites_in_place(what) || in_place == 0, "a call by address overwrites its operand");
  }
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "copy", 1);
  tests::run_test(argc, argv, run_all);
}
