// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_mpi_initialize_over_tcp(): MPI processes find one another at a TCP port. If they
// belong to one job, they have MPI_COMM_WORLD in common. They make a communicator from it,
// without the other processes. A launcher need not name its jobs. So each process must receive
// a message from another one by MPI, which proves that they belong to one job.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>
#include <unistd.h>

#include "frontends/lpf/mpi/hooked_process.hpp"
#include "frontends/lpf/mpi/joining.hpp"
#include "frontends/lpf/mpi/rendezvous.hpp"
#include "frontends/lpf/report_error.hpp"
#include "lpf/mpi.h"
#include "runtime/launch/modules.hpp"
#include "tutti/error.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

constexpr const char* operation_name = "lpf_mpi_initialize_over_tcp";

// The program need not finalize an MPI that it has not initialized.
void finalize_at_exit() {
  int over = 0;
  if (MPI_Finalized(&over) == MPI_SUCCESS && !over) MPI_Finalize();
}

void begin_mpi() {
  int begun = 0, over = 0, provided = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  if (over) throw usage_error(operation_name, -1, "", "MPI is finalized", "call it before MPI_Finalize");
  if (begun) return;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  std::atexit(&finalize_at_exit);
}

// The name of the job, as far as its launcher gives one. A process without a launcher gets a unique
// name.
std::string name_of_job() {
  const launcher by = find_launcher();
  std::string name = by.module + by.variable;
  for (const char* variable : {"PMIX_NAMESPACE", "PMI_JOBID", "PMI_KVSNAME", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char* value = secure_getenv(variable)) name += "/" + std::string(value);
  if (by.mpi) return name;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return "alone/" + std::string(host.data()) + "/" + std::to_string(getpid());
}

// Describes this process to process 0: "rank size job".
std::string local_contact() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return std::to_string(rank) + ' ' + std::to_string(size) + ' ' + name_of_job();
}

// Returns "NONCE 2 0 1": a number that no other call has, and the ranks.
std::string plan_for(const std::vector<std::string>& contacts) {
  std::string plan = std::to_string(std::random_device()() + (std::uint64_t{std::random_device()()} << 32)),
              job;
  std::set<std::string> ranks;
  for (const std::string& contact : contacts) {
    const auto blank = contact.find(' ');
    const std::string rank = contact.substr(0, blank);
    if (job.empty()) job = contact.substr(blank);
    if (job != contact.substr(blank) || !ranks.insert(rank).second) throw std::runtime_error(not_of_one_job);
    plan += ' ' + rank;
  }
  return plan;
}

struct plan {
  unsigned long long nonce = 0;
  std::vector<int> ranks;

  explicit plan(const std::string& text) {
    std::istringstream words(text);
    words >> nonce;
    for (int r = 0; words >> r;) ranks.push_back(r);
  }
};

lpf_init_t initialize(const rendezvous& where) {
  reject_if_processes_wait(operation_name);
  begin_mpi();
  const auto attempt = [&](const std::string& reply) {
    const plan all(reply);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    return receives_from_neighbor(all.ranks, static_cast<int>(where.pid), all.nonce, deadline);
  };
  MPI_Comm comm = make_communicator(plan(run_rendezvous(where, local_contact(), {&plan_for, attempt})).ranks);
  const lpf_init_t made = make_hooked_process(comm);
  MPI_Comm_free(&comm);
  return made;
}

}  // namespace
}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_mpi_initialize_over_tcp(const char* server, const char* port, int timeout,
                                                 lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init) {
  const char* invalid_argument = server == nullptr ? "server"
                                 : port == nullptr ? "port"
                                 : timeout < 0     ? "timeout"
                                 : pid >= nprocs   ? "pid"
                                 : init == nullptr ? "init"
                                                   : nullptr;
  if (invalid_argument != nullptr) {
    report_error(operation_name, static_cast<int>(pid), invalid_argument,
                 timeout < 0 || pid >= nprocs ? "timeout is " + std::to_string(timeout) + ", pid " +
                                                    std::to_string(pid) + ", nprocs " + std::to_string(nprocs)
                                              : "is null",
                 "pass a host, a port, milliseconds, a pid below nprocs, and a place for the result");
    return LPF_ERR_FATAL;
  }
  *init = LPF_INIT_NONE;
  try {
    *init = initialize({server, port, std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout),
                        pid, nprocs, operation_name});
    return LPF_SUCCESS;
  } catch (...) {
    report_exception(operation_name);
    return LPF_ERR_FATAL;
  }
}
