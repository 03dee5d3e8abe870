// SPDX-License-Identifier: Apache-2.0
//
// The transport that `tutti explain` names is the one that runs: calls on both sides of each limit
// of the calls by address. The condition cross_memory states whether there are such calls.
#include <cstdlib>
#include <string>

#include <mpi.h>

#include "checked_call.hpp"
#include "engines/mpi/call_transport.hpp"
#include "mpi_program.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

constexpr const char* by_address = "node memory, by address";

// Runs one call, and returns whether it was named, and run, as a call by address.
bool run_and_compare(tutti::mpi::mpi_endpoint& ep, context& c, collective what, std::size_t n,
                     bool in_place) {
  checked_call<word> one(what, n, 0, static_cast<unsigned>(n), in_place);
  const hierarchy node(here_is.size);
  const std::string named = transport_over_mpi({.arguments = one.made,
                                                .topology = node,
                                                .native = true,
                                                .node_memory = true,
                                                .cross_memory = ep.memory().may_copy(),
                                                .oversubscribed = ep.is_oversubscribed()});
  const std::uint64_t before = ep.memory().calls_by_address();
  c.native(one.made, here);
  const bool ran = ep.memory().calls_by_address() != before;
  one.overwrite();
  one.compare();
  require((named == by_address) == ran || named.ends_with("as measured"),
          std::string(name_of(what)) + " of " + std::to_string(n * sizeof(word)) + " bytes: explain names " +
              named);
  return ran;
}

void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  require(ep.memory().is_open(), "there is no memory of the node");
  const bool may_copy = ep.memory().may_copy();
  require(condition_of(ep, "cross_memory") == may_copy, "the condition is wrong");
  const auto c = ep.open_locally(all_ranks(), {1, 7});
  int by = 0;
  for (const collective what :
       {collective::bcast, collective::scatter, collective::allgather, collective::alltoall,
        collective::allreduce, collective::reduce_scatter_block}) {
    const address_limits of = address_limits_of(what);
    const std::size_t limit = ep.is_oversubscribed() ? of.without_cores : of.with_cores;
    const std::size_t bytes =
        limit == never_by_address ? 1 << 20 : min_call_by_address(what, limit, here_is.size);
    for (const std::size_t n : {bytes / sizeof(word) - 1, bytes / sizeof(word)})
      for (const bool in_place : {false, true}) by += run_and_compare(ep, *c, what, n, in_place) ? 1 : 0;
  }
  require((by > 0) == may_copy, "calls by address: " + std::to_string(by));
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "copy", 1);
  tests::run_test(argc, argv, run_all);
}
