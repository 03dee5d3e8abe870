// SPDX-License-Identifier: Apache-2.0
//
// Waits that are MPI's own. MPI progresses its messages there, and nothing of the library's: no next round of
// a schedule, no answer of a task. Open MPI calls functions that its components register from every wait, and
// exports how they do it; one of ours progresses the rest of the rank there. Elsewhere, and where several
// threads may wait in MPI at once, all ranks begin blocking collectives and poll them.
#include <cstring>
#include <exception>

#include <dlfcn.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "tutti/core/error.hpp"

namespace tutti::mpi {
namespace {

using callback = int (*)();
using registering = int (*)(callback);

/// A wait of this thread.
struct wait_of_mpi {
  mpi_endpoint& door;
  rank_progress& meanwhile;
  wait_of_mpi* outer;
  bool busy = false;
  std::exception_ptr failed = nullptr;
  double failed_at = 0;
};
thread_local wait_of_mpi* innermost = nullptr;

// A module links MPI out of sight of the program, and MPI what it consists of.
[[maybe_unused]] void* symbol_of_mpi(const char* name) noexcept {
  if (void* const found = ::dlsym(RTLD_DEFAULT, name)) return found;
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&MPI_Query_thread), &here) == 0) return nullptr;
  void* const library = ::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const found = ::dlsym(library, name);
  ::dlclose(library);
  return found;
}

registering function_of_mpi([[maybe_unused]] const char* name) noexcept {
#if defined(OPEN_MPI)
  void* const found = symbol_of_mpi(name);
  registering function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  return function;
#else
  return nullptr;
#endif
}

const registering start_calling = function_of_mpi("opal_progress_register"),
                  stop_calling = function_of_mpi("opal_progress_unregister");
int users = 0;  // endpoints of this process

// Called by MPI, so nothing may be thrown. What is called here calls MPI, which calls this again.
int progress_meanwhile() {
  wait_of_mpi* const mine = innermost;
  if (mine == nullptr || mine->busy) return 0;
  mine->busy = true;
  mine->door.progress_in_wait(mine->meanwhile, mine->failed, mine->failed_at);
  mine->busy = false;
  return 0;
}

}  // namespace

bool mpi_endpoint::can_progress_inside() noexcept {
  int level = MPI_THREAD_MULTIPLE;
  return MPI_Query_thread(&level) == MPI_SUCCESS && level != MPI_THREAD_MULTIPLE &&
         start_calling != nullptr && stop_calling != nullptr;
}

// Others may wait for what has failed here, and never come to what this rank waits for.
void mpi_endpoint::progress_in_wait(rank_progress& meanwhile, std::exception_ptr& failed,
                                    double& failed_at) noexcept {
  constexpr double grace = 2;  // seconds
  try {
    if (failed) {
      if (seconds_now() - failed_at > grace) std::rethrow_exception(failed);
      return;
    }
    meanwhile.progress();
  } catch (const std::exception& e) {
    if (failed) end_job(rank_, e.what());
    failed = std::current_exception();
    failed_at = seconds_now();
  } catch (...) {
    end_job(rank_, "an exception that is not a std::exception");
  }
}

void mpi_endpoint::wait_inside(rank_progress& meanwhile, void (*wait)(void*), void* state) {
  if (begins_natives_) return wait(state);
  if (!called_by_mpi_) {
    if (users++ == 0) start_calling(progress_meanwhile);
    called_by_mpi_ = true;
  }
  wait_of_mpi mine{*this, meanwhile, innermost};
  struct leave {
    wait_of_mpi& mine;
    ~leave() { innermost = mine.outer; }
  };
  {
    const leave out{mine};
    innermost = &mine;
    wait(state);
  }
  if (mine.failed) std::rethrow_exception(mine.failed);
}

void mpi_endpoint::end_wait_inside() noexcept {
  if (called_by_mpi_ && --users == 0) stop_calling(progress_meanwhile);
  called_by_mpi_ = false;
}

}  // namespace tutti::mpi
