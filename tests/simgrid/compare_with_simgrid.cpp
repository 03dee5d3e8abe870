// SPDX-License-Identifier: Apache-2.0
//
// Compares the times of simulations with those of SimGrid 3.32:
//
//   compare_with_simgrid MACHINE RANKS [all]
//
// SimGrid replays the schedules over SMPI: for each round the receives, the sends and MPI_Waitall.
// The rounds come from the symbolic execution of src/proof, not from src/simulation. So the two
// sides share the algorithm and the parameters of the machine only. The platform (platforms.hpp)
// has SimGrid's own fat tree. The program prints the times that differ, or all of them. It fails
// if the mean of the errors exceeds 2 % or one of them 15 %.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include "platforms.hpp"
#include "proof/abstract_run.hpp"
#include "simulation/read_machine.hpp"
#include "simulation/simulator.hpp"

namespace {

using namespace tutti;
using namespace tutti::simulation;
namespace s4u = simgrid::s4u;

constexpr const char* algorithms[] = {"bcast/knomial",
                                      "bcast/chain",
                                      "bcast/scatter_recursive_doubling",
                                      "bcast/circulant",
                                      "reduce/knomial",
                                      "reduce/rabenseifner",
                                      "allreduce/recursive_doubling",
                                      "allreduce/rabenseifner",
                                      "allreduce/ring",
                                      "allreduce/reduce_scatter_allgather:k=4",
                                      "allreduce/double_tree",
                                      "allgather/ring",
                                      "allgather/bruck",
                                      "allgather/pat",
                                      "alltoall/pairwise",
                                      "alltoall/bruck:k=4",
                                      "gather/knomial",
                                      "scatter/linear",
                                      "reduce_scatter_block/recursive_halving",
                                      "scan/recursive_doubling"};
constexpr std::size_t lengths[] = {8, 1024, 32768, 1048576};
constexpr double begin_distance = 1;  // seconds between the begins of two calls
constexpr double max_mean = 0.02, max_error = 0.15;

struct message {
  int peer;
  std::size_t bytes;
};
struct replayed_round {
  std::vector<message> receives, sends;
};
struct cell {
  std::string name;
  std::size_t bytes = 0;
  std::vector<std::vector<replayed_round>> ranks;
  double simulated = 0, replayed = 0;  // seconds
};

std::vector<cell> cells;
void* buffer_of_all = nullptr;  // SMPI does not copy between shared buffers

collective collective_of(std::string_view algorithm) {
  const std::string_view name = algorithm.substr(0, algorithm.find('/'));
  for (std::size_t c = 0; c < collective_names.size(); ++c)
    if (collective_names[c] == name) return static_cast<collective>(c);
  std::abort();
}

std::vector<std::vector<replayed_round>> rounds_of(const choice& c, int ranks, std::size_t bytes) {
  proof::case_options w;
  w.what = c.pure->what;
  w.ranks = ranks;
  w.count = bytes / 8;
  w.blocks = proof::blocks_are::even;
  w.parameter_values = c.parameter_values;
  const proof::abstract_call call = proof::make_abstract_call(w);
  const proof::outcome o =
      proof::run_abstract(call, proof::write_all(c.pure->write, call), {.symbols = false, .record = true});
  if (!o.ok()) throw std::runtime_error(o.faults.front().what);
  std::vector<std::vector<replayed_round>> all;
  for (const auto& of_rank : o.recorded) {
    all.emplace_back();
    for (const proof::traced_round& r : of_rank) {
      replayed_round one;
      for (const proof::traced_step& s : r.steps) {
        if (s.kind == step_kind::send) one.sends.push_back({s.peer, s.source.count * 8});
        if (s.kind == step_kind::recv || s.kind == step_kind::recv_reduce)
          one.receives.push_back({s.peer, s.target.count * 8});
      }
      if (!one.sends.empty() || !one.receives.empty()) all.back().push_back(std::move(one));
    }
  }
  return all;
}

// What each rank does in SimGrid.
void replay() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<MPI_Request> requests;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const double begin = begin_distance * static_cast<double>(n + 1);
    s4u::this_actor::sleep_until(begin);
    for (const replayed_round& r : cells[n].ranks[static_cast<std::size_t>(rank)]) {
      requests.clear();
      for (const message& m : r.receives)
        MPI_Irecv(buffer_of_all, static_cast<int>(m.bytes), MPI_BYTE, m.peer, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
      for (const message& m : r.sends)
        MPI_Isend(buffer_of_all, static_cast<int>(m.bytes), MPI_BYTE, m.peer, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
    cells[n].replayed = std::max(cells[n].replayed, s4u::Engine::get_clock() - begin);
  }
  MPI_Finalize();
}

int compare(bool all) {
  double sum = 0, worst = 0;
  for (const cell& c : cells) {
    const double error = c.simulated / c.replayed - 1;
    sum += std::abs(error);
    worst = std::max(worst, std::abs(error));
    if (all || std::abs(error) > 0.01)
      std::printf("%-44s %8zu B  SimGrid %12.3f us, simulated %12.3f us, %+.2f %%\n", c.name.c_str(), c.bytes,
                  c.replayed * 1e6, c.simulated * 1e6, 100 * error);
  }
  const double mean = sum / static_cast<double>(cells.size());
  std::printf("%zu calls: mean error %.2f %%, maximum %.2f %%\n", cells.size(), 100 * mean, 100 * worst);
  const bool good = mean <= max_mean && worst <= max_error;
  if (!good) std::printf("FAILED: the mean may be 2 %%, the maximum 15 %%\n");
  return good ? 0 : 1;
}

int run(int argc, char** argv) {
  const std::string name = argv[1];
  const int ranks = std::atoi(argv[2]);
  const machine_result read = read_machine(builtin_machine(name), name);
  if (!read.good()) throw std::runtime_error(read.faults.front().text());
  simulator here(read.made, ranks);
  for (const char* algorithm : algorithms)
    for (const std::size_t bytes : lengths) {
      simulated_call c;
      c.what = collective_of(algorithm);
      c.count = bytes / 8;
      const choice chosen = read_choice(c.what, algorithm);
      cells.push_back({algorithm, bytes, rounds_of(chosen, ranks, bytes), here.run(c, chosen).seconds, 0});
    }
  int count = 2;
  char quiet[] = "--log=xbt_cfg.thresh:warning";
  char* arguments[] = {argv[0], quiet, nullptr};
  s4u::Engine engine(&count, arguments);
  SMPI_init();  // declares options, which hosts read when they are made
  simgrid_platforms::configure(engine);
  const std::vector<s4u::Host*> hosts = simgrid_platforms::hosts_of(name, ranks);
  SMPI_app_instance_register("tutti", nullptr, ranks);
  buffer_of_all = SMPI_SHARED_MALLOC(std::size_t{1} << 26);
  for (int r = 0; r < ranks; ++r) {
    const s4u::ActorPtr actor =
        s4u::Actor::init("rank" + std::to_string(r), simgrid_platforms::host_of(hosts, r, ranks));
    actor->set_property("instance_id", "tutti");
    actor->set_property("rank", std::to_string(r));
    actor->start(replay);
  }
  engine.run();
  SMPI_finalize();
  return compare(argc > 3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: compare_with_simgrid MACHINE RANKS [all]\n");
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "compare_with_simgrid: %s\n", e.what());
    return 1;
  }
}
