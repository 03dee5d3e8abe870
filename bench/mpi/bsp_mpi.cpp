// SPDX-License-Identifier: Apache-2.0
//
// Compares supersteps over MPI with plain calls of the same MPI, in one process: `mpirun -n 2
// bsp_openmpi`.
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tutti/mpi.hpp>

#include "supersteps.hpp"

namespace {

struct task {
  tutti::communicator* world;
  int repetitions, batches;
  bool json;
};

// The equivalent operations, written with MPI by hand.
std::vector<bench::timed> time_mpi(tutti::communicator& world, bench::bsp_process& on, int times,
                                   int batches) {
  bench::stopwatch time(world, batches);
  const int to = static_cast<int>(on.next()), p = static_cast<int>(on.nprocs),
            from = (static_cast<int>(on.pid) + p - 1) % p, long_times = std::max(1, times / 50);
  const auto exchange = [&](int bytes) {
    MPI_Sendrecv(on.send_buffer.data(), bytes, MPI_BYTE, to, 0, on.recv_buffer.data(), bytes, MPI_BYTE, from,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  double x = 1, y = 0;
  std::vector<bench::timed> all;
  all.push_back({"MPI_Barrier", time(times, [&] { MPI_Barrier(MPI_COMM_WORLD); }), ""});
  all.push_back({"MPI_Sendrecv 8 B + MPI_Barrier",
                 time(times,
                      [&] {
                        exchange(8);
                        MPI_Barrier(MPI_COMM_WORLD);
                      }),
                 ""});
  all.push_back({"MPI_Allreduce 8 B",
                 time(times, [&] { MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }), ""});
  all.push_back(
      {"MPI_Sendrecv 1 MiB", time(long_times, [&] { exchange(static_cast<int>(bench::long_bytes)); }), ""});
  return all;
}

std::string mpi_name() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::string(version).starts_with("Open MPI") ? "Open MPI" : "MPICH";
}

void measure(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  const auto& t = *static_cast<const task*>(args.input);
  bench::bsp_process on(ctx, pid, nprocs);
  auto all = time_mpi(*t.world, on, t.repetitions, t.batches);
  for (auto& one : bench::time_supersteps(*t.world, on, t.repetitions, t.batches)) {
    if (one.name == "lpf_sync") one.against = "MPI_Barrier";
    if (one.name == "put 8 B + sync") one.against = "MPI_Sendrecv 8 B + MPI_Barrier";
    if (one.name == "allreduce 8 B + sync") one.against = "MPI_Allreduce 8 B";
    if (one.name == "put 1 MiB + sync") one.against = "MPI_Sendrecv 1 MiB";
    all.push_back(one);
  }
  if (pid == 0) bench::print(fmt::format("{}, p = {}", mpi_name(), nprocs), all, t.json);
}

}  // namespace

int main(int argc, char** argv) {
  int repetitions = 500, batches = 5;
  bool json = false;
  CLI::App app(
      "Compares supersteps of LPF's interface with calls of MPI, in one run.\n\nExample: mpirun -n 2 "
      "bsp_openmpi "
      "--json");
  app.add_option("--repetitions", repetitions, "supersteps between two readings of the clock")
      ->check(CLI::PositiveNumber);
  app.add_option("--batches", batches, "number of batches, of which the best counts")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  {
    tutti::communicator world = tutti::adopt(MPI_COMM_WORLD);
    const task t{&world, repetitions, batches, json};
    lpf_args_t plain = LPF_NO_ARGS;
    plain.input = &t;
    plain.input_size = sizeof t;
    tutti::lpf::run_section(world, measure, plain, {}, "bsp");
  }
  MPI_Finalize();
}

// All processes of the job run main, and main starts MPI.
extern "C" const int LPF_MPI_AUTO_INITIALIZE;
extern "C" const int LPF_MPI_AUTO_INITIALIZE = 0;
