// SPDX-License-Identifier: Apache-2.0
//
// Tests what campaigns choose if times are noisy. The true times are invented, so the right choices
// are known: an equal candidate never replaces another one, and runs with different noise agree. A
// candidate that is clearly faster always wins. Also tests the parts of this choice.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/embedded/sleep.hpp"
#include "support/measured_choices.hpp"
#include "support/seed.hpp"
#include "tuning/campaign.hpp"
#include "tuning/core_wait.hpp"
#include "tuning/repeated_times.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

using enum collective;

constexpr int ranks = 4;
constexpr std::uint64_t last_seed = 200;

/// Of one measurement: the deviation of a logarithm; the probability of a disturbance, which takes
/// up to as long again; the factor of slow phases, in which a machine is for a fifth of the time.
struct noise {
  double deviation = 0.03, disturbed = 0.1, slow_phase = 1.2;
};

/// The true time of a choice in microseconds.
using truth = std::function<double(std::size_t bytes, const std::string& name)>;

// Its clock advances by 5 ms for each measurement.
class noisy_timer final : public call_timer {
 public:
  noisy_timer(truth t, noise n, std::uint64_t seed) : truth_(std::move(t)), noise_(n), random_(seed) {}

  int rank() const override { return 0; }
  int ranks() const override { return tuning::ranks; }
  double elapsed() override { return now_; }
  selection_context context_of(collective what, std::size_t bytes) override {
    return call_of(what, ranks(), what == bcast ? bytes : bytes / static_cast<std::size_t>(ranks()));
  }
  result measure(collective what, std::size_t bytes, const std::string& algorithm,
                 const std::string& composition) override {
    now_ += 5e-3;
    // The model of the machine is fitted to an allgather.
    const double t = what == allgather ? 1 + 1e-3 * static_cast<double>(bytes)
                                       : truth_(bytes, composition.empty() ? algorithm : composition);
    if (now_ > phase_end_) {
      slow_ = uniform() < 0.2;
      phase_end_ = now_ + 0.2 * (0.5 + uniform());
    }
    double factor = std::exp(noise_.deviation * std::normal_distribution<>()(random_));
    if (uniform() < noise_.disturbed) factor *= 1 + uniform();
    if (slow_) factor *= noise_.slow_phase;
    return {{t * factor, 2 * noise_.deviation, 99, 1}, name_ != algorithm};
  }

  /// From now on the results of this algorithm are wrong.
  void spoil(const std::string& algorithm) { name_ = algorithm; }

 private:
  double uniform() { return std::uniform_real_distribution<>()(random_); }

  truth truth_;
  noise noise_;
  std::mt19937_64 random_;
  double now_ = 0, phase_end_ = 0;
  bool slow_ = false;
  std::string name_ = "none";
};

campaign_options alltoalls(double seconds = 60) {
  campaign_options o;
  o.collectives = {alltoall};
  o.sizes = {8, 1024, 32768};
  o.guidelines = false;
  o.prune = 1e9;
  o.seconds = seconds;
  return o;
}

const document& threads() {
  static const document d = builtin_document("threads");
  return d;
}

campaign_result run(noisy_timer&& timer, const campaign_options& o = alltoalls(),
                    const document& base = threads()) {
  return run_campaign(timer, base, o, [](const std::string&, double) {});
}

// What the trees of a campaign choose for each size.
std::string choices(const campaign_result& r, const campaign_options& o = alltoalls(),
                    const document& base = threads()) {
  const document made = overlay(base, grow(base, r.compared, o.grow_rules).made);
  std::string all;
  for (const cell& c : r.compared) all += label(decide(made, c.context)) + " ";
  return all;
}

double equal(std::size_t, const std::string&) { return 10; }
// Two equal algorithms, twice as fast as the others.
double two_fast(std::size_t, const std::string& name) {
  return name == "pairwise" || name == "scattered" ? 5 : name == "native" ? 10 : 11;
}
double one_fast(std::size_t, const std::string& name) { return name == "pairwise" ? 8 : 10; }

TEST(noisy_campaign, replaces_nothing_by_an_equal_choice) {
  tests::for_each_seed(1, last_seed, [](std::uint64_t seed) {
    EXPECT_EQ(choices(run({equal, {}, seed})), "native native native ") << seed;
  });
}

TEST(noisy_campaign, takes_the_same_of_two_equal_winners_in_all_runs) {
  tests::for_each_seed(1, last_seed, [](std::uint64_t seed) {
    EXPECT_EQ(choices(run({two_fast, {}, seed})), "pairwise pairwise pairwise ") << seed;
  });
}

TEST(noisy_campaign, takes_a_clear_winner_in_all_runs) {
  tests::for_each_seed(1, last_seed, [](std::uint64_t seed) {
    EXPECT_EQ(choices(run({one_fast, {}, seed})), "pairwise pairwise pairwise ") << seed;
  });
}

TEST(noisy_campaign, takes_a_winner_at_the_sizes_at_which_it_wins) {
  const auto crossing = [](std::size_t bytes, const std::string& name) {
    return name == "bruck" ? (bytes < 4096 ? 6 : 20) : 10.0;
  };
  tests::for_each_seed(1, last_seed, [&](std::uint64_t seed) {
    EXPECT_EQ(choices(run({crossing, {}, seed})), "bruck native native ") << seed;
  });
}

TEST(noisy_campaign, keeps_the_choice_of_an_earlier_run_if_others_are_little_faster) {
  const auto first = [](std::size_t, const std::string& name) { return name == "pairwise" ? 7 : 10.0; };
  const document base = overlay(threads(), grow(threads(), run({first, {}, 1}).compared, {}).made);
  const auto now = [](std::size_t, const std::string& name) { return name == "pairwise" ? 10 : 9.9; };
  tests::for_each_seed(1, last_seed, [&](std::uint64_t seed) {
    EXPECT_EQ(choices(run({now, {}, seed}, alltoalls(), base), alltoalls(), base),
              "pairwise pairwise pairwise ")
        << seed;
  });
}

TEST(noisy_campaign, measures_unclear_calls_again_until_they_are_clear) {
  const noise loud{0.06, 0.1, 1.2};
  const campaign_result r = run({one_fast, loud, 1});
  EXPECT_EQ(r.repeated, 3u);
  EXPECT_EQ(choices(r), "pairwise pairwise pairwise ");
  const auto count = [](const campaign_result& of, std::string_view name) {
    std::size_t least = 1000;
    for (const cell& c : of.cells)
      for (const timing& t : c.pure)
        if (label(t.use) == name) least = std::min(least, t.measurements);
    return least;
  };
  EXPECT_GE(count(r, "native"), repeated_times::enough_for_quartiles);
  // No time is spent on choices that cannot win, or if there is no noise.
  const auto hopeless = [](std::size_t, const std::string& name) { return name == "bruck" ? 50 : 10.0; };
  EXPECT_EQ(count(run({hopeless, loud, 1}), "bruck"), 1u);
  const campaign_result quiet = run({hopeless, {0.001, 0, 1}, 1});
  EXPECT_EQ(count(quiet, "native"), repeated_times::enough_for_quartiles);
  EXPECT_EQ(quiet.unclear, 0u);
  EXPECT_GT(r.measurements, quiet.measurements);
}

TEST(noisy_campaign, keeps_and_counts_what_stays_unclear) {
  const noise wild{0.3, 0.1, 1.2};
  tests::for_each_seed(1, last_seed / 10, [&](std::uint64_t seed) {
    const campaign_result r = run({equal, wild, seed});
    EXPECT_EQ(choices(r), "native native native ") << seed;
    EXPECT_EQ(r.unclear, 3u) << seed;
    for (const cell& c : r.cells) EXPECT_TRUE(c.is_unclear) << seed;
  });
}

TEST(noisy_campaign, ends_in_time) {
  for (const double limit : {0.5, 2.0, 10.0}) {
    noisy_timer timer(two_fast, {0.3, 0.3, 2}, 1);
    const campaign_options o = alltoalls(limit);
    const campaign_result r = run_campaign(timer, threads(), o, [](const std::string&, double) {});
    // A turn of a confirmation may have begun, with a few choices.
    EXPECT_LT(timer.elapsed(), limit + 10 * 5e-3);
    EXPECT_EQ(r.cells.size(), 3u);
    if (limit < 1) {
      EXPECT_GT(r.left_out + r.unclear, 0u);
      EXPECT_NE(choices(r).find("native"), std::string::npos);
    }
  }
}

TEST(noisy_campaign, drops_a_choice_with_a_wrong_result) {
  noisy_timer timer(two_fast, {}, 1);
  timer.spoil("pairwise");
  const campaign_result r = run(std::move(timer));
  EXPECT_EQ(choices(r), "scattered scattered scattered ");
  EXPECT_GT(r.wrong, 0u);
  for (const std::string& name : r.wrong_names) EXPECT_EQ(name, "alltoall/pairwise");
}

// --- the parts

repeated_times times_of(std::initializer_list<double> us, double noise = 0.25) {
  repeated_times all;
  for (const double one : us) all.add({one, noise, 9, 1});
  return all;
}

TEST(repeated_times, have_a_lower_quartile_and_a_spread) {
  const leaf l = algorithm(alltoall, "bruck");
  EXPECT_FALSE(repeated_times{}.good());
  EXPECT_FALSE(times_of({1, std::numeric_limits<double>::infinity()}).good());
  timing t = times_of({4}).of(l);
  EXPECT_TRUE(same(t.use, l));
  EXPECT_EQ(t.us, 4);
  EXPECT_EQ(t.spread, 0.25);  // of the samples
  EXPECT_EQ(t.iqr, 0.25);
  t = times_of({5, 3, 9}).of(l);
  EXPECT_EQ(t.us, 4);  // between the least and the median
  EXPECT_EQ(t.min_us, 3);
  EXPECT_EQ(t.median_us, 5);
  EXPECT_EQ(t.measurements, 3u);
  EXPECT_DOUBLE_EQ(t.spread, 6.0 / 4);  // the range
  EXPECT_DOUBLE_EQ(t.iqr, 3.0 / 4);     // 4 to 7
  t = times_of({12, 10, 11, 9, 8, 100, 10, 11, 9}).of(l);
  EXPECT_EQ(t.us, 9);
  EXPECT_EQ(t.median_us, 10);
  EXPECT_DOUBLE_EQ(t.iqr, 2.0 / 9);  // 9 to 11
  EXPECT_DOUBLE_EQ(t.spread, 2.2 * 2.0 / 9 / 3);
}

TEST(noisy_times, beat_one_another_or_are_unclear) {
  rules r;
  r.floor = 0.03;
  r.gain = 0.05;
  const auto a = [](double us, double spread) { return timing{{}, us, spread}; };
  EXPECT_TRUE(beats(a(9, 0.04), a(10, 0.04), r));
  EXPECT_FALSE(beats(a(9, 0.06), a(10, 0.06), r));  // the intervals overlap
  EXPECT_FALSE(beats(a(9.8, 0), a(10, 0), r));      // less than the floor
  EXPECT_FALSE(is_unclear(a(9, 0.04), a(10, 0.04), r));
  EXPECT_TRUE(is_unclear(a(9, 0.06), a(10, 0.06), r));
  EXPECT_TRUE(is_unclear(a(10, 0.06), a(9, 0.06), r));
  EXPECT_FALSE(is_unclear(a(10, 0.02), a(10, 0.02), r));  // equal: no gain of 5 % is possible
  EXPECT_TRUE(is_unclear(a(10, 0), a(30, 0.7), r));
  EXPECT_TRUE(may_beat(a(30, 0.7), a(10, 0), r));
  EXPECT_FALSE(may_beat(a(10, 0), a(30, 0.1), r));         // it does beat it
  EXPECT_TRUE(beats({{}, 9, 0.02, 0.5}, a(10, 0.02), r));  // what is below does not matter
  EXPECT_FALSE(beats({{}, 9, 0.5, 0.02}, a(10, 0.02), r));
}

TEST(choices, have_a_fixed_order) {
  const std::vector<leaf> ordered = {
      algorithm(alltoall, "native"),    algorithm(alltoall, "bruck"),
      algorithm(alltoall, "pairwise"),  algorithm(alltoall, "scattered"),
      algorithm(alltoall, "bruck:k=3"), algorithm(alltoall, "bruck:k=4"),
      composition(allreduce, "@pure"),  composition(allreduce, "reduce_bcast")};
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j)
      EXPECT_EQ(precedes(ordered[i], ordered[j]), i < j) << label(ordered[i]) << " " << label(ordered[j]);
}

// Two threads on one core: each is ready while the other one runs.
TEST(core_times, count_the_wait_for_a_core) {
  const auto spin_on_one_core = [](std::atomic<int>& ready, int threads) {
    detail::pin_to_core(0);
    ++ready;
    while (ready.load() < threads) std::this_thread::yield();
    const auto start = times_of_thread();
    for (const auto end = clock::now() + std::chrono::milliseconds(300); clock::now() < end;) {
    }
    const auto now = times_of_thread();
    EXPECT_TRUE(start && now);
    return start && now ? now->waiting_since(*start) : -1;
  };
  std::atomic<int> ready{0};
  double shares[2];
  {
    std::vector<std::thread> both;
    for (double& share : shares) both.emplace_back([&] { share = spin_on_one_core(ready, 2); });
    for (std::thread& t : both) t.join();
  }
  for (const double share : shares) {
    EXPECT_GT(share, 0.25);
    EXPECT_LT(share, 1);
  }
  EXPECT_EQ((core_times{500, 500}.waiting_since({400, 400})), 0.5);
  EXPECT_EQ((core_times{500, 400}.waiting_since({400, 400})), 0);
  EXPECT_EQ((core_times{400, 400}.waiting_since({400, 400})), 0);
}

}  // namespace
}  // namespace tutti::tuning
