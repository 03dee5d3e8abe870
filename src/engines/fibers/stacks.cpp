// SPDX-License-Identifier: Apache-2.0
#include "engines/fibers/stacks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "tutti/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#endif

namespace tutti::detail {
namespace {

// A guard catches only a frame that ends in it. So it is as long as a large array. With many stacks
// it is shorter, because each of its pages takes 8 bytes of kernel memory.
constexpr std::size_t long_guard = 1 << 20, short_guard = 64 << 10;
constexpr int many_stacks = 4096;

constexpr std::size_t color_step = 192, colors = 16;

// The number of further mappings that this process may have.
long free_mappings() {
  long max = 65530, used = 0;
  if (std::FILE* f = std::fopen("/proc/sys/vm/max_map_count", "r")) {
    if (std::fscanf(f, "%ld", &max) != 1) max = 65530;
    std::fclose(f);
  }
  if (std::FILE* f = std::fopen("/proc/self/maps", "r")) {
    for (int c; (c = std::fgetc(f)) != EOF;) used += c == '\n';
    std::fclose(f);
  }
  return max - used;
}

// Older kernels support guards only as mappings, two for each stack. 2000 mappings are left to the
// program. The first `made` stacks already have guards. Returns the new number of stacks with
// guards.
int guard_by_mappings(std::byte* memory, std::size_t each, std::size_t guard, int made, int count) {
  const long left = free_mappings() - 2000;
  const int max = made + static_cast<int>(std::clamp(left / 2, 0L, static_cast<long>(count - made)));
  while (made < max && mprotect(memory + static_cast<std::size_t>(made) * each, guard, PROT_NONE) == 0)
    ++made;
  if (made < count)
    std::fprintf(
        stderr,
        "tutti: %d of %d fiber stacks have no guard: each needs two mappings here, and the kernel allows "
        "vm.max_map_count of them; a stack overflow may go undetected (Linux 6.13 guards any number)\n",
        count - made, count);
  return made;
}

}  // namespace

stacks::stacks(int count, std::size_t bytes_each) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  guard_ = std::max(page, count <= many_stacks ? long_guard : short_guard);
  each_ = (bytes_each + page - 1) / page * page + guard_;
  total_ = each_ * static_cast<std::size_t>(count);
  void* mapping =
      mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    throw engine_error("run", -1, "TUTTI_RANKS",
                       "no address space for " + std::to_string(count) + " fiber stacks of " +
                           std::to_string(bytes_each) + " bytes (" + std::strerror(errno) + ")",
                       "use fewer ranks or a smaller TUTTI_STACK");
  memory_ = static_cast<std::byte*>(mapping);
  // A huge page would use memory that no stack has touched.
  madvise(memory_, total_, MADV_NOHUGEPAGE);
  // These guards are no mappings of their own, so their number is not limited.
  while (guarded_ < count &&
         madvise(memory_ + static_cast<std::size_t>(guarded_) * each_, guard_, MADV_GUARD_INSTALL) == 0)
    ++guarded_;
  if (guarded_ < count) guarded_ = guard_by_mappings(memory_, each_, guard_, guarded_, count);
}

stacks::~stacks() {
#if defined(__SANITIZE_ADDRESS__)
  // A fiber ends by switching away, so its last frames stay poisoned. The next mapping at this
  // address is not its stack.
  __asan_unpoison_memory_region(memory_, total_);
#endif
  munmap(memory_, total_);
}

void* stacks::top(int i) const noexcept {
  return memory_ + static_cast<std::size_t>(i + 1) * each_ -
         static_cast<std::size_t>(i) % colors * color_step;
}
void* stacks::bottom(int i) const noexcept { return memory_ + static_cast<std::size_t>(i) * each_ + guard_; }
std::size_t stacks::usable(int i) const noexcept {
  return static_cast<std::size_t>(static_cast<std::byte*>(top(i)) - static_cast<std::byte*>(bottom(i)));
}

}  // namespace tutti::detail
