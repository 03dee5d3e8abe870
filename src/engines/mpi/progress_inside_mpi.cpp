// SPDX-License-Identifier: Apache-2.0
//
// Progress during waits in MPI's own collectives. There MPI progresses its messages, but not the
// library: not the next round of a schedule, nor the reply of a task. Every wait of Open MPI calls
// functions that its components register, and it exports the registration function. The function
// registered here progresses the other operations of the rank. With other MPIs, and if several
// threads may wait in MPI at once, all ranks begin blocking collectives and poll them.
//
// Messages in the memory of the node get their progress in all collectives of MPI. They call no
// MPI, and their progress never calls the program.
//
// MPI also calls the function from MPI_Test and MPI_Isend, while this library holds references into
// its tables. So the function acts only within collectives. The waits between them (in composed
// calls) progress in pause().
#include <cstring>
#include <exception>

#include <dlfcn.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

using callback = int (*)();
using registration_function = int (*)(callback);

// Read at each turn of a wait of MPI, so no function of the loader finds it.
[[gnu::tls_model("initial-exec")]] constinit thread_local progressed_wait* innermost = nullptr;

// The program may not see the symbols of the MPI that a module links. So this also searches the
// library that defines MPI_Query_thread, and its dependencies.
[[maybe_unused]] void* symbol_of_mpi(const char* name) noexcept {
  if (void* const found = ::dlsym(RTLD_DEFAULT, name)) return found;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&MPI_Query_thread), &info) == 0) return nullptr;
  void* const library = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const found = ::dlsym(library, name);
  ::dlclose(library);
  return found;
}

registration_function function_of_mpi([[maybe_unused]] const char* name) noexcept {
#if defined(OPEN_MPI)
  void* const found = symbol_of_mpi(name);
  registration_function function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  return function;
#else
  return nullptr;
#endif
}

const registration_function register_callback = function_of_mpi("opal_progress_register"),
                            unregister_callback = function_of_mpi("opal_progress_unregister");
int users = 0;  // endpoints of this process

// MPI calls it, so it must not throw.
int progress_callback() {
  if (innermost != nullptr && innermost->in_collective) innermost->ep.progress_in_wait(*innermost);
  mpi_endpoint::progress_on_node_inside_mpi();
  return 0;
}

}  // namespace

bool mpi_endpoint::can_progress_in_waits() noexcept {
  int level = MPI_THREAD_MULTIPLE;
  return MPI_Query_thread(&level) == MPI_SUCCESS && level != MPI_THREAD_MULTIPLE &&
         register_callback != nullptr && unregister_callback != nullptr;
}

// If the progress fails, other ranks may wait for the failed operation and never reach this rank's
// collective. Therefore the job is aborted after a grace period.
void mpi_endpoint::progress_in_wait(progressed_wait& mine) noexcept {
  constexpr double grace = 2;  // seconds
  if (mine.busy) return;
  mine.busy = true;
  try {
    if (!mine.failed)
      mine.operations.progress();
    else if (seconds_now() - mine.failed_at > grace)
      std::rethrow_exception(mine.failed);
  } catch (const std::exception& e) {
    if (mine.failed) end_job(rank_, e.what());
    mine.failed = std::current_exception();
    mine.failed_at = seconds_now();
  } catch (...) {
    end_job(rank_, "an exception that is not a std::exception");
  }
  mine.busy = false;
}

void mpi_endpoint::wait_with_progress(rank_progress& operations, void (*wait)(void*), void* state) {
  if (polls_natives_) return wait(state);
  register_progress();
  progressed_wait mine{*this, operations, innermost, wait_};
  struct restore_wait {
    progressed_wait& mine;
    ~restore_wait() {
      innermost = mine.outer;
      mine.ep.enter_wait(mine.outer_here);
    }
  };
  {
    const restore_wait guard{mine};
    innermost = &mine;
    enter_wait(&mine);
    wait(state);
  }
  if (mine.failed) std::rethrow_exception(mine.failed);
}

void mpi_endpoint::wait_for_native(MPI_Request& request, const char* operation, const shm::wait_site& site) {
  native_begun();
  for (int flag = 0;;) {
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), operation, rank_);
    if (flag) break;
    pause(site);
  }
  native_over();
}

void mpi_endpoint::register_progress() noexcept {
  if (progress_registered_) return;
  if (users++ == 0) register_callback(progress_callback);
  progress_registered_ = true;
}

void mpi_endpoint::unregister_progress() noexcept {
  int finalized = 0;
  if (progress_registered_ && --users == 0 && MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized)
    unregister_callback(progress_callback);
  progress_registered_ = false;
}

}  // namespace tutti::mpi
