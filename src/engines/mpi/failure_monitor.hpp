// SPDX-License-Identifier: Apache-2.0
//
// Distributes failures among the ranks of an MPI job, over a communicator of its own. A rank that
// throws sends a notice to all ranks. The others look for notices while they wait, and at the end
// of the program. In checked mode, ranks that wait long without progress report to rank 0. Rank 0
// detects that no rank is left that could free them.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "engines/mpi/mpi_base.hpp"
#include "transport/shm/wait_interface.hpp"

namespace tutti::mpi {

double seconds_now() noexcept;

class failure_monitor {
 public:
  /// `control`: a communicator for this object only; the caller keeps ownership. `patience`: the
  /// seconds without progress after which a rank reports itself in checked mode.
  failure_monitor(MPI_Comm control, bool check, double patience);

  bool failed() const noexcept { return failed_rank_ >= 0; }
  bool deadlock() const noexcept { return deadlock_; }
  /// True if this rank has failed and so has a rank with a lower number. That rank reports if the
  /// job must be aborted.
  bool another_reports() const noexcept { return another_reports_; }
  int failed_rank() const noexcept { return failed_rank_; }
  const std::string& text() const noexcept { return text_; }
  bool checks() const noexcept { return check_; }

  /// Called if this rank is the first to fail, as far as it knows. Sends a notice to all ranks.
  void fail(const std::string& text);
  /// Receives the notices and reports that have arrived. The caller reads failed() afterwards.
  void look();
  /// Called in checked mode if this rank has waited at `site` for `idle` seconds without progress.
  /// A null `site` means that it has returned from the program. `at` is the location of its call.
  /// `progress` changes with every progress of the rank.
  void idle(const shm::wait_site* site, const std::source_location& at, double idle, std::uint64_t progress);

  /// Completes sends as far as possible. Returns true if none is in progress.
  bool all_sent();

 private:
  enum tag : int { notice_tag = 1, report_tag = 2 };
  enum class state : std::int32_t { waiting, finished };
  static constexpr std::size_t longest_failure = 1024, longest_deadlock = 8192;
  struct head {
    std::int32_t rank;    // notice: the rank that failed; report: the rank that reports
    std::int32_t kind;    // notice: 1 is a deadlock; report: a state
    std::uint64_t value;  // report: progress
  };
  struct outgoing {
    std::vector<char> bytes;
    std::vector<MPI_Request> requests;
  };
  struct report {
    std::uint64_t progress = 0;
    // Arrival times of the first and the last report with the same progress.
    double first = 0, last = 0;
    state how = state::waiting;
    std::string text;
  };

  void report_all(int failed_rank, bool is_deadlock, const std::string& text);
  void take(const head& h, int tag, std::string text);
  void note(int rank, state how, std::uint64_t progress, std::string text);
  void judge();

  MPI_Comm control_;
  int rank_ = 0, size_ = 1;
  bool check_, deadlock_ = false, another_reports_ = false;
  int failed_rank_ = -1;
  std::string text_;
  std::list<outgoing> outgoing_;
  MPI_Request report_sent_ = MPI_REQUEST_NULL;
  std::vector<char> report_bytes_;
  double patience_ = 0;  // seconds without progress before a rank reports itself
  double reported_ = 0;
  bool judging_ = false;         // rank 0, while it is stuck itself
  std::vector<report> reports_;  // on rank 0
};

}  // namespace tutti::mpi
