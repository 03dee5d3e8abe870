// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/mpi/hooked_process.hpp"

#include <exception>
#include <optional>
#include <string>

#include "communicator/internal_calls.hpp"
#include "frontends/lpf/init.hpp"
#include "frontends/lpf/launched_job.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "lpf/mpi.h"
#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

namespace tutti::lpf {
namespace {

class hooked_process final : public init_object {
 public:
  explicit hooked_process(MPI_Comm comm) : world_(adopt(comm)) {}

  /// Checks that all members make the same call. Otherwise all get an error, and the object cannot
  /// be used any more. After MPI_Finalize() no communication is possible, so only
  /// lpf_mpi_finalize() succeeds.
  lpf_err_t agree(const char* operation) noexcept {
    const bool ends = operation == ended_by();
    int gone = 0;
    MPI_Finalized(&gone);
    if (gone) {
      if (ends) return LPF_SUCCESS;
      report_error(operation, world_.rank(), "init", "is used after MPI_Finalize()",
                   "call lpf_hook() and lpf_mpi_finalize() before it");
      return LPF_ERR_FATAL;
    }
    try {
      // A process that hooks, and one that ends.
      int who[2] = {ends ? -1 : world_.rank(), ends ? world_.rank() : -1};
      if (!over_) world_.allreduce(send_recv_buf(who), op(ops::max<>{}));
      if (!over_ && (who[0] < 0 || who[1] < 0)) return LPF_SUCCESS;
      if (!over_ || !ends)
        report_error(operation, world_.rank(), "init",
                     over_  ? "was finalized by other processes"
                     : ends ? "process " + std::to_string(who[0]) + " calls lpf_hook() with it"
                            : "process " + std::to_string(who[1]) + " calls lpf_mpi_finalize() with it",
                     "call lpf_hook() equally often on all its processes, and then lpf_mpi_finalize()");
      over_ = true;
    } catch (...) {
      return report_exception(operation);
    }
    return LPF_ERR_FATAL;
  }

  // If this process leaves a section by an exception, the waits of the others cannot be aborted. So
  // it ends the job.
  lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept override {
    std::optional<nested_section> within;
    try {
      within.emplace(innermost_, "hook");
    } catch (...) {
      return code_of_exception(*innermost_, "lpf_hook");
    }
    if (const lpf_err_t wrong = agree("lpf_hook"); wrong != LPF_SUCCESS) return wrong;
    std::string why = "an exception that is not a std::exception";
    try {
      return run_section(world_, spmd, args, {static_cast<lpf_pid_t>(world_.size()), 1}, "lpf_hook",
                         &innermost_);
    } catch (const std::exception& e) {
      why = e.what();
    } catch (...) {
    }
    detail::endpoint_of(detail::impl_of(world_)).kill_job(why);
    return LPF_ERR_FATAL;  // not reached
  }
  bool runs() const noexcept { return innermost_ != nullptr; }
  const char* ended_by() const noexcept override { return "lpf_mpi_finalize"; }

 private:
  communicator world_;
  bool over_ = false;
  context* innermost_ = nullptr;  // of the running sections
};

}  // namespace

void refuse_waiting(const char* operation) {
  if (launched_job::mine() == nullptr) return;
  throw usage_error(operation, -1, "LPF_MPI_AUTO_INITIALIZE",
                    "is not 0, so that the other processes wait for lpf_exec()",
                    "define it in the program: const int LPF_MPI_AUTO_INITIALIZE = 0;");
}

lpf_init_t hooked_over(MPI_Comm comm) { return new hooked_process(comm); }

}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_mpi_initialize_with_mpicomm(MPI_Comm comm, lpf_init_t* init) {
  constexpr const char* here = "lpf_mpi_initialize_with_mpicomm";
  if (init == nullptr) {
    report_error(here, -1, "init", "is null", "pass a place for the result");
    return LPF_ERR_FATAL;
  }
  *init = LPF_INIT_NONE;
  try {
    refuse_waiting(here);
    *init = hooked_over(comm);
    return LPF_SUCCESS;
  } catch (...) {
    return report_exception(here);
  }
}

extern "C" lpf_err_t lpf_mpi_finalize(lpf_init_t init) {
  auto* const own = dynamic_cast<hooked_process*>(object_of(init));
  if (own != nullptr && own->runs()) {
    report_error("lpf_mpi_finalize", -1, "init", "belongs to a running section",
                 "call it after the section has ended");
    return LPF_ERR_FATAL;
  }
  const lpf_err_t agreed = own == nullptr ? LPF_SUCCESS : own->agree(own->ended_by());
  const lpf_err_t ended = end_init(init, "lpf_mpi_finalize");
  return ended != LPF_SUCCESS ? ended : agreed;
}
