// SPDX-License-Identifier: Apache-2.0
#include "engines/fibers/stacks.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "tutti/core/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tutti {
namespace {

// Each guard page splits a mapping in two, and the kernel allows 65530 of them to a process.
constexpr int most_guards = 30000;

constexpr std::size_t colour_step = 192, colours = 16;

}  // namespace

stacks::stacks(int count, std::size_t bytes_each) {
  page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  each_ = (bytes_each + page_ - 1) / page_ * page_ + page_;
  total_ = each_ * static_cast<std::size_t>(count);
  void* got =
      mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED)
    throw engine_error("run", -1, "TUTTI_RANKS",
                       "no address space for " + std::to_string(count) + " fiber stacks of " +
                           std::to_string(bytes_each) + " bytes (" + std::strerror(errno) + ")",
                       "ask for fewer ranks or a smaller TUTTI_STACK");
  memory_ = static_cast<std::byte*>(got);
  guarded_ = count <= most_guards;
  if (guarded_)
    for (int i = 0; i < count; ++i) mprotect(memory_ + static_cast<std::size_t>(i) * each_, page_, PROT_NONE);
}

stacks::~stacks() {
#if defined(__SANITIZE_ADDRESS__)
  // A fiber ends by switching away, so the marks of its last frames stay; what is mapped here next is not its
  // stack.
  __asan_unpoison_memory_region(memory_, total_);
#endif
  munmap(memory_, total_);
}

void* stacks::top(int i) const noexcept {
  return memory_ + static_cast<std::size_t>(i + 1) * each_ -
         static_cast<std::size_t>(i) % colours * colour_step;
}
void* stacks::bottom(int i) const noexcept { return memory_ + static_cast<std::size_t>(i) * each_ + page_; }
std::size_t stacks::usable(int i) const noexcept {
  return static_cast<std::size_t>(static_cast<std::byte*>(top(i)) - static_cast<std::byte*>(bottom(i)));
}

}  // namespace tutti
