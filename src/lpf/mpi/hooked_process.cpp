// SPDX-License-Identifier: Apache-2.0
#include "lpf/mpi/hooked_process.hpp"

#include <exception>
#include <string>

#include "face/core.hpp"
#include "lpf/complain.hpp"
#include "lpf/init.hpp"
#include "lpf/launched_job.hpp"
#include "lpf/mpi.h"
#include "lpf/section.hpp"
#include "tutti/mpi.hpp"

namespace tutti::lpf {
namespace {

class hooked_process final : public init_object {
 public:
  explicit hooked_process(MPI_Comm comm) : world_(adopt(comm)) {}

  // Nothing takes the others out of a section that this process has left by an exception.
  lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept override {
    std::string why = "an exception that is not a std::exception";
    try {
      return run_section(world_, spmd, args);
    } catch (const std::exception& e) {
      why = e.what();
    } catch (...) {
    }
    world_.native().door().kill_job(why);
    return LPF_ERR_FATAL;  // which does not come
  }
  const char* ended_by() const noexcept override { return "lpf_mpi_finalize"; }

 private:
  communicator world_;
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
    complain(here, -1, "init", "is null", "pass a place for the result");
    return LPF_ERR_FATAL;
  }
  *init = LPF_INIT_NONE;
  try {
    refuse_waiting(here);
    *init = hooked_over(comm);
    return LPF_SUCCESS;
  } catch (...) {
    return complain_of_exception(here);
  }
}

extern "C" lpf_err_t lpf_mpi_finalize(lpf_init_t init) { return end_init(init, "lpf_mpi_finalize"); }
