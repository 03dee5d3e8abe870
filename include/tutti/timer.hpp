// SPDX-License-Identifier: Apache-2.0
//
// Timers and counters for the parts of a program, on every rank, and their statistics over all
// ranks. tutti.hpp does not include this header.
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
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {
class measured_tree;  // not exported
}  // namespace tutti::detail

TUTTI_API_BEGIN
namespace tutti {

/// One timer or counter, on all ranks.
struct measurement {
  /// Statistics of one number over all ranks that have it. If no rank has it, ranks and all other
  /// fields are 0.
  struct spread {
    double min = 0;   ///< over the ranks that have it
    double mean = 0;  ///< over the same ranks
    double max = 0;   ///< over the same ranks
    double sum = 0;   ///< over the same ranks
    int ranks = 0;    ///< how many have it
  };

  std::string name;              ///< the argument of start() or count()
  int depth = 0;                 ///< 0: began while nothing else ran
  bool is_timer = true;          ///< false: a counter
  spread total;                  ///< sum of seconds; or the sum of a counter
  spread calls;                  ///< number of calls
  std::vector<spread> each;      ///< seconds of each run that stop_and_append() ended
  std::vector<double> total_of;  ///< total per rank if requested; NaN where absent
};

/// Everything that a timer measured, the same on all ranks. An entry is followed by the entries
/// that began while it ran, whose depth is greater by one.
class TUTTI_API measurements {  // its source file hides the rest
 public:
  measurements() = default;
  /// For the library: aggregate() makes them.
  measurements(std::vector<measurement> all, int ranks) : all_(std::move(all)), ranks_(ranks) {}

  /// Each timer and counter, in this order.
  const std::vector<measurement>& entries() const noexcept { return all_; }
  int ranks() const noexcept { return ranks_; }  ///< of the communicator
  /// Finds an entry by the names from the top down. Returns null if there is none. A timer takes
  /// precedence over a counter of the same name.
  const measurement* find(std::initializer_list<std::string_view> path) const noexcept;

  /// An aligned table with one line per entry: seconds and counts as min, mean and max over the
  /// ranks that have it.
  std::string text() const;
  /// `{"ranks": p, "measurements": [{"name", "kind", "calls", "total", "each"?, "total_of"?,
  /// "inside"?}]}`. calls, total and each have min, mean, max, sum and ranks. A value that a rank
  /// lacks is null.
  std::string json(int indent = 2) const;
  /// Writes text().
  void print(std::ostream & to) const;

 private:
  std::vector<measurement> all_;
  int ranks_ = 0;
};

/// Measures the parts of a program on one rank, as a tree: what starts while another runs is its
/// child. Runs of the same name at the same place are summed. The clock is
/// std::chrono::steady_clock. A rank may have any number of timers; each is used from one thread at
/// a time.
///
/// All calls throw usage_error if the timer was moved from.
///
/// Costs: start() and stop() read the clock and compare a name or two. The search for a name begins
/// after the last one that was found. The first run of a name allocates; later ones do not. All
/// calls are local, except start_synchronized() and aggregate().
class timer {
 public:
  /// Local. Keeps a copy of the communicator for aggregate().
  explicit timer(const communicator& ranks);
  timer(timer&& other) noexcept;
  timer& operator=(timer&& other) noexcept;
  ~timer();

  /// Begins to measure `name`, as a child of what runs. The name is copied the first time.
  void start(std::string_view name, std::source_location at = std::source_location::current());
  /// Collective: the same after a barrier, so that it does not measure the lateness of other ranks.
  void start_synchronized(std::string_view name,
                          std::source_location at = std::source_location::current());
  /// Ends the last start(). Throws usage_error if nothing runs.
  void stop(std::source_location at = std::source_location::current());
  /// The same, and also stores the time of this run. Allocates like a vector.
  void stop_and_append(std::source_location at = std::source_location::current());

  /// Adds to a counter, as a child of what runs. Counts are exact up to 2^53.
  void count(std::string_view name, double amount = 1,
             std::source_location at = std::source_location::current());

  /// Stops the timer at the end of its scope, with all children that were not stopped, for example
  /// because of an exception.
  class [[nodiscard]] scope {
   public:
    explicit scope(timer& of);  ///< of what `of` started last
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

   private:
    detail::measured_tree& tree_;
    int depth_;
  };
  /// Calls start(), and stop() at the end of the scope of the result. The timer must outlive the
  /// result.
  scope scoped(std::string_view name, std::source_location at = std::source_location::current()) {
    start(name, at);
    return scope(*this);
  }

  /// The values that aggregate() gathers.
  enum class extent : std::uint8_t {
    over_ranks,  ///< min, mean, max and sum over the ranks
    per_rank     ///< also the value of each rank, measurement::total_of
  };
  static constexpr extent per_rank = extent::per_rank;

  /// Collective: returns the measurements of all ranks so far, on all ranks. The ranks may have
  /// measured different things. Names at the same place are the same entry, and each number says
  /// how many ranks have it. The timer continues afterwards.
  ///
  /// Costs a bcast and an allreduce that compare the names, and an allreduce of 64 bytes for each
  /// name and 32 for each appended run. If the names differ it also costs a gather of them and a
  /// second bcast. per_rank costs an allgather of 8 bytes for each name, kept on every rank.
  ///
  /// Throws usage_error on a rank where something runs; the other ranks block until that rank
  /// exits.
  measurements aggregate(extent e = extent::over_ranks,
                         std::source_location at = std::source_location::current()) const;

  /// Discards all measurements. Throws usage_error if something runs.
  void clear(std::source_location at = std::source_location::current());

 private:
  /// Throws usage_error if the timer was moved from.
  detail::measured_tree& tree(const char* operation, const std::source_location& at) const;
  [[noreturn]] void reject(const char* operation, const std::string& problem, const char* remedy,
                           const std::source_location& at) const;

  communicator ranks_;
  detail::measured_tree* tree_;
};

}  // namespace tutti
TUTTI_API_END
