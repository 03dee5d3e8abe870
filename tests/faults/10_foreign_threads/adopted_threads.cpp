// SPDX-License-Identifier: Apache-2.0
//
// adopted_threads LEVEL: a program that starts MPI itself with that thread level. Another thread
// calls tutti, and also destroys communicators.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include <mpi.h>

#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

namespace {

long threads() {
  long n = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}

// A communicator destroyed by another thread must not keep the job alive, whose helper thread
// watches for long waits.
bool job_ends() {
  const long before = threads();
  for (int i = 0; i < 2; ++i) {
    tutti::communicator world = tutti::adopt(MPI_COMM_WORLD);
    tutti::communicator other = world.duplicate();
    std::async(std::launch::async, [&] { tutti::communicator last = std::move(other); }).get();
    if (i == 0) other = world.duplicate();
  }
  for (int i = 0; i < 100 && threads() > before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return threads() <= before;
}

}  // namespace

int main(int argc, char** argv) {
  const bool any = argc > 1 && std::strcmp(argv[1], "serialized") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, any ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED, &provided);
  bool well = true;
  {
    tutti::communicator world = tutti::adopt(MPI_COMM_WORLD);
    std::string message = "nothing";
    int sum = 0;
    const auto call = [&] { sum = world.allreduce_single(tutti::send_buf(1), tutti::op(std::plus<>{})); };
    for (int i = 0; i < 3; ++i) call();
    sum = 0;
    try {
      std::async(std::launch::async, call).get();
    } catch (const tutti::usage_error& e) {
      message = e.what();
    }
    // An MPI may provide a higher or lower level than requested.
    well = provided >= MPI_THREAD_SERIALIZED
               ? message == "nothing" && sum == world.size()
               : message.find("does not run rank") != std::string::npos && sum == 0;
    if (any && provided < MPI_THREAD_SERIALIZED) std::printf("this MPI has no MPI_THREAD_SERIALIZED\n");
    if (!well) std::fprintf(stderr, "FAILED: level %d: %s, sum %d\n", provided, message.c_str(), sum);
    call();
    well = well && sum == world.size();
  }
  if (!job_ends()) {
    std::fprintf(stderr, "FAILED: the jobs that were adopted have not ended\n");
    well = false;
  }
  MPI_Finalize();
  return well ? 0 : 1;
}
