// SPDX-License-Identifier: Apache-2.0
//
// Completes point-to-point messages over MPI: tests and ends receives, and frees the messages
// that a transport leaves to the endpoint when MPI has completed them.
#include <exception>

#include <sched.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/mpi_p2p.hpp"
#include "engines/mpi/returned_errors.hpp"

namespace tutti::mpi {

namespace {

// As MPI_Test(), but returns errors as codes even if the program's error handlers would end the
// job.
int test_returning_errors(MPI_Request& request, MPI_Comm program_comm, int& flag, MPI_Status& status) {
#ifdef OPEN_MPI  // its MPI_Request_get_status() calls no handler
  const int early = MPI_Request_get_status(request, &flag, &status);
  if (early != MPI_SUCCESS || !flag) return early;
#endif
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(program_comm, &before) != MPI_SUCCESS) before = MPI_ERRHANDLER_NULL;
  MPI_Comm_set_errhandler(program_comm, MPI_ERRORS_RETURN);
  int result = MPI_SUCCESS;
  {
    // MPI may call the handler of MPI_COMM_WORLD or MPI_COMM_SELF instead.
    const returned_errors guard;
    result = MPI_Test(&request, &flag, &status);
  }
  if (before != MPI_ERRHANDLER_NULL) {
    MPI_Comm_set_errhandler(program_comm, before);
    MPI_Errhandler_free(&before);
  }
  return result;
}

// Whether MPI has completed the request, even with an error. Calls no error handler of the program,
// whose communicator may already be freed.
bool is_complete(MPI_Request request) {
  const returned_errors guard;
  int flag = 0;
  MPI_Status status;
  return MPI_Request_get_status(request, &flag, &status) != MPI_SUCCESS || flag != 0;
}

// Removes the elements that meet the condition. The order of the others changes.
template <class T, class Condition>
void erase_unordered_if(std::vector<T>& all, const Condition& condition) {
  for (std::size_t i = 0; i < all.size();) {
    if (!condition(all[i])) {
      ++i;
      continue;
    }
    if (i + 1 != all.size()) all[i] = std::move(all.back());
    all.pop_back();
  }
}

}  // namespace

bool mpi_endpoint::test_receive(transfer& t, MPI_Status& status, bool& truncated, MPI_Comm program_comm,
                                const shm::wait_site& site) {
  const request_id id = *reinterpret_cast<const request_id*>(t.state);
  message& m = messages_[id.index];
  // An earlier error on this rank abandons all messages, and their entries are used again.
  if (!m.busy || m.generation != id.generation) [[unlikely]]
    throw_abandoned(site);
  int flag = 0;
  const int code = program_comm == MPI_COMM_NULL
                       ? MPI_Test(&m.request, &flag, &status)
                       : test_returning_errors(m.request, program_comm, flag, status);
  truncated = code != MPI_SUCCESS && is_truncation(code);
  if (code != MPI_SUCCESS && !truncated) [[unlikely]]
    throw_transfer_error(id.index, code, site);
  if (!flag && !truncated) return false;
  end_message(id.index);
  return true;
}

// Does not progress the other operations of this rank. The queue of this receive may be among them,
// and its list is being changed.
void mpi_endpoint::end_receive(transfer& t) noexcept {
  const request_id id = *reinterpret_cast<const request_id*>(t.state);
  const auto under_way = [&] {
    const message& m = messages_[id.index];
    return m.busy && m.generation == id.generation;
  };
  int finalized = 0;
  if (!under_way() || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  const shm::wait_site site{
      "the end of a receive", "", "the rest of a message from", messages_[id.index].peer, -1,
      shm::wait_site::unnumbered};
  try {
    MPI_Cancel(&messages_[id.index].request);
    while (!is_complete(messages_[id.index].request)) {
      poll_failures(site);
      sched_yield();
    }
    MPI_Request_free(&messages_[id.index].request);
    end_message(id.index);
  } catch (const std::exception& e) {
    // The error of another rank has ended all messages. Otherwise MPI may still write to the
    // buffer.
    if (under_way()) end_job(rank_, e.what());
  }
}

bool mpi_endpoint::can_communicate() const noexcept {
  int finalized = 0;
  return MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized && !failure_monitor_->failed();
}

void mpi_endpoint::release_completed(std::vector<buffered_message>& some) {
  const shm::wait_site site{.operation = "sending", .run = shm::wait_site::unnumbered};
  erase_unordered_if(some, [&](buffered_message& one) { return finished(one.state, site); });
}

// Receives and discards a message.
void mpi_endpoint::receive_and_discard(MPI_Message matched, std::size_t bytes) {
  std::vector<std::byte> discarded(bytes);
  typed_count s = types_->of(element{}, bytes);
  MPI_Mrecv(discarded.data(), s.count, s.type, &matched, MPI_STATUS_IGNORE);
  s.free();
}

void mpi_endpoint::close_p2p(MPI_Comm comm, std::vector<buffered_message> pending) noexcept {
  closed_p2p_.push_back({comm, std::move(pending)});
  static_cast<void>(release_closed_p2p());
}

// Frees the complete messages of closed transports. Returns true if none is pending, or if MPI can
// complete no more.
bool mpi_endpoint::release_closed_p2p() noexcept {
  if (!can_communicate()) return true;
  try {
    if (node_p2p_) node_p2p_->progress();
    erase_unordered_if(closed_p2p_, [&](closed_p2p& one) {
      release_completed(one.pending);
      if (!one.pending.empty()) return false;
      if (one.comm != MPI_COMM_NULL) free_comm(one.comm);
      return true;
    });
  } catch (...) {
    return true;  // the job is failing
  }
  return closed_p2p_.empty() && !(node_p2p_ && node_p2p_->is_busy());
}

void mpi_endpoint::progress_on_node() {
  for (mpi_endpoint* const one : with_node_memory_) one->node_p2p_->progress();
}

void mpi_endpoint::progress_on_node_inside_mpi() noexcept {
  try {
    for (mpi_endpoint* const one : with_node_memory_)
      if (one->native_.load(std::memory_order_relaxed) != 0) return progress_on_node();
  } catch (...) {
    // There is no memory for a message. It stays in its ring.
  }
}

// The channels forget the memory of the messages before their owner frees it.
void mpi_endpoint::drop_on_node() noexcept {
  if (!node_messages_) return;
  node_messages_->drop();
  node_p2p_->drop_all();
}

// Messages that no rank receives within two seconds are leaked, because MPI may read them until the
// process ends. Their communicators remain in opened_, which the destructor frees.
void mpi_endpoint::end_p2p() noexcept {
  const double end = seconds_now() + 2;
  try {
    if (node_p2p_) node_p2p_->discard_all();
  } catch (...) {
    // Their senders stop waiting after two seconds.
  }
  while (!release_closed_p2p() && seconds_now() < end) sched_yield();
  for (closed_p2p& one : closed_p2p_)
    for (buffered_message& m : one.pending) static_cast<void>(m.data.release());
}

}  // namespace tutti::mpi
