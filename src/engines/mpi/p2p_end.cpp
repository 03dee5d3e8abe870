// SPDX-License-Identifier: Apache-2.0
//
// How point-to-point messages end over MPI: cancelled receives, and the messages that a transport
// leaves to the endpoint. The endpoint frees them when MPI has completed them.
#include <chrono>

#include <sched.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/mpi_p2p.hpp"
#include "engines/mpi/returned_errors.hpp"

namespace tutti::mpi {

namespace {

// As MPI_Test(), but returns errors as codes even if the program's error handlers would end the
// job.
int test_quietly(MPI_Request& request, MPI_Comm shared, int& flag, MPI_Status& status) {
#ifdef OPEN_MPI  // its MPI_Request_get_status() calls no handler
  const int early = MPI_Request_get_status(request, &flag, &status);
  if (early != MPI_SUCCESS || !flag) return early;
#endif
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(shared, &before) != MPI_SUCCESS) before = MPI_ERRHANDLER_NULL;
  MPI_Comm_set_errhandler(shared, MPI_ERRORS_RETURN);
  int result = MPI_SUCCESS;
  {
    const returned_errors others;  // for errors that MPI reports to other communicators
    result = MPI_Test(&request, &flag, &status);
  }
  if (before != MPI_ERRHANDLER_NULL) {
    MPI_Comm_set_errhandler(shared, before);
    MPI_Errhandler_free(&before);
  }
  return result;
}

}  // namespace

bool mpi_endpoint::finished_with(transfer& t, MPI_Status& status, bool& longer, MPI_Comm shared,
                                 const shm::wait_site& site) {
  const ticket own = *reinterpret_cast<const ticket*>(t.state);
  message& m = messages_[own.row];
  if (!m.busy || m.generation != own.generation) [[unlikely]]
    throw_abandoned(site);
  int flag = 0;
  const int code = shared == MPI_COMM_NULL ? MPI_Test(&m.request, &flag, &status)
                                           : test_quietly(m.request, shared, flag, status);
  longer = code != MPI_SUCCESS && is_truncation(code);
  if (code != MPI_SUCCESS && !longer) [[unlikely]]
    throw_transfer_error(own.row, code, site);
  if (!flag && !longer) return false;
  end_message(own.row);
  return true;
}

void mpi_endpoint::cancel(transfer& t) noexcept {
  const ticket own = *reinterpret_cast<const ticket*>(t.state);
  message& m = messages_[own.row];
  if (!m.busy || m.generation != own.generation || !may_talk()) return;
  MPI_Cancel(&m.request);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  for (int flag = 0; std::chrono::steady_clock::now() < end;) {
    if (MPI_Test(&m.request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag) return end_message(own.row);
    sched_yield();
  }
}

bool mpi_endpoint::may_talk() const noexcept {
  int over = 0;
  return MPI_Finalized(&over) == MPI_SUCCESS && !over && !failure_monitor_->failed();
}

void mpi_endpoint::reap(std::vector<kept_message>& some) {
  const shm::wait_site site{"sending", "", "", -1, -1, shm::wait_site::unnumbered};
  for (std::size_t i = 0; i < some.size();) {
    if (!finished(some[i].moving, site)) {
      ++i;
      continue;
    }
    some[i] = std::move(some.back());
    some.pop_back();
  }
}

void mpi_endpoint::retire_p2p(MPI_Comm comm, std::vector<kept_message> left) noexcept {
  retired_.push_back({comm, std::move(left)});
  p2p_has_ended();
}

// Frees what transports left, as far as it is complete. Returns true if nothing is left.
bool mpi_endpoint::p2p_has_ended() noexcept {
  if (!may_talk()) return true;
  for (std::size_t i = 0; i < retired_.size();) {
    retired& one = retired_[i];
    try {
      reap(one.left);
    } catch (...) {
      return true;  // the job is failing
    }
    if (!one.left.empty()) {
      ++i;
      continue;
    }
    if (one.comm != MPI_COMM_NULL) retire(one.comm);
    if (i + 1 != retired_.size()) one = std::move(retired_.back());
    retired_.pop_back();
  }
  return retired_.empty();
}

// Messages that no rank receives within two seconds are leaked, because MPI may read them until the
// process ends.
void mpi_endpoint::end_p2p() noexcept {
  const double end = seconds_now() + 2;
  while (!p2p_has_ended() && seconds_now() < end) sched_yield();
  for (retired& one : retired_) {
    for (kept_message& left : one.left) static_cast<void>(left.data.release());
    if (one.comm != MPI_COMM_NULL) MPI_Comm_free(&one.comm);
  }
}

}  // namespace tutti::mpi
