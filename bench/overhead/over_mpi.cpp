// SPDX-License-Identifier: Apache-2.0
#include "overhead/over_mpi.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "callgrind.hpp"
#include "tutti/tutti.hpp"

namespace bench {
namespace {

using namespace tutti;

void use(const std::vector<double>& v) { asm volatile("" : : "g"(v.data()) : "memory"); }

// The same as in overhead_native.
extern "C" [[gnu::noinline]] void counted_send(const communicator& world, std::span<const double> one) {
  world.send(send_buf(one), destination(1));
}

void sends(communicator& world, long calls) {
  double x = 0;
  const std::span<double> one(&x, 1);
  for (long i = 0; i < calls; ++i) {
    if (world.rank() == 0)
      counted_send(world, one);
    else
      world.recv(recv_buf(one), source(0));
    if (i % 8 != 0) continue;
    if (world.rank() == 0)
      world.recv(recv_buf(one), source(1));
    else
      world.send(send_buf(one), destination(0));
  }
}

void make_calls(communicator& world, const std::string& what, long calls) {
  const auto p = static_cast<std::size_t>(world.size());
  std::vector<double> mine(p), all(p);
  std::vector<int> counts(p, 1), displs(p);
  std::iota(displs.begin(), displs.end(), 0);
  const std::span<const double> one(mine.data(), 1);
  const std::span<double> sum(all.data(), 1);
  if (what == "allreduce")
    for (long i = 0; i < calls; ++i) {
      world.allreduce(send_buf(one), recv_buf(sum), op(std::plus<>{}));
      use(all);
    }
  else if (what == "allgatherv")
    for (long i = 0; i < calls; ++i) {
      world.allgatherv(send_buf(one), recv_buf(all), recv_counts(counts), recv_displs(displs));
      use(all);
    }
  else if (what == "alltoallv")
    for (long i = 0; i < calls; ++i) {
      world.alltoallv(send_buf(mine), send_counts(counts), send_displs(displs), recv_buf(all),
                      recv_counts(counts), recv_displs(displs));
      use(all);
    }
  else if (what == "send")
    sends(world, calls);
  else
    for (long i = 0; i < calls; ++i) {
      world.bcast(send_recv_buf(sum), send_recv_count(1));
      use(all);
    }
}

// Returns the instructions of one call on rank 0 of a job, or -1 if counting failed. Functions
// without a name are inside MPI's libraries, which poll at times.
long counted(const std::string& mpi, const std::string& what, const std::string& command) {
  const bool two = what == "send" || what == "allgatherv";
  double sum = 0;
  const start pair{"mpirun." + mpi + (mpi == "openmpi" ? " --oversubscribe" : "") + " -n 1",
                   what == "send" ? "--toggle-collect=counted_send" : "", ": -n 1 " + command};
  const auto each = per_call(command, 1, two ? pair : start{});
  for (const auto& [function, instructions] : each)
    if (function.rfind("in ", 0) != 0) sum += instructions;
  return each.empty() ? -1 : std::lround(sum);
}

}  // namespace

void call_over_mpi(const std::string& what, long calls) {
  run_options o;
  o.engine = "mpi";
  tutti::run(o, [&](communicator& world) { make_calls(world, what, calls); });
}

nlohmann::ordered_json measure_over_mpi(const std::string& me) {
  nlohmann::ordered_json all;
  const std::string folder = me.substr(0, me.rfind('/'));
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("TUTTI_SHM", "off", 1);  // two ranks would use the memory of the node instead of MPI
  for (const char* mpi : {"openmpi", "mpich"}) {
    const std::string alone = folder + "/overhead_native_" + mpi;
    if (access(alone.c_str(), X_OK) != 0) continue;
    setenv("TUTTI_MPI", mpi, 1);
    for (const std::string what : calls_over_mpi) {
      const long with = counted(mpi, what, me + " --over-mpi " + what + " --calls "),
                 without = counted(mpi, what, alone + " " + what + " ");
      all[mpi][what] = {{"instructions", with - without}, {"native", without}, {"with_tutti", with}};
    }
  }
  return all;
}

void print_over_mpi(const nlohmann::ordered_json& measured) {
  fmt::print("\ninstructions before MPI's call of 8 bytes\n{:<22} {:>14} {:>14} {:>10}\n", "", "MPI alone",
             "with tutti", "tutti's");
  for (const auto& [mpi, calls] : measured.items())
    for (const auto& [what, figures] : calls.items())
      fmt::print("{:<9} {:<12} {:>14} {:>14} {:>10}\n", mpi, what, figures["native"].get<long>(),
                 figures["with_tutti"].get<long>(), figures["instructions"].get<long>());
}

}  // namespace bench
