// SPDX-License-Identifier: Apache-2.0
//
// Timers and counters of a program's parts, on every rank, and what they say of all ranks together. Not
// included by tutti.hpp.
//
// ```cpp
// #include <tutti/timer.hpp>
// timer t(world);
// t.start("sort");
// for (int i = 0; i < 3; ++i) {
//   auto within = t.scoped("exchange");  // stopped at the end of its scope
//   world.barrier();
//   t.count("bytes", 100.0);
// }
// t.stop();
// measurements all = t.aggregate();
// const measurement* bytes = all.find({"sort", "exchange", "bytes"});
// assert(bytes->total.mean == 300 && bytes->calls.max == 3);
// if (world.is_root()) std::printf("%s%s\n", all.text().c_str(), all.json().c_str());
// ```
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/communicator.hpp"

namespace tutti {

namespace detail {
class measured_tree;
}

/// One figure on all ranks that have it. Where no rank has it, ranks is 0 and the others are too.
struct spread {
  double min = 0;   ///< over the ranks that have it
  double mean = 0;  ///< the same
  double max = 0;   ///< the same
  double sum = 0;   ///< the same
  int ranks = 0;    ///< that have the figure
};

/// One timer or counter, on all ranks.
struct measurement {
  std::string name;              ///< as given to start() or count()
  int depth = 0;                 ///< 0 for what began while nothing else ran
  bool is_timer = true;          ///< false: a counter
  spread total;                  ///< seconds between start and stop, summed; of a counter what was counted
  spread calls;                  ///< how many there were
  std::vector<spread> each;      ///< seconds of the first, second ... run that stop_and_append() ended
  std::vector<double> total_of;  ///< total of each rank, where asked for; NaN on ranks that have none
};

/// Everything that a timer measured, the same on all ranks: first what lies at the top, each followed by what
/// began while it ran (its depth is greater by one).
class [[gnu::visibility("default")]] measurements {  // its file hides what else it is compiled from
 public:
  measurements() = default;
  /// For the library: aggregate() makes them.
  measurements(std::vector<measurement> all, int ranks) : all_(std::move(all)), ranks_(ranks) {}

  /// Each timer and counter, as said above.
  const std::vector<measurement>& entries() const noexcept { return all_; }
  int ranks() const noexcept { return ranks_; }  ///< of the communicator
  /// By the names from the top down; null where there is none. A timer is found before a counter of the same
  /// name.
  const measurement* find(std::initializer_list<std::string_view> path) const noexcept;

  /// An aligned table, a line each: seconds and counts as min, mean and max over the ranks that have it.
  std::string text() const;
  /// `{"ranks": p, "measurements": [{"name", "kind", "calls", "total", "each"?, "total_of"?, "inside"?}]}`,
  /// where calls, total and each have min, mean, max, sum and ranks, and what a rank lacks is null.
  std::string json(int indent = 2) const;
  /// Writes text().
  void print(std::ostream & to) const;

 private:
  std::vector<measurement> all_;
  int ranks_ = 0;
};

/// Measures the parts of a program on one rank, as a tree: what starts while another runs lies inside of it.
/// Runs of the same name at the same place are summed. The clock is std::chrono::steady_clock. A rank has as
/// many timers as it likes; each is used from one thread at a time.
///
/// Costs: start() and stop() read the clock and compare a name or two (a place's names are looked for from
/// the one after the last that was found); the first time they allocate, and later they do not. Local, but
/// for start_synchronized() and aggregate().
class timer {
 public:
  /// Local. Keeps a copy of the communicator for aggregate().
  explicit timer(const communicator& ranks);
  timer(timer&& other) noexcept;
  timer& operator=(timer&& other) noexcept;
  ~timer();

  /// Begins to measure `name`, inside of what runs. The name is copied the first time.
  void start(std::string_view name);
  /// Collective: the same after a barrier, so that it measures nobody's being late.
  void start_synchronized(std::string_view name);
  /// Ends what was started last. Throws usage_error where nothing runs.
  void stop();
  /// The same, and keeps this run's time besides the sum. Allocates as a vector does.
  void stop_and_append();

  /// Adds to a counter inside of what runs. Counts are exact up to 2^53.
  void count(std::string_view name, double amount = 1);

  /// Ends at the end of its scope, with all that was started inside and not stopped, as where an exception
  /// passes by.
  class [[nodiscard]] scope {
   public:
    explicit scope(timer& of) noexcept;  ///< of what `of` started last
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

   private:
    detail::measured_tree& tree_;
    int depth_;
  };
  /// start(), and the stop() at the end of the scope of what is returned, which the timer must outlive.
  scope scoped(std::string_view name) {
    start(name);
    return scope(*this);
  }

  /// How much aggregate() brings.
  enum class extent : std::uint8_t {
    over_ranks,  ///< min, mean, max and sum over the ranks
    per_rank     ///< also what each rank had, measurement::total_of
  };
  static constexpr extent per_rank = extent::per_rank;

  /// Collective: what all ranks measured since they began, on all ranks. The ranks may have measured
  /// different things: names at the same place are the same, and each figure says how many ranks have it.
  /// Measuring goes on afterwards.
  ///
  /// Costs a bcast and an allreduce that compare the names, and an allreduce of 64 bytes for each name and
  /// 32 for each appended run; where the names differ also a gather of them and a second bcast; with per_rank
  /// an allgather of 8 bytes for each name, kept on every rank.
  ///
  /// Throws usage_error on a rank where something runs; the others wait until it ends.
  measurements aggregate(extent e = extent::over_ranks) const;

  /// Forgets everything measured. Throws usage_error where something runs.
  void clear();

 private:
  communicator ranks_;
  detail::measured_tree* tree_;
};

}  // namespace tutti
