// SPDX-License-Identifier: Apache-2.0
#include "every_algorithm/measuring.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/core.h>

#include "base/environment_variables.hpp"
#include "engines/embedded/sleep.hpp"
#include "protocol.hpp"
#include "runtime/launch/modules.hpp"
#include "selection/choose.hpp"
#include "tuning/benchmark_fixture.hpp"
#include "tuning/measured_call.hpp"

namespace bench {
namespace {

using tutti::detail::choice;
using tutti::detail::endpoint;
using tutti::tuning::clock;
using tutti::tuning::measured_call;
using tutti::tuning::seconds;

// Starts the engine that the environment or the launcher names, in the same way as tutti::run().
tutti::detail::outcome start(int argc, char** argv, int ranks, const tutti::detail::rank_program& program) {
  const auto engine_setting = tutti::detail::setting("TUTTI_ENGINE");
  const int cores = tutti::detail::usable_cores();
  if (ranks == 0)
    ranks = static_cast<int>(
        tutti::detail::number_setting("TUTTI_RANKS", 1, 1000000, static_cast<std::uint64_t>(cores)));
  const tutti::detail::engine_entry& engine = tutti::detail::pick_engine(
      engine_setting.value_or(""),
      {.launched = tutti::detail::find_launcher().mpi, .ranks = ranks, .cores = cores});
  return tutti::tuning::start(engine, ranks, argc, argv, program);
}

std::string engine_name(endpoint& ep) {
  return ep.engine() == "mpi"
             ? tutti::detail::setting("TUTTI_MPI").value_or(tutti::detail::find_launcher().module)
             : std::string(ep.engine());
}

bool has_in_place(tutti::collective what) {
  return !is_rooted(what) && !is_neighborhood(what) && what != tutti::collective::barrier;
}

// Returns the algorithm with its default parameters and, if requested, with others, one at a time.
std::vector<std::string> variants(const tutti::detail::pure_algorithm& a, const campaign_options& w,
                                  int ranks, std::size_t bytes) {
  std::vector<std::string> texts{std::string(a.name)};
  if (!w.parameters) return texts;
  for (const tutti::detail::algorithm_parameter_range& p : a.parameters) {
    std::vector<std::uint32_t> values;
    if (p.which == tutti::detail::algorithm_parameter::k) values = {2, 3, 4, 8, 16};
    if (p.which == tutti::detail::algorithm_parameter::radix) values = {2, 4, 8, 16};
    if (p.which == tutti::detail::algorithm_parameter::segment) values = {4096, 16384, 65536, 262144};
    for (const std::uint32_t v : values) {
      if (v == p.default_value || v < p.min || v > p.max) continue;
      if (p.which == tutti::detail::algorithm_parameter::segment ? v >= bytes
                                                                 : v > static_cast<std::uint32_t>(ranks))
        continue;
      texts.push_back(fmt::format("{}:{}={}", a.name, name_of(p.which), v));
    }
  }
  return texts;
}

// One rank's part of the benchmark.
class measuring_rank {
 public:
  measuring_rank(endpoint& ep, const campaign_options& w, const std::function<void(const record&)>& done)
      : benchmark_fixture_(ep, nullptr), options_(w), done_(done), engine_(engine_name(ep)) {}

  // Returns false if a result was wrong.
  bool measure_all() {
    const auto start = clock::now();
    std::size_t remaining = options_.collectives.size();
    for (const std::string& name : options_.collectives) {
      const auto at = std::find(tutti::collective_names.begin(), tutti::collective_names.end(), name);
      const auto what = static_cast<tutti::collective>(at - tutti::collective_names.begin());
      // Divides the remaining time among the remaining work, so that a slow engine shows a part of
      // each table.
      const double now = since(start);
      measure(what, now + (options_.seconds - now) / static_cast<double>(remaining--), start);
    }
    if (left_out_ > 0 && benchmark_fixture_.rank() == 0)
      fmt::print(stderr, "{} p={}: out of time, {} measurements are skipped\n", engine_,
                 benchmark_fixture_.size(), left_out_);
    return good_;
  }

 private:
  struct row {
    std::string algorithm;
    measurement best{};
    bool measured = false, all_correct = true;
  };

  // The result is the same on all ranks, because all must skip the same measurements.
  double since(clock::time_point start) {
    return benchmark_fixture_.max(seconds(clock::now() - start).count());
  }

  bool is_selected(const std::string& algorithm) const {
    const auto tail = without_collective(algorithm);
    const auto matches = [&](const std::string& part) {
      return algorithm == part || tail.find(part) != tail.npos;
    };
    return options_.algorithms.empty() || tail == "native" ||
           std::any_of(options_.algorithms.begin(), options_.algorithms.end(), matches);
  }

  std::vector<row> rows(const tutti::call& c, std::size_t bytes) {
    std::vector<row> found;
    const tutti::detail::selection_context s = benchmark_fixture_.selection_context_of(c);
    if (s.native) found.push_back({std::string(name_of(c.what)) + "/native"});
    for (const tutti::detail::pure_algorithm* a : tutti::detail::catalogue()) {
      if (a->what != c.what || !is_selected(std::string(a->name))) continue;
      for (const std::string& text : variants(*a, options_, benchmark_fixture_.size(), bytes))
        if (permits(tutti::detail::read_choice(c.what, text), s)) found.push_back({text});
    }
    return found;
  }

  void measure(tutti::collective what, double until, clock::time_point start) {
    if (is_neighborhood(what) && benchmark_fixture_.size() == 1) return;
    const std::vector<std::size_t> no_size{0};
    const auto& sizes = what == tutti::collective::barrier ? no_size : options_.sizes;
    std::size_t remaining = sizes.size();
    for (const std::size_t bytes : sizes) {
      measured_call work(what, bytes, benchmark_fixture_.rank(), benchmark_fixture_.size(),
                         options_.in_place && has_in_place(what));
      auto all = rows(work.call(), bytes);
      const double now = since(start);
      const double share = now + (until - now) / static_cast<double>(remaining--);
      for (int repeat = 0; repeat < options_.repeat; ++repeat) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          // Alternates the direction, so that a disturbance does not always affect the same
          // algorithms.
          row& one = all[repeat % 2 == 0 ? i : all.size() - 1 - i];
          // The first one, usually native, is measured in any case.
          if (since(start) > share && !(repeat == 0 && i == 0)) {
            if (repeat == 0) ++left_out_;
            continue;
          }
          measure(one, work, bytes);
        }
      }
      if (benchmark_fixture_.rank() == 0)
        for (const row& one : all) report(one, what, bytes);
    }
  }

  void measure(row& one, measured_call& work, std::size_t bytes) {
    const auto where = benchmark_fixture_.communicator(work.call().what, one.algorithm, "");
    const auto operation = [&] { tutti::detail::run_call(*where, work.call()); };
    bool all_correct = true;
    const auto check = [&] {
      work.prepare();
      benchmark_fixture_.barrier();
      operation();
      all_correct = all_correct && benchmark_fixture_.max(work.correct() ? 0.0 : 1.0) == 0.0;
    };
    check();
    if (const std::string ran = tutti::detail::last_algorithm(*where, work.call().what);
        ran != one.algorithm.substr(0, one.algorithm.find(':')))
      throw std::logic_error(one.algorithm + " was to be measured, but " + ran + " ran");
    const auto result = bench::measure(benchmark_fixture_, bytes < 4096 ? mode::loop : mode::single,
                                       options_.budget_ms, operation, work);
    check();
    one.all_correct = one.all_correct && all_correct;
    good_ = good_ && all_correct;
    if (!one.measured || result.us < one.best.us) one.best = result;
    one.measured = true;
    benchmark_fixture_.barrier();  // no rank destroys the communicator while another one uses it
  }

  void report(const row& one, tutti::collective what, std::size_t bytes) const {
    if (!one.measured) return;
    const auto rounded = [](double x) { return std::round(x * 1e4) / 1e4; };
    record r{engine_,       benchmark_fixture_.size(), std::string(name_of(what)), bytes,
             one.algorithm, rounded(one.best.us),      rounded(one.best.noise),    {}};
    if (!one.all_correct) r.error = "wrong result";
    done_(r);
  }

  tutti::tuning::benchmark_fixture benchmark_fixture_;
  const campaign_options& options_;
  const std::function<void(const record&)>& done_;
  std::string engine_;
  std::size_t left_out_ = 0;
  bool good_ = true;
};

}  // namespace

int measure_here(int argc, char** argv, const campaign_options& w,
                 const std::function<void(const record&)>& done) {
  std::atomic<bool> good{true};
  const tutti::detail::outcome end = start(argc, argv, w.ranks, [&](endpoint& ep) {
    measuring_rank rank(ep, w, done);
    if (!rank.measure_all()) good = false;
  });
  if (end.failed_rank >= 0) {
    fmt::print(stderr, "every_algorithm: rank {} failed: {}\n", end.failed_rank, end.text);
    return 1;
  }
  return good ? 0 : 1;
}

}  // namespace bench
