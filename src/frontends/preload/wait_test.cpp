// SPDX-License-Identifier: Apache-2.0
//
// MPI_Wait* and MPI_Test*, which progress tutti's pending calls, and the blocking messages. A rank
// that waits for a message may have begun a collective that other ranks wait for. If no call of
// tutti is pending, MPI's own functions run.
#include "frontends/preload/pending_calls.hpp"
#include "frontends/preload/preload_process.hpp"

namespace {

using namespace tutti::preload;

// Null: MPI's own function does everything. With several threads, another one may begin a call
// during this wait.
pending_calls* active_calls() noexcept {
  if (process* const p = current())
    if (!pending_calls::empty() || pending_calls::failures() != 0 ||
        (p->multithreaded && p->serves_nonblocking)) [[unlikely]]
      return p->pending.get();
  return nullptr;
}

void progress_pending() {
  if (pending_calls* const calls = active_calls()) [[unlikely]]
    calls->progress();
}

// Calls MPI about requests. Errors of tutti's calls have been reported; other errors are reported
// to MPI's handler.
template <class Call>
int call_mpi(Call call) {
  process* const p = current();
  const std::size_t before = pending_calls::failures();
  if (before == 0 || p == nullptr) [[likely]]
    return call();
  int code = MPI_SUCCESS;
  {
    const quiet_errors quiet(p->handlers);
    code = call();
  }
  if (code != MPI_SUCCESS && pending_calls::failures() == before)
    PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  return code;
}

// In checked mode, ranks that receive messages must not count as stuck.
void progressed() {
  process* const p = current();
  if (p == nullptr || !p->comparison) return;
  const auto held = p->mutex.lock();
  p->ep->progressed();
}

// Repeats `test`, which sets its flag on success, until it succeeds or MPI returns an error.
template <class Test>
int wait_until(pending_calls& calls, Test test) {
  for (backoff p;; p.pause()) {
    int flag = 0;
    calls.progress();
    const int code = call_mpi([&] { return test(flag); });
    if (flag) progressed();
    if (flag || code != MPI_SUCCESS) return code;
  }
}

int wait_for(pending_calls& calls, MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
  return wait_until(calls, [&](int& flag) { return real<MPI_Test>(&request, &flag, status); });
}

}  // namespace

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Wait>(request, status);
  return wait_until(*calls, [&](int& flag) { return real<MPI_Test>(request, &flag, status); });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Waitall>(count, requests, statuses);
  return wait_until(*calls, [&](int& flag) { return real<MPI_Testall>(count, requests, &flag, statuses); });
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Waitany>(count, requests, index, status);
  const int code =
      wait_until(*calls, [&](int& flag) { return real<MPI_Testany>(count, requests, index, &flag, status); });
  // If there was no request, MPICH's MPI_Testany leaves the status unchanged, whereas MPI_Waitany
  // makes it empty.
  if (code == MPI_SUCCESS && *index == MPI_UNDEFINED && status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
  }
  return code;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Waitsome>(count, requests, done, indices, statuses);
  return wait_until(*calls, [&](int& flag) {
    const int code = real<MPI_Testsome>(count, requests, done, indices, statuses);
    flag = code != MPI_SUCCESS || *done != 0;
    return code;
  });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  progress_pending();
  return call_mpi([=] { return real<MPI_Test>(request, flag, status); });
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  progress_pending();
  return call_mpi([=] { return real<MPI_Testall>(count, requests, flag, statuses); });
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  progress_pending();
  return call_mpi([=] { return real<MPI_Testany>(count, requests, index, flag, status); });
}

int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  progress_pending();
  return call_mpi([=] { return real<MPI_Testsome>(count, requests, done, indices, statuses); });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  progress_pending();
  return real<MPI_Request_get_status>(request, flag, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  progress_pending();
  return real<MPI_Iprobe>(source, tag, comm, flag, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  progress_pending();
  return real<MPI_Improbe>(source, tag, comm, flag, message, status);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Probe>(source, tag, comm, status);
  return wait_until(*calls, [&](int& flag) { return real<MPI_Iprobe>(source, tag, comm, &flag, status); });
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Mprobe>(source, tag, comm, message, status);
  return wait_until(*calls,
                    [&](int& flag) { return real<MPI_Improbe>(source, tag, comm, &flag, message, status); });
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Recv>(buffer, count, type, source, tag, comm, status);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, &request);
  return code != MPI_SUCCESS ? code : wait_for(*calls, request, status);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Send>(buffer, count, type, to, tag, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Isend(buffer, count, type, to, tag, comm, &request);
  return code != MPI_SUCCESS ? code : wait_for(*calls, request);
}

int MPI_Ssend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Ssend>(buffer, count, type, to, tag, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Issend(buffer, count, type, to, tag, comm, &request);
  return code != MPI_SUCCESS ? code : wait_for(*calls, request);
}

int MPI_Rsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Rsend>(buffer, count, type, to, tag, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = PMPI_Irsend(buffer, count, type, to, tag, comm, &request);
  return code != MPI_SUCCESS ? code : wait_for(*calls, request);
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  pending_calls* const calls = active_calls();
  if (calls == nullptr) [[likely]]
    return real<MPI_Sendrecv>(out, out_count, out_type, to, out_tag, in, in_count, in_type, source, in_tag,
                              comm, status);
  MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
  int code = PMPI_Irecv(in, in_count, in_type, source, in_tag, comm, &receive);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Isend(out, out_count, out_type, to, out_tag, comm, &send);
  if (code != MPI_SUCCESS) {
    PMPI_Cancel(&receive);
    PMPI_Request_free(&receive);
    return code;
  }
  const int sent = wait_for(*calls, send);
  const int received = wait_for(*calls, receive, status);
  return received != MPI_SUCCESS ? received : sent;
}

// Sends from a copy.
int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int source,
                         int in_tag, MPI_Comm comm, MPI_Status* status) {
  pending_calls* const calls = active_calls();
  int bytes = 0, at = 0;
  if (calls == nullptr || PMPI_Pack_size(count, type, comm, &bytes) != MPI_SUCCESS) [[likely]]
    return real<MPI_Sendrecv_replace>(buffer, count, type, to, out_tag, source, in_tag, comm, status);
  std::vector<std::byte> copy(static_cast<std::size_t>(bytes));
  const int code = PMPI_Pack(buffer, count, type, copy.data(), bytes, &at, comm);
  if (code != MPI_SUCCESS) return code;
  return MPI_Sendrecv(copy.data(), at, MPI_PACKED, to, out_tag, buffer, count, type, source, in_tag, comm,
                      status);
}
}
