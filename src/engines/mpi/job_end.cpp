// SPDX-License-Identifier: Apache-2.0
//
// Ends a run over MPI. All ranks take part in a nonblocking reduction, which determines the
// rank that failed first. Meanwhile they receive failures. A failed rank does not wait for ever. If
// the others are in a wait that cannot be aborted, it reports its error and aborts the job.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <sched.h>
#include <time.h>

#include "base/forwarded_output.hpp"
#include "base/report_text.hpp"
#include "engines/mpi/group_messages.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/mpi_p2p.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

constexpr double grace = 2;  // seconds that the other ranks have to reach the end after a failure

void sleep_seconds(std::time_t seconds) {
  const timespec interval{seconds, 0};
  nanosleep(&interval, nullptr);
}

// The other ranks may still compute, so this rank leaves them the cores.
void back_off(double waited) {
  if (waited < 1e-3) {
    sched_yield();
    return;
  }
  const timespec interval{0, waited < 0.1 ? 50'000 : 500'000};
  nanosleep(&interval, nullptr);
}

}  // namespace

void mpi_endpoint::failed(std::exception_ptr what, const std::string& text) {
  try {
    failure_monitor_->poll();
    drop_on_node();  // their buffers may be freed already
    if (open_sends()) end_job(rank_, text);
    cause_ = !wait_aborted_ && !is_peer_error(what);
    if (!failure_monitor_->failed() || cause_) {
      thrown_ = std::move(what);
      thrown_text_ = text;
    }
    if (!failure_monitor_->failed()) failure_monitor_->fail(text);
    abandon(text.c_str());
  } catch (const error& e) {  // MPI itself fails
    end_job(rank_, text + " (" + e.what() + ")");
  }
}

void mpi_endpoint::report(const std::string& text) {
  if (reported_ || !report_) return;
  reported_ = true;
  node_counters_.claim_report();
  report_(rank_, text);
}

// Each job prints one report. The failed rank reports, and its abort ends the other ranks before
// they do. Several ranks may fail in the same way, for example if all call exit(). Then the first
// rank of a node reports, and on the other nodes nobody does before the first node had the time.
void mpi_endpoint::end_job(int rank, const std::string& text) {
  if (rank != rank_ || !on_first_node_) sleep_seconds(1);
  if (!reported_ && node_counters_.claim_report())
    std::fprintf(stderr, "tutti: rank %d failed: %s\n", rank, std::string(without_prefix(text)).c_str());
  else if (!reported_)
    sleep_seconds(10);  // the rank that reports aborts the job meanwhile
  std::fflush(stderr);
  wait_until_forwarded();
  aborts_ = true;
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

// The launcher usually ends the job before end_job() reports. Without the launcher, MPI_Abort may
// wait for ever.
void mpi_endpoint::end_job_after(const peer_watch::loss& what) {
  if (what.rank >= 0) end_job(what.rank, what.text);
  if (node_counters_.claim_report())
    std::fprintf(stderr, "tutti: rank %d ends: %s\n", rank_, what.text.c_str());
  std::fflush(stderr);
  aborts_ = true;
  std::_Exit(1);
}

// Returns false if the deadline has passed.
bool mpi_endpoint::complete(MPI_Request& request, double& deadline, double began) {
  for (;;) {
    int flag = 0;
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "run", rank_);
    if (flag) return true;
    const bool had_failed = failure_monitor_->failed();
    if (node_p2p_) progress_on_node();
    failure_monitor_->poll();
    failure_monitor_->all_sent();
    if (failure_monitor_->failed()) drain();
    const double now = seconds_now();
    if (peer_watch_ && !failure_monitor_->failed())
      if (const auto loss = peer_watch_->look(now)) end_job_after(*loss);
    // The rank that threw aborts the job first. A rank that only received a failure waits longer.
    if (failure_monitor_->failed() && !had_failed) deadline = now + 3 * grace;
    if (now > deadline + (failure_monitor_->reported_elsewhere() ? grace : 0)) return false;
    if (failure_monitor_->checks()) failure_monitor_->report_idle(nullptr, {}, now - began, progress_);
    // Its peers may receive long messages of this rank.
    back_off(node_p2p_ && node_p2p_->is_busy() ? 0 : now - began);
  }
}

outcome mpi_endpoint::end() {
  constexpr int nobody = std::numeric_limits<int>::max();
  outcome result;
  const double began = seconds_now();
  ++progress_;
  const bool mine = thrown_ != nullptr && failure_monitor_->failed_rank() == rank_;
  double deadline = failure_monitor_->failed() ? began + (mine ? grace : 3 * grace)
                                               : std::numeric_limits<double>::infinity();
  // The reduction finds the lowest rank that failed by itself. If none did, it finds the lowest
  // that failed because of others, encoded with an offset of size_. It also finds whether all ranks
  // can end normally, and whether no message is in progress.
  const int failed = cause_                       ? rank_
                     : failure_monitor_->failed() ? size_ + failure_monitor_->failed_rank()
                                                  : nobody;
  const bool all_sent = release_closed_p2p() && failure_monitor_->all_sent();
  const int local[3] = {failed, natives_ == 0 ? 1 : 0, all_sent ? 1 : 0};
  int agreed[3] = {};
  MPI_Request request;
  check(MPI_Iallreduce(local, agreed, 3, MPI_INT, MPI_MIN, control_, &request), "run", rank_);
  if (!complete(request, deadline, began)) {
    if (cause_) end_job(rank_, thrown_text_);
    end_job(failure_monitor_->failed_rank(), failure_monitor_->text());
  }
  if (agreed[0] == nobody) {
    failure_monitor_->poll();  // a rejection that came after this rank's last call
    if (failure_monitor_->checks() || agreed[2] == 0) complete_all_messages(seconds_now() + grace);
    return result;
  }
  result.failed_rank = agreed[0] % size_;
  std::string text = cause_                                                  ? thrown_text_
                     : result.failed_rank == failure_monitor_->failed_rank() ? failure_monitor_->text()
                                                                             : "";
  if (result.failed_rank == rank_) report(text);
  text.resize(8192);
  deadline = seconds_now() + 3 * grace;
  check(MPI_Ibcast(text.data(), static_cast<int>(text.size()), MPI_BYTE, result.failed_rank, control_,
                   &request),
        "run", rank_);
  if (!complete(request, deadline, began)) end_job(result.failed_rank, failure_monitor_->text());
  result.text = text.c_str();
  if (result.failed_rank == rank_) result.what = thrown_;
  // An MPI collective is incomplete on some rank, and MPI_Finalize would wait for it.
  if (agreed[1] == 0) {
    if (result.failed_rank == rank_) end_job(rank_, result.text);
    sleep_seconds(3);
    end_job(result.failed_rank, result.text);
  }
  complete_all_messages(seconds_now() + grace);
  if (result.failed_rank == rank_ && !result.what && failure_monitor_->deadlock())
    result.what = std::make_exception_ptr(deadlock_error("run", rank_, "", result.text, ""));
  return result;
}

// Receives messages until no rank has any in progress, because MPI_Finalize may wait for them.
void mpi_endpoint::complete_all_messages(double deadline) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  const double began = seconds_now();
  for (bool entered = false;;) {
    drain();
    failure_monitor_->poll();
    if (!entered && failure_monitor_->all_sent() && release_closed_p2p()) {
      check(MPI_Ibarrier(control_, &barrier), "run", rank_);
      entered = true;
    }
    if (entered) {
      int flag = 0;
      check(MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE), "run", rank_);
      if (flag) return;
    }
    const double now = seconds_now();
    if (now > deadline) {
      if (failure_monitor_->failed()) end_job(failure_monitor_->failed_rank(), failure_monitor_->text());
      throw engine_error("run", rank_, "", "messages of this run are still in progress at its end", "");
    }
    back_off(now - began);
  }
}

void mpi_endpoint::drain() {
  drain(job_);
  if (p2p_ != MPI_COMM_NULL) drain(p2p_);
  if (group_messages_) group_messages_->poll("run");
  drain(groups_);
  for (MPI_Comm c : opened_) drain(c);
  for (mpi_p2p_transport* c : p2p_transports_) c->discard_all();
  if (node_p2p_) node_p2p_->discard_all();
}

void mpi_endpoint::drain(MPI_Comm comm) {
  for (;;) {
    int flag = 0;
    MPI_Message found;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &found, &status), "run", rank_);
    if (!flag) return;
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    receive_and_discard(found, static_cast<std::size_t>(bytes));
  }
}

}  // namespace tutti::mpi
