// SPDX-License-Identifier: Apache-2.0
#include "tuning/campaign.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tuning/measure.hpp"
#include "tuning/measured_call.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

constexpr double guideline_share = 0.15, confirmation_share = 0.3;
constexpr double worth_repeating = 1.5;  // factor over the best time
constexpr std::size_t loop_limit_bytes = 4096;
constexpr double wrong_result = std::numeric_limits<double>::infinity();  // us

bool is_divided(collective what) noexcept {
  return what != collective::barrier && what != collective::bcast && what != collective::reduce &&
         what != collective::allreduce && what != collective::scan && what != collective::exscan;
}
// The bytes of all blocks of a job together.
std::size_t total_of(collective what, std::size_t size, int ranks) noexcept {
  if (!is_divided(what)) return size;
  return size * static_cast<std::size_t>(is_neighborhood(what) ? 2 : ranks);
}

// Repeated measurements of one choice.
struct series {
  std::vector<double> us;
  double noise = 0;  // of the fastest measurement

  bool good() const { return !us.empty() && *std::min_element(us.begin(), us.end()) < wrong_result; }
  void add(const measurement& m) {
    if (us.empty() || m.us < *std::min_element(us.begin(), us.end())) noise = m.noise;
    us.push_back(m.us);
  }
  // The best time, and as spread the relative distance of the second best.
  timing of(const leaf& l) const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    return {l, sorted[0], sorted.size() > 1 ? sorted[1] / sorted[0] - 1 : noise};
  }
};

class campaign {
 public:
  campaign(benchmark_fixture& fixture, const document& base, const campaign_options& options,
           const progress& report)
      : benchmark_fixture_(fixture),
        base_(base),
        options_(options),
        report_progress_(report),
        start_(clock::now()) {}

  campaign_result run() {
    result_.ranks = benchmark_fixture_.size();
    result_.machine = find_speed();
    const double all = options_.seconds;
    if (options_.guidelines) measure_natives(all * guideline_share);
    measure_cells(all * (1 - confirmation_share));
    confirm(all);
    return std::move(result_);
  }

 private:
  // The maximum over the ranks, because all of them must skip the same measurements.
  double since_start() { return benchmark_fixture_.max(seconds(clock::now() - start_).count()); }
  void report(const std::string& what) {
    if (benchmark_fixture_.rank() == 0)
      report_progress_(what, std::min(1.0, seconds(clock::now() - start_).count() / options_.seconds));
  }

  // --- measuring

  measurement measure_once(measured_call& work, const std::string& algorithm,
                           const std::string& composition) {
    const collective what = work.call().what;
    const auto comm = benchmark_fixture_.communicator(what, algorithm, composition);
    const auto operation = [&] { detail::run_call(*comm, work.call()); };
    const auto verify_result = [&] {
      work.prepare();
      benchmark_fixture_.barrier();
      operation();
      if (benchmark_fixture_.max(work.correct() ? 0.0 : 1.0) == 0.0) return;
      ++result_.wrong;
      result_.wrong_names.push_back(std::string(tutti::name_of(what)) + "/" +
                                    (composition.empty() ? algorithm : composition));
    };
    const std::size_t wrong = result_.wrong;
    verify_result();
    const std::size_t bytes = work.call().count * work.call().type.size;
    measurement m = measure(benchmark_fixture_, bytes < loop_limit_bytes ? mode::loop : mode::single,
                            options_.budget_ms, operation, work);
    verify_result();
    if (result_.wrong != wrong) m.us = wrong_result;
    ++result_.measurements;
    benchmark_fixture_.barrier();  // no rank may destroy the communicator while another one uses it
    return m;
  }

  speed find_speed() {
    const auto one = [&](std::size_t bytes, claims& claimed) {
      measured_call work(collective::allgather, bytes, benchmark_fixture_.rank(), benchmark_fixture_.size(),
                         false);
      claimed = claims_of(choice(find_algorithm(collective::allgather, "ring")),
                          agreed_part(work.call(), benchmark_fixture_.size()), work.call().count);
      return std::min(measure_once(work, "ring", "").us, measure_once(work, "ring", "").us);
    };
    claims small, large;
    const double small_us = one(8 * static_cast<std::size_t>(benchmark_fixture_.size()), small),
                 large_us = one(std::size_t{1} << 20, large);
    return fit(small, small_us, large, large_us);
  }

  void measure_natives(double until) {
    std::vector<std::size_t> sizes;
    for (const std::size_t s : options_.sizes)
      if (s >= 8 * static_cast<std::size_t>(benchmark_fixture_.size())) sizes.push_back(s);
    struct native {
      collective what;
      std::size_t bytes;
      series all;
    };
    std::vector<native> all;
    for (const collective what : guideline_collectives())
      for (const std::size_t bytes : what == collective::barrier ? std::vector<std::size_t>{0} : sizes)
        all.push_back({what, bytes, {}});
    // The rounds interleave the collectives, so that compared figures come from the same state of
    // the machine.
    for (int round = 0; round < std::max(2, options_.repeat); ++round)
      for (native& one : all) {
        measured_call work(one.what, one.bytes, benchmark_fixture_.rank(), benchmark_fixture_.size(), false);
        if (!benchmark_fixture_.selection_context_of(work.call()).native) continue;
        if (since_start() > until) {
          result_.left_out += round == 0 ? 1 : 0;
          continue;
        }
        report(std::string(tutti::name_of(one.what)) + "/native for the guidelines");
        one.all.add(measure_once(work, "native", ""));
      }
    for (const native& one : all)
      if (one.all.good()) {
        const timing t = one.all.of(leaf::native());
        result_.natives.push_back({one.what, one.bytes, t.us, t.spread});
      }
  }

  // --- the cells

  void measure_cells(double until) {
    std::size_t remaining = options_.collectives.size();
    for (const collective what : options_.collectives) {
      const double now = since_start();
      const double end = now + (until - now) / static_cast<double>(remaining--);
      if (is_neighborhood(what) && benchmark_fixture_.size() == 1) continue;
      std::vector<std::size_t> sizes;
      for (const std::size_t s : options_.sizes)
        if (total_of(what, s, benchmark_fixture_.size()) <= options_.max_total) sizes.push_back(s);
      if (what == collective::barrier) sizes = {0};
      std::size_t remaining_sizes = sizes.size();
      for (const std::size_t size : sizes) {
        const double here = since_start();
        measure_cell(what, size, here + (end - here) / static_cast<double>(remaining_sizes--));
      }
    }
  }

  struct contender {
    candidate what;
    series all;
  };

  void measure_cell(collective what, std::size_t size, double until) {
    measured_call work(what, total_of(what, size, benchmark_fixture_.size()), benchmark_fixture_.rank(),
                       benchmark_fixture_.size(), false);
    cell c;
    c.context = benchmark_fixture_.selection_context_of(work.call());
    c.size = size;
    const std::size_t block = std::max<std::size_t>(1, size / sizeof(double));
    const leaf current = decide(base_, c.context);
    auto all = pure_candidates(c.context, what == collective::alltoallw ? size : block, options_.parameters,
                               result_.machine);
    if (std::none_of(all.begin(), all.end(), [&](const candidate& one) { return same(one.use, current); }))
      all.insert(all.begin(), {current, label(current), 0});
    const std::size_t before = all.size();
    prune(all, options_.prune, current);
    result_.pruned += before - all.size();
    // The current choice and native come first, because they are needed; then the most promising
    // candidates.
    std::stable_sort(all.begin(), all.end(), [&](const candidate& a, const candidate& b) {
      const bool x = same(a.use, current), y = same(b.use, current);
      return x != y ? x : a.predicted < b.predicted;
    });
    std::vector<contender> contenders;
    for (candidate& one : all) contenders.push_back({std::move(one), {}});
    compare_candidates(contenders, until, [&](const contender& e, bool first) {
      if (first)
        report(std::string(tutti::name_of(what)) + "/" + e.what.name + ", " + std::to_string(size) +
               " bytes");
      return measure_once(work, e.what.name, "");
    });
    for (const contender& e : contenders)
      if (e.all.good()) c.pure.push_back(e.all.of(e.what.use));
    measure_compositions(c, work, until);
    result_.cells.push_back(std::move(c));
  }

  // Measures the candidates in alternating order, so that a disturbance does not always hit the
  // same ones. The first two are measured in any case.
  template <class Measure>
  void compare_candidates(std::vector<contender>& contenders, double until, Measure&& measure) {
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < options_.repeat; ++round)
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        contender& e = contenders[round % 2 == 0 ? i : contenders.size() - 1 - i];
        const bool needed = &e < contenders.data() + 2;
        if (round > 0 && (e.all.us.empty() || (!needed && e.all.us[0] > worth_repeating * best))) continue;
        if (since_start() > until && !(needed && round == 0)) {
          if (round == 0) ++result_.left_out;
          continue;
        }
        const measurement m = measure(e, round == 0);
        e.all.add(m);
        best = std::min(best, m.us);
      }
  }

  // Measures the compositions, together with the best choice without one.
  void measure_compositions(cell& c, measured_call& work, double until) {
    std::vector<candidate> all = composed_candidates(
        c.context, std::max<std::size_t>(1, c.size / sizeof(double)), options_.parameters);
    if (all.empty() || c.pure.empty()) return;
    leaf none;
    none.what = leaf::kind::pure;
    std::vector<contender> contenders{{{none, "@pure", 0}, {}}};
    for (candidate& one : all) contenders.push_back({std::move(one), {}});
    const std::string best = best_pure(c);
    compare_candidates(contenders, until, [&](const contender& e, bool first) {
      if (first) report(std::string(tutti::name_of(c.context.call.what)) + "/" + e.what.name);
      return e.what.name == "@pure" ? measure_once(work, best, "@pure") : measure_once(work, "", e.what.name);
    });
    for (const contender& e : contenders)
      if (e.all.good()) c.composed.push_back(e.all.of(e.what.use));
  }
  static std::string best_pure(const cell& c) {
    return label(
        std::min_element(c.pure.begin(), c.pure.end(), [](auto& a, auto& b) { return a.us < b.us; })->use);
  }

  // --- confirmation

  static std::vector<timing>& half_of(cell& c, tree_half half) {
    return half == tree_half::pure ? c.pure : c.composed;
  }

  void confirm(double until) {
    result_.compared = result_.cells;
    std::set<std::pair<std::size_t, std::string>> confirmed;  // cell and choice
    const auto key = [](const change& c) {
      return (c.half == tree_half::pure ? "" : "composed ") + label(c.after);
    };
    const auto cell_of = [&](const change& c) {
      const auto at = std::find_if(result_.compared.begin(), result_.compared.end(), [&](const cell& one) {
        return one.context.call.what == c.what && one.size == c.size;
      });
      return static_cast<std::size_t>(at - result_.compared.begin());
    };
    for (bool more = true; more;) {
      more = false;
      const std::vector<change> changes = grow(base_, result_.compared, options_.grow_rules).changes;
      for (const change& c : changes) {
        const std::size_t at = cell_of(c);
        if (confirmed.count({at, key(c)}) != 0) continue;
        if (since_start() > until) break;
        confirmed.insert({at, key(c)});
        confirm_change(result_.compared[at], c);
        more = true;
      }
    }
    // A choice that would change a tree must have been measured twice; others are removed.
    for (std::size_t i = 0; i < result_.compared.size(); ++i) {
      cell& one = result_.compared[i];
      const leaf current = decide(base_, one.context),
                 composed = decide(base_, one.context, tree_half::composition);
      std::erase_if(one.pure, [&](const timing& t) {
        return t.use.what != leaf::kind::native && !same(t.use, current) &&
               confirmed.count({i, label(t.use)}) == 0;
      });
      std::erase_if(one.composed, [&](const timing& t) {
        return t.use.what != leaf::kind::pure && !same(t.use, composed) &&
               confirmed.count({i, "composed " + label(t.use)}) == 0;
      });
    }
  }

  // Measures a choice and the one that it would replace again, alternately.
  void confirm_change(cell& c, const change& proposed) {
    std::vector<timing>& all = half_of(c, proposed.half);
    leaf old = proposed.before;
    if (options_.grow_rules.beat_native && proposed.half == tree_half::pure && c.context.native &&
        proposed.after.what != leaf::kind::native)
      old = leaf::native();
    measured_call work(proposed.what, total_of(proposed.what, c.size, benchmark_fixture_.size()),
                       benchmark_fixture_.rank(), benchmark_fixture_.size(), false);
    report(std::string(tutti::name_of(proposed.what)) + "/" + label(proposed.after) + ", " +
           std::to_string(c.size) + " bytes, confirmation");
    const std::string best = proposed.half == tree_half::composition ? best_pure(c) : "";
    const auto one = [&](const leaf& l) {
      if (proposed.half == tree_half::pure) return measure_once(work, label(l), "");
      return l.what == leaf::kind::pure ? measure_once(work, best, "@pure")
                                        : measure_once(work, "", label(l));
    };
    series before, after;
    for (int i = 0; i < 3; ++i) {
      before.add(one(i % 2 == 0 ? old : proposed.after));
      after.add(one(i % 2 == 0 ? proposed.after : old));
      if (i % 2 != 0) std::swap(before.us.back(), after.us.back());
    }
    for (timing& t : all) {
      if (same(t.use, old) && before.good()) t = before.of(old);
      if (same(t.use, proposed.after) && after.good()) t = after.of(proposed.after);
    }
  }

  benchmark_fixture& benchmark_fixture_;
  const document& base_;
  const campaign_options& options_;
  const progress& report_progress_;
  clock::time_point start_;
  campaign_result result_;
};

}  // namespace

campaign_result run_campaign(benchmark_fixture& fixture, const document& base,
                             const campaign_options& options, const progress& report) {
  return campaign(fixture, base, options, report).run();
}

}  // namespace tutti::tuning
