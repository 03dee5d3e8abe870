// SPDX-License-Identifier: Apache-2.0
//
// overflow CASE: ranks that overflow their stacks, and ranks that do not.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include <unistd.h>

#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;

namespace {

[[gnu::noinline]] int deeper(int n) {
  volatile char frame[1000];
  frame[n % 1000] = static_cast<char>(n);
  return n < 0 ? 0 : deeper(n + 1) + frame[n % 1000];
}

// The function touches its lowest bytes first.
[[gnu::noinline]] double frame_of_half_a_mebibyte(int n) {
  double a[256][256];
  asm volatile("" : : "r"(a) : "memory");
  for (auto& row : a)
    for (double& x : row) x = n;
  asm volatile("" : : "r"(a) : "memory");
  return a[255][255];
}

void recursion(communicator& world) {
  world.barrier();
  if (world.rank() == world.size() - 1) std::printf("%d\n", deeper(0));
  world.barrier();
}

void recursion_of_all(communicator& world) {
  world.barrier();
  std::printf("%d\n", deeper(0));
  world.barrier();
}

void large_frame(communicator& world) {
  world.barrier();
  if (world.rank() == 0) std::printf("%f\n", frame_of_half_a_mebibyte(1));
  world.barrier();
}

// A kernel that runs on the stack of a waiting rank.
void kernel(communicator& world) {
  tasks::options how;
  how.workers = 1;
  tasks::runtime rt(world, how);
  auto of_the_last = rt.data<double>(world.size() - 1);  // the owner runs the kernel
  world.barrier();
  rt.insert([](double& x) { x = frame_of_half_a_mebibyte(1); }, tasks::read_write(of_the_last));
  rt.wait_all();
  world.barrier();
}

// The default stack has room for it.
void array(communicator& world) {
  if (frame_of_half_a_mebibyte(world.rank()) != world.rank())
    throw usage_error("array", 0, "", "is wrong", "");
  world.barrier();
}

void small(communicator& world) {
  world.barrier();
  if (world.allreduce_single(send_buf(1), op(std::plus<>{})) != world.size())
    throw usage_error("allreduce", 0, "", "is wrong", "");
  try {
    world.bcast(send_recv_buf(std::vector<int>(2)), root(world.size()));
  } catch (const usage_error&) {
  }
}

// Below the stack of each rank lies memory that the process cannot read. The distance is at most
// the size of a stack, and the shortest guard has 64 KiB. Without guards the stack of another fiber
// lies there.
void guards(communicator& world) {
  world.barrier();
  int ends[2];
  if (pipe(ends) != 0) throw usage_error("pipe", world.rank(), "", "failed", "");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto here = reinterpret_cast<std::uintptr_t>(&ends) / page * page;
  const std::size_t pages = (256 << 10) / page;  // TUTTI_STACK of this case
  const auto is_readable = [&](std::size_t i) {
    char byte = 0;
    if (write(ends[1], reinterpret_cast<const void*>(here - i * page), 1) != 1) return errno != EFAULT;
    return read(ends[0], &byte, 1) == 1;
  };
  std::size_t first = 1;
  while (first <= pages && is_readable(first)) ++first;
  std::size_t length = 0;
  while (length < (64 << 10) / page && !is_readable(first + length)) ++length;
  close(ends[0]), close(ends[1]);
  if (first > pages)
    throw usage_error("guards", world.rank(), "", "has no inaccessible page below its stack", "");
  if (length < (64 << 10) / page) throw usage_error("guards", world.rank(), "", "has a short guard", "");
  world.barrier();
}

void other_fault(communicator& world) {
  world.barrier();
  volatile int* volatile nowhere = nullptr;
  if (world.rank() == 1) *nowhere = 1;
  world.barrier();
}

// A signal handler of the program stays installed.
int own_handler() {
  std::signal(SIGSEGV, [](int) { _exit(0); });
  run(run_options{}, [](communicator& world) {
    if (world.rank() == 1) std::raise(SIGSEGV);
    world.barrier();
  });
  return 1;
}

// run_options are validated in the same way as the variable.
int options() {
  run_options too_small;
  too_small.stack_bytes = 4096;
  try {
    run(too_small, small);
    return 1;
  } catch (const usage_error& e) {
    if (std::string(e.what()).find("stack_bytes") == std::string::npos) return 2;
  }
  run_options enough;
  enough.stack_bytes = 2 << 20;
  run(enough, array);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(communicator&)>> cases = {
      {"recursion", recursion},
      {"last_recursion", recursion},
      {"recursion_of_all", recursion_of_all},
      {"large_frame", large_frame},
      {"array", array},
      {"kernel", kernel},
      {"small", small},
      {"other_fault", other_fault},
      {"guards", guards}};
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "own_handler") return own_handler();
  if (name == "options") return options();
  const auto which = cases.find(name);
  if (which == cases.end()) return std::fprintf(stderr, "overflow CASE\n"), 2;
  return run(argc, argv, which->second);
}
