// SPDX-License-Identifier: Apache-2.0
#include "tuning/campaign.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "tuning/contenders.hpp"
#include "tuning/region_grower.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

// The parts of the time after which each step ends.
constexpr double guideline_end = 0.15, cells_end = 0.55, repetitions_end = 0.75;
// Factors over the best time.
constexpr double worth_repeating = 1.5, worth_confirming = 1.25;
constexpr std::size_t max_confirmations = 51;  // of a candidate: more show little more
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

// A call with all its candidates.
struct measured_cell {
  cell c;
  std::size_t bytes = 0;
  std::vector<contender> pure, composed;
  std::string best_pure{};  // measured as "@pure"

  std::vector<contender>& of(tree_half half) { return half == tree_half::pure ? pure : composed; }
};

class campaign {
 public:
  campaign(call_timer& timer, const document& base, const campaign_options& options, const progress& report)
      : timer_(timer), base_(base), options_(options), report_progress_(report) {}

  campaign_result run() {
    result_.ranks = timer_.ranks();
    result_.machine = find_speed();
    const double all = options_.seconds;
    if (options_.guidelines) measure_natives(all * guideline_end);
    measure_cells(all * cells_end);
    repeat_unclear(all * repetitions_end);
    for (measured_cell& one : cells_) {
      one.c.pure = timings_of(one.pure);
      one.c.composed = timings_of(one.composed);
      result_.cells.push_back(one.c);
    }
    confirm(all);
    return std::move(result_);
  }

 private:
  void report(const std::string& what) {
    const double now = timer_.elapsed();
    if (timer_.rank() == 0) report_progress_(what, std::min(1.0, now / options_.seconds));
  }

  // --- measuring

  measurement measure_once(collective what, std::size_t bytes, const std::string& algorithm,
                           const std::string& composition) {
    call_timer::result r = timer_.measure(what, bytes, algorithm, composition);
    ++result_.measurements;
    if (!r.correct) {
      ++result_.wrong;
      result_.wrong_names.push_back(std::string(tutti::name_of(what)) + "/" +
                                    (composition.empty() ? algorithm : composition));
      r.time.us = wrong_result;
    }
    return r.time;
  }
  measurement measure_choice(const measured_cell& one, tree_half half, const leaf& l) {
    const collective what = one.c.context.call.what;
    if (half == tree_half::pure) return measure_once(what, one.bytes, label(l), "");
    return l.what == leaf::kind::pure ? measure_once(what, one.bytes, one.best_pure, "@pure")
                                      : measure_once(what, one.bytes, "", label(l));
  }

  speed find_speed() {
    const auto one = [&](std::size_t bytes, claims& claimed) {
      const agreed_signature s = timer_.context_of(collective::allgather, bytes).call;
      claimed = claims_of(choice(find_algorithm(collective::allgather, "ring")), s, s.count);
      const auto us = [&] { return measure_once(collective::allgather, bytes, "ring", "").us; };
      return std::min(us(), us());
    };
    claims small, large;
    const double small_us = one(8 * static_cast<std::size_t>(timer_.ranks()), small),
                 large_us = one(std::size_t{1} << 20, large);
    return fit(small, small_us, large, large_us);
  }

  void measure_natives(double until) {
    std::vector<std::size_t> sizes;
    for (const std::size_t s : options_.sizes)
      if (s >= 8 * static_cast<std::size_t>(timer_.ranks())) sizes.push_back(s);
    struct native {
      collective what;
      std::size_t bytes;
      repeated_times times;
    };
    std::vector<native> all;
    for (const collective what : guideline_collectives())
      for (const std::size_t bytes : what == collective::barrier ? std::vector<std::size_t>{0} : sizes)
        if (timer_.context_of(what, bytes).native) all.push_back({what, bytes, {}});
    // The rounds interleave the collectives, so that compared figures come from the same state of
    // the machine.
    for (int round = 0; round < std::max(2, options_.repeat); ++round)
      for (native& one : all) {
        if (timer_.elapsed() > until) {
          result_.left_out += round == 0 ? 1 : 0;
          continue;
        }
        report(std::string(tutti::name_of(one.what)) + "/native for the guidelines");
        one.times.add(measure_once(one.what, one.bytes, "native", ""));
      }
    for (const native& one : all)
      if (one.times.good()) {
        const timing t = one.times.of(leaf::native());
        result_.natives.push_back({one.what, one.bytes, t.us, t.spread});
      }
  }

  // --- the cells

  void measure_cells(double until) {
    std::size_t remaining = options_.collectives.size();
    for (const collective what : options_.collectives) {
      const double now = timer_.elapsed();
      const double end = now + (until - now) / static_cast<double>(remaining--);
      if (is_neighborhood(what) && timer_.ranks() == 1) continue;
      std::vector<std::size_t> sizes;
      for (const std::size_t s : options_.sizes)
        if (total_of(what, s, timer_.ranks()) <= options_.max_total) sizes.push_back(s);
      if (what == collective::barrier) sizes = {0};
      std::size_t remaining_sizes = sizes.size();
      for (const std::size_t size : sizes) {
        const double here = timer_.elapsed();
        measure_cell(what, size, here + (end - here) / static_cast<double>(remaining_sizes--));
      }
    }
  }

  void measure_cell(collective what, std::size_t size, double until) {
    measured_cell one;
    one.bytes = total_of(what, size, timer_.ranks());
    one.c.context = timer_.context_of(what, one.bytes);
    one.c.size = size;
    const std::size_t block = std::max<std::size_t>(1, size / sizeof(double));
    const leaf current = decide(base_, one.c.context);
    auto all = pure_candidates(one.c.context, what == collective::alltoallw ? size : block,
                               options_.parameters, result_.machine);
    if (std::none_of(all.begin(), all.end(), [&](const candidate& c) { return same(c.use, current); }))
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
    for (candidate& c : all) one.pure.push_back({std::move(c), {}});
    compare_candidates(one, tree_half::pure, until);
    add_compositions(one, block, until);
    cells_.push_back(std::move(one));
  }

  // Measures the compositions, together with the best choice without one.
  void add_compositions(measured_cell& one, std::size_t block, double until) {
    const std::vector<timing> pure = timings_of(one.pure);
    std::vector<candidate> all = composed_candidates(one.c.context, block, options_.parameters);
    if (all.empty() || pure.empty()) return;
    one.best_pure = label(fastest(pure).use);
    leaf none;
    none.what = leaf::kind::pure;
    one.composed.push_back({{none, "@pure", 0}, {}});
    for (candidate& c : all) one.composed.push_back({std::move(c), {}});
    compare_candidates(one, tree_half::composition, until);
  }

  // Measures the candidates in alternating order, so that a disturbance does not always hit the
  // same ones. The first two are measured in any case.
  void compare_candidates(measured_cell& one, tree_half half, double until) {
    std::vector<contender>& contenders = one.of(half);
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < options_.repeat; ++round)
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        contender& e = contenders[round % 2 == 0 ? i : contenders.size() - 1 - i];
        const bool needed = &e < contenders.data() + 2;
        if (round > 0 && (e.times.count() == 0 || (!needed && e.times.first_us() > worth_repeating * best)))
          continue;
        if (timer_.elapsed() > until && !(needed && round == 0)) {
          if (round == 0) ++result_.left_out;
          continue;
        }
        if (round == 0) report_cell(one, e.what.name);
        const measurement m = measure_choice(one, half, e.what.use);
        e.times.add(m);
        best = std::min(best, m.us);
      }
  }

  void report_cell(const measured_cell& one, const std::string& name) {
    report(std::string(tutti::name_of(one.c.context.call.what)) + "/" + name + ", " +
           std::to_string(one.c.size) + " bytes");
  }

  // --- unclear cells

  // In passes over all cells, so that the measurements of a cell come from different moments.
  void repeat_unclear(double until) {
    std::set<const measured_cell*> repeated;
    for (std::size_t pass = 0, before = 0; pass == 0 || result_.measurements != before; ++pass) {
      before = result_.measurements;
      for (measured_cell& one : cells_)
        for (const tree_half half : {tree_half::pure, tree_half::composition}) {
          std::vector<contender*> again = unclear_of(one.of(half), options_.grow_rules);
          if (again.empty()) continue;
          if (timer_.elapsed() > until) return;
          if (repeated.insert(&one).second) ++result_.repeated;
          report_cell(one, "unclear, repetition");
          if (pass % 2 != 0) std::reverse(again.begin(), again.end());
          for (contender* const c : again) c->times.add(measure_choice(one, half, c->what.use));
        }
    }
  }

  // --- confirmation

  static std::vector<timing>& half_of(cell& c, tree_half half) {
    return half == tree_half::pure ? c.pure : c.composed;
  }

  // The cells and choices that were confirmed.
  using confirmations = std::set<std::pair<std::size_t, std::string>>;

  std::size_t cell_of(const change& c) const {
    const auto at = std::find_if(cells_.begin(), cells_.end(), [&](const measured_cell& one) {
      return one.c.context.call.what == c.what && one.c.size == c.size;
    });
    return static_cast<std::size_t>(at - cells_.begin());
  }
  static std::string key(tree_half half, const leaf& l) {
    return (half == tree_half::pure ? "" : "composed ") + label(l);
  }

  // The first times only propose changes, so their spreads do not count here. Those of confirmed
  // choices do.
  void confirm(double until) {
    result_.compared = result_.cells;
    for (cell& one : result_.compared)
      for (const tree_half half : {tree_half::pure, tree_half::composition})
        for (timing& t : half_of(one, half)) t.spread = t.below = 0;
    confirmations confirmed;
    std::vector<change> changes;
    for (bool more = true; more;) {
      more = false;
      changes = grow(base_, result_.compared, options_.grow_rules).changes;
      for (const change& c : changes) {
        const std::size_t at = cell_of(c);
        if (confirmed.count({at, key(c.half, c.after)}) != 0) continue;
        if (timer_.elapsed() > until) break;
        confirm_change(at, c, until, confirmed);
        more = true;
      }
    }
    mark_unclear(changes, confirmed);
    // A choice that would change a tree must have been measured twice; others are removed.
    for (std::size_t i = 0; i < result_.compared.size(); ++i)
      for (const tree_half half : {tree_half::pure, tree_half::composition}) {
        cell& one = result_.compared[i];
        const leaf current = decide(base_, one.context, half);
        const auto neutral = half == tree_half::pure ? leaf::kind::native : leaf::kind::pure;
        std::erase_if(half_of(one, half), [&](const timing& t) {
          return t.use.what != neutral && !same(t.use, current) &&
                 confirmed.count({i, key(half, t.use)}) == 0;
        });
      }
  }

  // Measures a choice again, together with the one that it would replace and those that may be as
  // fast, in turn and until they are clear.
  void confirm_change(std::size_t at, const change& proposed, double until, confirmations& confirmed) {
    const measured_cell& one = cells_[at];
    const rules& r = options_.grow_rules;
    const std::vector<timing>& first = timings(one.c, proposed.half);
    std::vector<timing>& all = half_of(result_.compared[at], proposed.half);
    std::vector<contender> group;
    const auto add = [&](const leaf& l) {
      if (std::none_of(group.begin(), group.end(), [&](const contender& c) { return same(c.what.use, l); }))
        group.push_back({{l, label(l), 0}, {}});
    };
    add(baseline(one.c.context, proposed.before, proposed.half, r));
    add(proposed.before);
    add(proposed.after);
    const timing* const old = find(all, group[0].what.use);
    const double old_us = old == nullptr ? 0 : old->us;
    for (const timing& t : first)
      if ((t.us < old_us && t.us < worth_confirming * fastest(first).us) ||
          confirmed.count({at, key(proposed.half, t.use)}) != 0)
        add(t.use);
    report_cell(one, label(proposed.after) + ", confirmation");
    std::vector<timing> again;
    for (std::size_t round = 0; round < max_confirmations; ++round) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        contender& c = group[round % 2 == 0 ? i : group.size() - 1 - i];
        c.times.add(measure_choice(one, proposed.half, c.what.use));
      }
      if (round + 1 < repeated_times::enough_for_test) {
        if (timer_.elapsed() > until) return;  // it stays unconfirmed
        continue;
      }
      again = compared_times(group, old_us);
      if (is_clear(again, r) || timer_.elapsed() > until) break;
    }
    for (const contender& c : group) confirmed.insert({at, key(proposed.half, c.what.use)});
    std::erase_if(all, [&](const timing& t) {  // wrong results
      return find(again, t.use) == nullptr && confirmed.count({at, key(proposed.half, t.use)}) != 0;
    });
    for (timing& t : all)
      if (const timing* const now = find(again, t.use)) t = *now;
  }

  // A cell is unclear if its choice stays, but another one may be faster by the required gain; and
  // if the time did not suffice to confirm a change.
  void mark_unclear(const std::vector<change>& changes, const confirmations& confirmed) {
    const rules& r = options_.grow_rules;
    for (std::size_t i = 0; i < result_.compared.size(); ++i) {
      cell &first = result_.cells[i], &second = result_.compared[i];
      for (const tree_half half : {tree_half::pure, tree_half::composition}) {
        const auto proposed = std::find_if(changes.begin(), changes.end(), [&](const change& c) {
          return c.half == half && cell_of(c) == i;
        });
        if (proposed != changes.end()) {
          first.is_unclear |= confirmed.count({i, key(half, proposed->after)}) == 0;
          continue;
        }
        const leaf base = baseline(first.context, decide(base_, first.context, half), half, r);
        const auto time_of = [&](const leaf& l) {
          return find(timings(confirmed.count({i, key(half, l)}) != 0 ? second : first, half), l);
        };
        const timing* const old = time_of(base);
        for (const timing& t : timings(first, half)) {
          const timing* const other = time_of(t.use);
          first.is_unclear |= old != nullptr && other != nullptr && other != old && may_beat(*other, *old, r);
        }
      }
      second.is_unclear = first.is_unclear;
      result_.unclear += first.is_unclear ? 1 : 0;
    }
  }

  call_timer& timer_;
  const document& base_;
  const campaign_options& options_;
  const progress& report_progress_;
  std::vector<measured_cell> cells_;
  campaign_result result_;
};

}  // namespace

campaign_result run_campaign(call_timer& timer, const document& base, const campaign_options& options,
                             const progress& report) {
  return campaign(timer, base, options, report).run();
}

}  // namespace tutti::tuning
