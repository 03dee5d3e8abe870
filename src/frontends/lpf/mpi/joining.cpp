// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/mpi/joining.hpp"

#include <string>

#include <time.h>

#include "engines/mpi/error_text.hpp"
#include "tutti/error.hpp"

namespace tutti::lpf {
namespace {

constexpr int setup_tag = 20150;

// Waits for completion. Returns false if the deadline passes.
bool wait_until(MPI_Request& request, std::chrono::steady_clock::time_point until) {
  for (;;) {
    int flag = 0;
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (flag) return true;
    if (std::chrono::steady_clock::now() > until) return false;
    const timespec interval{0, 100'000};
    nanosleep(&interval, nullptr);
  }
}

void cancel(MPI_Request& request) {
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  throw engine_error("lpf_mpi_initialize_over_tcp", -1, "",
                     std::string(function) + ": " + mpi::error_text(code), "");
}

bool receives_from_neighbor(const std::vector<int>& ranks, int pid, unsigned long long nonce,
                            std::chrono::steady_clock::time_point until) {
  const int p = static_cast<int>(ranks.size());
  const auto rank_of = [&](int number) { return ranks[static_cast<std::size_t>((number + p) % p)]; };
  MPI_Request sent = MPI_REQUEST_NULL;
  check(MPI_Isend(&nonce, 1, MPI_UNSIGNED_LONG_LONG, rank_of(pid + 1), setup_tag, MPI_COMM_WORLD, &sent),
        "MPI_Isend");
  // A message of an earlier, failed call may arrive first.
  unsigned long long received = nonce + 1;
  while (received != nonce) {
    MPI_Request receive = MPI_REQUEST_NULL;
    check(MPI_Irecv(&received, 1, MPI_UNSIGNED_LONG_LONG, rank_of(pid - 1), setup_tag, MPI_COMM_WORLD,
                    &receive),
          "MPI_Irecv");
    if (wait_until(receive, until)) continue;
    cancel(receive);
    break;
  }
  // The code assumes that a send of 8 bytes does not wait for the receive. Open MPI and MPICH meet
  // this assumption by default.
  const bool is_sent = wait_until(sent, until);
  if (!is_sent) cancel(sent);
  return is_sent && received == nonce;
}

MPI_Comm make_communicator(const std::vector<int>& ranks) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
  check(MPI_Comm_create_group(MPI_COMM_WORLD, some, setup_tag, &made), "MPI_Comm_create_group");
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

}  // namespace tutti::lpf
