// SPDX-License-Identifier: Apache-2.0
//
// Ends what an exception leaves unfinished on this rank, before the buffers are freed. MPI must not
// use a buffer that the program has freed, even if the program catches the exception.
#include <exception>
#include <string>
#include <utility>

#include <sched.h>

#include "engines/mpi/group_messages.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/uncaught_exception.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

std::string what_of(const std::exception_ptr& what) {
  try {
    std::rethrow_exception(what);
  } catch (...) {
    return failure_of(-1).text;
  }
}

}  // namespace

// Ends every message in progress, because the exception may free the buffers. Receives are
// cancelled. Sends cannot be cancelled. But every rank that knows of the failure receives what is
// sent to it, so they complete.
void mpi_endpoint::end_messages(const char* why) {
  if (group_messages_) group_messages_->cancel_receives();
  for (std::uint32_t index = 0; index < messages_.size(); ++index) {
    message& m = messages_[index];
    if (m.busy && m.unmatched)
      end_message(index);
    else if (m.busy && m.receives && m.request != MPI_REQUEST_NULL)
      MPI_Cancel(&m.request);
  }
  const double deadline = seconds_now() + 2;
  for (;;) {
    bool waiting = false;
    for (std::uint32_t index = 0; index < messages_.size(); ++index) {
      message& m = messages_[index];
      if (!m.busy) continue;
      int flag = 0;
      if (MPI_Test(&m.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) flag = 1;
      if (flag)
        end_message(index);
      else
        waiting = true;
    }
    if (!waiting) return;
    if (!failure_monitor_->failed()) failure_monitor_->poll();
    if (failure_monitor_->failed()) drain();
    if (seconds_now() > deadline) {
      if (failure_monitor_->failed()) end_job(failure_monitor_->failed_rank(), failure_monitor_->text());
      end_job(rank_, why);
    }
    sched_yield();
  }
}

// Whether a send is in progress, whose buffer may already be freed.
bool mpi_endpoint::open_sends() {
  for (message& m : messages_) {
    int flag = 0;
    if (!m.busy || m.receives) continue;
    if (MPI_Test(&m.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || !flag) return true;
  }
  return false;
}

bool mpi_endpoint::has_messages() const noexcept {
  for (const message& m : messages_)
    if (m.busy) return true;
  return false;
}

// An MPI collective cannot be cancelled. It may never complete, because other ranks do not call it.
// So the processes end. As at the end of a run, the ranks first determine whose error they report.
void mpi_endpoint::end_in_collective() {
  try {
    static_cast<void>(end());
  } catch (const std::exception&) {
    // MPI has failed.
  }
  end_job(cause_ ? rank_ : failure_monitor_->failed_rank(), cause_ ? thrown_text_ : failure_monitor_->text());
}

// A destructor passes an error that says less than the exception that unwinds this rank.
void mpi_endpoint::abandon(std::exception_ptr what) noexcept {
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  if (natives_ == 0 && !has_messages()) return;
  const uncaught_exception& unwinding = current_uncaught_exception();
  const std::string text = unwinding.text != nullptr ? unwinding.text : what_of(what);
  try {
    failure_monitor_->poll();
    if (!failure_monitor_->failed()) failure_monitor_->fail(text);
    if (natives_ == 0) return end_messages(text.c_str());
    cause_ = !wait_aborted_ && !(unwinding.text != nullptr ? unwinding.is_peer_error : is_peer_error(what));
    thrown_ = std::move(what);
    thrown_text_ = text;
  } catch (const std::exception& e) {  // MPI itself fails
    end_job(rank_, text + " (" + e.what() + ")");
  }
  end_in_collective();
}

}  // namespace tutti::mpi
