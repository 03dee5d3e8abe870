// SPDX-License-Identifier: Apache-2.0
//
// Defines how a collective is measured. Both sides of `compare` (bench/tutti_side.cpp and
// bench/mpi/native_mpi.cpp) include this file, so that they differ only in the calls they make.
// They share the command line, the data (workload.hpp), the check of the results, the clock and the
// statistics (src/tuning/measure.hpp), and the output.
//
// A side is a world (rank, size, barrier, max) that also turns a collective into a call:
//
//   struct side {
//     int rank();  int size();  void barrier();  double max(double mine);  // over all ranks
//     // calls measure(operation) once, on every rank; returns false if there is no such operation
//     template <class Measure>
//     bool with(bench::collective, const bench::buffers&, Measure&& measure);
//     // memory for --shared, or null; and its end
//     static double* allocate_shared(std::size_t bytes);
//     static void free_shared(double* memory);
//     // optional: the algorithm that ran
//     std::string algorithm(bench::collective, const bench::buffers&);
//   };
//
//   const auto options = bench::parse(argc, argv, "native collectives");  // before ranks start
//   const bool good = bench::run(side, "openmpi", options, std::cout);  // on every rank
//
// The rules: a sender changes its buffer before each operation, and a receiver reads its result
// after it, one word in each cache line. Otherwise the lines would stay in the caches and nothing
// would move. From 4 KiB on this happens outside the timed part, and each operation is timed alone,
// after a barrier. Below, the clock and the skew of the barrier would dominate. So a loop of
// operations is timed, which touches and reads one word per iteration. A time is that of the
// slowest rank. Several groups of samples are taken, and the least of their medians counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "memory.hpp"
#include "tuning/measure.hpp"
#include "workload.hpp"

namespace bench {

using tutti::tuning::measure;
using tutti::tuning::measurement;
using tutti::tuning::mode;
using tutti::tuning::world;

struct options {
  std::vector<std::size_t> sizes{8, 1024, 32768, 1048576, 16777216};
  std::vector<std::string> collectives = default_collectives();
  double budget_ms = 20;
  bool shared = false;
  bool one_buffer = false;
};

// so that the elements can be counted in an int
inline constexpr std::size_t largest_size = std::size_t{1} << 33;

inline std::string with_default(const std::string& unit, double value) {
  std::ostringstream text;
  text << unit << " [" << value << "]";
  return text.str();
}

// The options that the sides and the driver share.
inline void add_options(CLI::App& app, options& o) {
  app.add_option("--sizes", o.sizes, "Bytes of the whole vector; default 8,1KiB,32KiB,1MiB,16MiB")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, largest_size))
      ->option_text("BYTES,...");
  std::string known;
  for (const auto collective : collective_names)
    known += (known.empty() ? "" : ", ") + std::string(collective);
  app.add_option("--collectives", o.collectives,
                 "Collectives to measure: " + known + "; default: all but the last")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(collective_names.begin(), collective_names.end())))
      ->option_text("NAME,...");
  app.add_option("--budget-ms", o.budget_ms, "Time for one collective at one size, in milliseconds")
      ->check(CLI::Range(0.1, 1e6))
      ->option_text(with_default("MS", o.budget_ms));
  app.add_flag("--one-buffer", o.one_buffer,
               "All cases use the same two buffers, as long as the longest case needs, as in the OSU "
               "benchmarks; otherwise each case has its own (huge pages make a difference)");
}

// The sides and `compare` have it.
inline void add_shared_option(CLI::App& app, options& o) {
  app.add_flag("--shared", o.shared,
               "Allocate the buffers where the other processes of the node can map them: tutti's with "
               "tutti::shared_allocator, those of an MPI with MPI_Alloc_mem (without the preload)");
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : ",") + word;
  return all;
}

// The command line that gives these options to a side.
inline std::vector<std::string> arguments(const options& o) {
  std::vector<std::string> sizes;
  for (const auto bytes : o.sizes) sizes.push_back(std::to_string(bytes));
  std::ostringstream budget;
  budget << o.budget_ms;
  std::vector<std::string> words{"--sizes",     joined(sizes), "--collectives", joined(o.collectives),
                                 "--budget-ms", budget.str()};
  if (o.shared) words.push_back("--shared");
  if (o.one_buffer) words.push_back("--one-buffer");
  return words;
}

// Exits if the user asks for help or the command line is wrong.
inline options parse(int argc, char** argv, const std::string& about) {
  options o;
  CLI::App app(about);
  add_options(app, o);
  add_shared_option(app, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

// Measures one case in these buffers; see run(). Returns no value if the side does not offer the
// collective, and otherwise whether the result was right.
template <world Side>
std::optional<bool> run_case(collective which, std::size_t bytes, double* in, double* result, Side& side,
                             std::string_view engine, const options& o, std::ostream& out) {
  const int rank = side.rank();
  const int ranks = side.size();
  workload work(which, bytes, rank, ranks);
  work.set_buffers(in, result);
  bool right = true;
  measurement measured;
  const bool offered = side.with(which, work.get(), [&](auto&& operation) {
    const auto check = [&](std::size_t step) {
      work.prepare(step);
      side.barrier();
      operation();
      right = right && side.max(work.correct(step) ? 0.0 : 1.0) == 0.0;
    };
    check(1);
    measured = measure(side, bytes < 4096 || which == collective::barrier ? mode::loop : mode::single,
                       o.budget_ms, operation, work);
    // Once more, because the result of a repeated call must be right too.
    check(workload::line);
  });
  if (!offered) return std::nullopt;
  if (rank == 0) {
    nlohmann::ordered_json record{
        {"engine", engine}, {"ranks", ranks}, {"collective", name(which)}, {"bytes", work.get().bytes}};
    if (right) {
      const auto rounded = [](double x) { return std::round(x * 1e4) / 1e4; };
      record["us"] = rounded(measured.us);
      record["noise"] = rounded(measured.noise);
      record["samples"] = measured.samples;
      record["loop"] = measured.loop;
    } else {
      record["error"] = "wrong result";
    }
    if constexpr (requires { record["algorithm"] = side.algorithm(which, work.get()); }) {
      record["algorithm"] = side.algorithm(which, work.get());
    }
    out << record.dump() << std::endl;  // flushed, so that figures before a crash are kept
  }
  return right;
}

// Calls measure(in, result) with buffers of so many elements.
template <class Side, class Measure>
auto with_buffers(bool shared, std::size_t in_elements, std::size_t out_elements, Measure&& measure) {
  if (shared) {
    const auto in = allocate_shared<Side>(in_elements), result = allocate_shared<Side>(out_elements);
    return measure(in.get(), result.get());
  }
  const auto in = allocate(in_elements), result = allocate(out_elements);
  return measure(in.get(), result.get());
}

// Measures all requested cases. Rank 0 writes one line of JSON for each case; a case that the side
// does not offer has none. Returns, the same on every rank, whether all results were right.
//
// The pages of a buffer decide how fast the kernel copies it to another process: 512 KiB take 17 us
// in huge pages and 53 us in small ones. If all cases shared one buffer, the longest case would
// decide for all. So each case has its own, unless the user wants one (--one-buffer).
template <world Side>
bool run(Side& side, std::string_view engine, const options& o, std::ostream& out) {
  const auto each_case = [&](auto&& visit) {
    for (const auto& selected : o.collectives)
      for (const std::size_t bytes : o.sizes)
        if (!visit(*collective_of(selected), bytes)) break;
  };
  bool good = true;
  const auto measure_case = [&](collective which, std::size_t bytes, double* in, double* result) {
    const std::optional<bool> right = run_case(which, bytes, in, result, side, engine, o, out);
    good = good && right.value_or(true);
    return right && which != collective::barrier;  // a barrier has no size
  };
  const auto needs = [&](collective which, std::size_t bytes) {
    const workload work(which, bytes, side.rank(), side.size());
    return std::pair(work.in_elements(), work.out_elements());
  };
  if (o.one_buffer) {
    std::size_t in_elements = 1, out_elements = 1;
    each_case([&](collective which, std::size_t bytes) {
      const auto [in, result] = needs(which, bytes);
      in_elements = std::max(in_elements, in);
      out_elements = std::max(out_elements, result);
      return true;
    });
    with_buffers<Side>(o.shared, in_elements, out_elements, [&](double* in, double* result) {
      each_case([&](collective which, std::size_t bytes) { return measure_case(which, bytes, in, result); });
    });
  } else {
    each_case([&](collective which, std::size_t bytes) {
      const auto [in_elements, out_elements] = needs(which, bytes);
      return with_buffers<Side>(o.shared, in_elements, out_elements, [&](double* in, double* result) {
        return measure_case(which, bytes, in, result);
      });
    });
  }
  return good;
}

}  // namespace bench
