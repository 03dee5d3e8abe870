// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/process_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <ctime>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tutti::shm {

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

bool process_memory::allocate(void* memory, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(memory) + bytes;
  int result = 0;
  do result = madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
  while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  // Others may need the pages that it got. The first and the last page may hold other data.
  const std::uintptr_t first = from + page, end = to / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_REMOVE);
  return false;
}

// Emulators may accept an advice that they do not know, so this tests what it does.
bool process_memory::can_allocate() noexcept {
  static const bool can = [] {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    unsigned char is_resident = 0;
    const bool populated = madvise(memory, page, MADV_POPULATE_WRITE) == 0 &&
                           mincore(memory, page, &is_resident) == 0 && (is_resident & 1) != 0;
    munmap(memory, page);
    return populated;
  }();
  return can;
}

// The futexes are not private, because the sleepers are other processes.
void process_memory::sleep(std::atomic<std::uint32_t>& word, std::uint32_t value, int milliseconds) noexcept {
  const timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &limit, nullptr, 0);
}

void process_memory::wake(std::atomic<std::uint32_t>& word) noexcept {
  if (word.exchange(0, std::memory_order_acq_rel) == 0) return;
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool process_memory::register_for_barriers() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void process_memory::barrier_on_all_processes() noexcept {
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void process_memory::yield() noexcept { sched_yield(); }

std::uint64_t process_memory::milliseconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

remote_read process_memory::read_remote(int pid, void* to, std::uint64_t address, std::size_t bytes,
                                        int& error, std::size_t limit) noexcept {
  std::size_t read = 0;
  while (read < bytes) {
    const std::size_t next = std::min(bytes - read, limit);
    const iovec local{static_cast<std::byte*>(to) + read, next};
    const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address + read)), next};
    const ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (n > 0) {
      read += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == ESRCH) {
      return remote_read::gone;
    } else if (n == 0 || errno != EINTR) {
      error = n == 0 ? EFAULT : errno;
      return remote_read::refused;
    }
  }
  return remote_read::complete;
}

// The kernel permits to read the link of the program in the same cases.
bool process_memory::may_open_files(int pid) noexcept {
  char path[32], target;
  std::snprintf(path, sizeof path, "/proc/%d/exe", pid);
  return readlink(path, &target, 1) == 1;
}

bool process_memory::may_read(int pid) noexcept {
  char byte;
  const iovec local{&byte, 1}, remote{nullptr, 1};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1 || errno == EFAULT;
}

}  // namespace tutti::shm
