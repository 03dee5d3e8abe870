// SPDX-License-Identifier: Apache-2.0
//
// How the ranks of an MPI job learn that one of them has failed, over a communicator that carries nothing
// else. A rank that throws sends everybody a notice; the others look for one now and then while they wait,
// and at the end of the program. In checked mode ranks that have waited long for nothing report to rank 0,
// which sees when nobody is left who could free them.
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
  /// `control`: a communicator of its own, which stays the caller's. `patience`: in checked mode, the seconds
  /// without progress before a rank reports itself.
  failure_monitor(MPI_Comm control, bool check, double patience);

  bool failed() const noexcept { return failed_rank_ >= 0; }
  bool deadlock() const noexcept { return deadlock_; }
  /// This rank has failed, and so has one of a lower number, which reports if the job has to be ended.
  bool another_reports() const noexcept { return another_reports_; }
  int failed_rank() const noexcept { return failed_rank_; }
  const std::string& text() const noexcept { return text_; }
  bool checks() const noexcept { return check_; }

  /// This rank is the first to fail, as far as it knows: tells everybody.
  void fail(const std::string& text);
  /// Takes in what has come. The caller sees failed() then.
  void look();
  /// In checked mode: this rank waits at `site` and nothing has come of it for `idle` seconds (null: it has
  /// returned from the program). `at`: the place of its call. `progress` changes whenever something does.
  void idle(const shm::wait_site* site, const std::source_location& at, double idle, std::uint64_t progress);

  /// Ends what was sent, as far as it can be; true when nothing of it is under way.
  bool all_sent();

 private:
  enum tag : int { notice_tag = 1, report_tag = 2 };
  enum class state : std::int32_t { waiting, finished };
  static constexpr std::size_t longest_failure = 1024, longest_deadlock = 8192;
  struct head {
    std::int32_t rank;    // notice: who failed; report: who reports
    std::int32_t kind;    // notice: 1 is a deadlock; report: a state
    std::uint64_t value;  // report: progress
  };
  struct outgoing {
    std::vector<char> bytes;
    std::vector<MPI_Request> requests;
  };
  struct report {
    std::uint64_t progress = 0;
    double first = 0, last = 0;  // when it came, and when it came last with the same progress
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
  std::vector<report> reports_;  // rank 0
};

}  // namespace tutti::mpi
