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

using namespace tutti::detail;

namespace {

class hooked_process final : public init_object {
 public:
  explicit hooked_process(MPI_Comm comm) : world_(adopt(comm)) {}

  /// Compares the calls of all members. If they differ, all members get an error, and the object
  /// cannot be used any more. After MPI_Finalize() no communication is possible, so only
  /// lpf_mpi_finalize() succeeds.
  lpf_err_t agree_on_call(const char* operation) noexcept {
    const bool finalizes = operation == finalize_function();
    int mpi_finalized = 0;
    MPI_Finalized(&mpi_finalized);
    if (mpi_finalized) {
      if (finalizes) return LPF_SUCCESS;
      report_error(operation, world_.rank(), "init", "is used after MPI_Finalize()",
                   "call lpf_hook() and lpf_mpi_finalize() before it");
      return LPF_ERR_FATAL;
    }
    try {
      // The highest process that hooks, and the highest that finalizes.
      int callers[2] = {finalizes ? -1 : world_.rank(), finalizes ? world_.rank() : -1};
      if (!finalized_) world_.allreduce(send_recv_buf(callers), op(ops::max<>{}));
      if (!finalized_ && (callers[0] < 0 || callers[1] < 0)) return LPF_SUCCESS;
      if (!finalized_ || !finalizes)
        report_error(operation, world_.rank(), "init",
                     finalized_ ? "was finalized by other processes"
                     : finalizes
                         ? "process " + std::to_string(callers[0]) + " calls lpf_hook() with it"
                         : "process " + std::to_string(callers[1]) + " calls lpf_mpi_finalize() with it",
                     "call lpf_hook() equally often on all its processes, and then lpf_mpi_finalize()");
      finalized_ = true;
    } catch (...) {
      return report_exception(operation);
    }
    return LPF_ERR_FATAL;
  }

  // If this process leaves a section by an exception, it ends the job. The waits of the other
  // processes cannot be aborted.
  lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept override {
    std::optional<nested_section> within;
    try {
      within.emplace(innermost_, "hook");
    } catch (...) {
      return code_of_exception(*innermost_, "lpf_hook");
    }
    if (const lpf_err_t error = agree_on_call("lpf_hook"); error != LPF_SUCCESS) return error;
    std::string reason = "an exception that is not a std::exception";
    try {
      return run_section(world_, spmd, args, {static_cast<lpf_pid_t>(world_.size()), 1}, "lpf_hook",
                         &innermost_);
    } catch (const std::exception& e) {
      reason = e.what();
    } catch (...) {
    }
    detail::endpoint_of(detail::impl_of(world_)).kill_job(reason);
    return LPF_ERR_FATAL;  // not reached
  }
  bool in_section() const noexcept { return innermost_ != nullptr; }
  const char* finalize_function() const noexcept override { return "lpf_mpi_finalize"; }

 private:
  communicator world_;
  bool finalized_ = false;        // or its processes have made different calls
  context* innermost_ = nullptr;  // the context of the innermost running section
};

}  // namespace

void reject_if_processes_wait(const char* operation) {
  if (launched_job::current() == nullptr) return;
  throw usage_error(operation, -1, "LPF_MPI_AUTO_INITIALIZE",
                    "is not 0, so that the other processes wait for lpf_exec()",
                    "define it in the program: const int LPF_MPI_AUTO_INITIALIZE = 0;");
}

lpf_init_t make_hooked_process(MPI_Comm comm) { return new hooked_process(comm); }

}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_mpi_initialize_with_mpicomm(MPI_Comm comm, lpf_init_t* init) {
  constexpr const char* operation_name = "lpf_mpi_initialize_with_mpicomm";
  if (init == nullptr) {
    report_error(operation_name, -1, "init", "is null", "pass a place for the result");
    return LPF_ERR_FATAL;
  }
  *init = LPF_INIT_NONE;
  try {
    reject_if_processes_wait(operation_name);
    *init = make_hooked_process(comm);
    return LPF_SUCCESS;
  } catch (...) {
    return report_exception(operation_name);
  }
}

extern "C" lpf_err_t lpf_mpi_finalize(lpf_init_t init) {
  auto* const object = dynamic_cast<hooked_process*>(object_of(init));
  if (object != nullptr && object->in_section()) {
    report_error("lpf_mpi_finalize", -1, "init", "belongs to a running section",
                 "call it after the section has ended");
    return LPF_ERR_FATAL;
  }
  const lpf_err_t agreed =
      object == nullptr ? LPF_SUCCESS : object->agree_on_call(object->finalize_function());
  const lpf_err_t ended = end_init(init, "lpf_mpi_finalize");
  return ended != LPF_SUCCESS ? ended : agreed;
}
