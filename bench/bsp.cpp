// SPDX-License-Identifier: Apache-2.0
//
// Compares supersteps on the embedded engines with tutti's own calls in the same run: `bsp --engine
// threads --ranks 2`. With --scale it measures the cost of a sparse superstep by the number of
// processes: each puts 8 bytes to its neighbor, or none does.
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "supersteps.hpp"

namespace {

using namespace tutti;

// Further arguments of a section's function.
struct task {
  communicator* world;
  int repetitions, batches;
  bool scale;
  std::vector<bench::timed>* figures;
};

void measure(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  const auto& t = *static_cast<const task*>(args.input);
  std::vector<bench::timed> made;
  bench::bsp_process on(ctx, pid, nprocs, t.scale ? 64 : bench::long_bytes);
  if (t.scale) {
    bench::stopwatch time(*t.world, t.batches);
    const int times = std::max(1, t.repetitions / static_cast<int>(nprocs));
    made.push_back({"barrier", time(times, [&] { t.world->barrier(); }), ""});
    made.push_back({"sync", time(times, [&] { on.sync(); }), ""});
    made.push_back({"put 8 B + sync",
                    time(times,
                         [&] {
                           on.put(8);
                           on.sync();
                         }),
                    ""});
  } else {
    made = bench::time_supersteps(*t.world, on, t.repetitions, t.batches);
  }
  if (pid == 0) *t.figures = made;
}

std::vector<bench::timed> run_on(const std::string& engine, int ranks, int repetitions, int batches,
                                 bool scale) {
  std::vector<bench::timed> figures;
  run_options o;
  o.engine = engine;
  o.ranks = ranks;
  tutti::run(o, [&](communicator& world) {
    const task t{&world, repetitions, batches, scale, &figures};
    lpf_args_t args = LPF_NO_ARGS;
    args.input = &t;
    args.input_size = sizeof t;
    lpf::run_section(world, measure, args, {}, "bsp");
  });
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  std::string engine = "threads";
  int ranks = 2, repetitions = 2000, batches = 5;
  bool scale = false, json = false;
  CLI::App app(
      "Compares supersteps of LPF's interface with tutti's own calls.\n\nExamples: bsp --ranks 2; bsp "
      "--scale");
  app.add_option("--engine", engine, "threads or fibers");
  app.add_option("--ranks", ranks, "number of ranks")->check(CLI::Range(1, 100000));
  app.add_option("--repetitions", repetitions, "supersteps between two readings of the clock")
      ->check(CLI::PositiveNumber);
  app.add_option("--batches", batches, "number of batches, of which the best counts")
      ->check(CLI::PositiveNumber);
  app.add_flag("--scale", scale, "measure sparse supersteps on fibers for several numbers of processes");
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  if (!scale) {
    bench::print(fmt::format("{}, p = {}", engine, ranks), run_on(engine, ranks, repetitions, batches, false),
                 json);
    return 0;
  }
  auto all = nlohmann::ordered_json::array();
  if (!json)
    fmt::print("{:>6} {:>22} {:>22} {:>22}\n", "p", "barrier, ns a process", "sync", "put 8 B + sync");
  for (int p = 1; p <= 4096; p *= 4) {
    const auto figures = run_on("fibers", p, 20 * repetitions, 3, true);
    if (!json) fmt::print("{:>6}", p);
    nlohmann::ordered_json row{{"ranks", p}};
    for (const auto& f : figures) {
      const double ns = f.us * 1000 / p;
      if (!json) fmt::print(" {:>22.1f}", ns);
      row[f.name] = ns;
    }
    if (!json) fmt::print("\n");
    all.push_back(row);
  }
  if (json) fmt::print("{}\n", all.dump(2));
}
