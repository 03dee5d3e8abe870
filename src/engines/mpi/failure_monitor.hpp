// SPDX-License-Identifier: Apache-2.0
//
// Distributes failures among the ranks of an MPI job, over a communicator of its own. A rank that
// throws sends its failure to all ranks. The others poll for failures while they wait, and at the
// end of the program. In checked mode, ranks that wait long without progress report to rank 0. Rank
// 0 detects that no rank is left that could free them.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "engines/mpi/mpi_base.hpp"
#include "transport/rejection.hpp"
#include "transport/shm/wait_interface.hpp"

namespace tutti::mpi {

using namespace tutti::detail;

double seconds_now() noexcept;

class failure_monitor {
 public:
  /// `control`: a communicator for this object only; the caller keeps ownership. `timeout`: the
  /// seconds without progress after which a rank reports itself in checked mode.
  failure_monitor(MPI_Comm control, bool check, double timeout);

  bool failed() const noexcept { return failed_rank_ >= 0; }
  bool deadlock() const noexcept { return deadlock_; }
  /// True if this rank has failed and so has a rank with a lower number. That rank reports if the
  /// job must be aborted.
  bool reported_elsewhere() const noexcept { return reported_elsewhere_; }
  int failed_rank() const noexcept { return failed_rank_; }
  const std::string& text() const noexcept { return text_; }
  bool checks() const noexcept { return check_; }

  /// Called if this rank is the first to fail, as far as it knows. Sends the failure to all ranks.
  void fail(const std::string& text);
  /// Receives the failures and reports that have arrived. The caller reads failed() afterwards.
  void poll();
  /// Called in checked mode if this rank has waited at `site` for `idle` seconds without progress.
  /// A null `site` means that it has returned from the program. `call` is its call of the program.
  /// `progress` changes with every progress of the rank.
  void report_idle(const shm::wait_site* site, const detail::current_call& call, double idle,
                   std::uint64_t progress);

  /// Rejections travel on the same communicator. poll() passes those that arrive to `inbox`.
  /// After a synchronous send, all_sent() returns true only when the receiver has received it.
  enum class send_mode : std::uint8_t { standard, synchronous };
  void send_rejection(int to, const rejection& what, send_mode mode);
  void receive_rejections(rejection_inbox* inbox) noexcept { inbox_ = inbox; }
  std::uint32_t rejections_received() const noexcept { return rejections_received_; }

  /// Completes sends as far as possible. Returns true if none is in progress.
  bool all_sent();

 private:
  enum tag : int { failure_tag = 1, idle_report_tag = 2, rejection_tag = 3 };
  enum class failure_kind : std::int32_t { error, deadlock };
  enum class state : std::int32_t { waiting, finished };
  static constexpr std::size_t max_failure_text = 1024, max_deadlock_text = 8192;
  struct head {
    std::int32_t rank;    // the rank that failed, reports, or (in its communicator) rejected
    std::int32_t kind;    // failure: a failure_kind; report: a state; rejection: id of the call
    std::uint64_t value;  // report: progress; rejection: id of the context
  };
  struct rejection_head {  // between head and text
    std::int32_t first, end, to_whole_job;
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

  void send_failure(int failed_rank, failure_kind kind, const std::string& text);
  void handle(const head& h, int tag, std::string text);
  void record(int rank, state how, std::uint64_t progress, std::string text);
  void detect_deadlock();

  MPI_Comm control_;
  rejection_inbox* inbox_ = nullptr;
  std::uint32_t rejections_received_ = 0;
  int rank_ = 0, size_ = 1;
  bool check_, deadlock_ = false, reported_elsewhere_ = false;
  int failed_rank_ = -1;
  std::string text_;
  std::list<outgoing> outgoing_;
  MPI_Request report_sent_ = MPI_REQUEST_NULL;
  std::vector<char> report_bytes_;
  double timeout_ = 0;  // seconds without progress before a rank reports itself
  double last_report_ = 0;
  bool collecting_ = false;      // rank 0, while it is stuck itself
  std::vector<report> reports_;  // on rank 0
};

}  // namespace tutti::mpi
