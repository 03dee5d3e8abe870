// SPDX-License-Identifier: Apache-2.0
//
// The C library's functions for memory. With TUTTI_SHARED_HEAP=1 they take allocations of at least
// 64 KiB from the memory that the other processes of the node can map. So unchanged programs have
// their long buffers there. All other allocations, and those that do not fit, are the C library's.
//
// libtutti-heap.so has these functions and is loaded by LD_PRELOAD. `tutti preload` adds it only if
// the variable is 1, so other programs keep their own functions. It forwards to the GNU C library
// by the names that this library provides for that purpose. So a program that brings another
// allocator in a shared library loses it.
//
// The pages of an allocation are committed at once (fallocate), as for all memory of the arena.
// Otherwise a lack of memory would be a SIGBUS at some later access, and not a null pointer here.
// Committing 1 MiB and touching it took 0.64 ms, and touching alone 0.70 ms (Linux 6.18, x86-64).
// So the call costs what the page faults would cost later. The price is that the memory of sparsely
// used allocations is committed too, on the NUMA node of the calling thread.
//
// The bookkeeping of the arena allocates less than 64 KiB at a time. So it never calls itself.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <dlfcn.h>
#include <unistd.h>

#include "transport/shm/shared_arena.hpp"
#include "tutti/detail/export.hpp"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* p, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* p);
}

namespace {

using tutti::shm::shared_arena;

constexpr std::size_t min_shared_bytes = std::size_t{64} << 10;
constexpr std::size_t alignment_of_malloc = 64;

bool is_power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

// 0: not read so far; 1: off; 2: on
constinit std::atomic<int> variable{0};

int read_variable() noexcept {
  const char* const value = secure_getenv("TUTTI_SHARED_HEAP");
  const int read = value != nullptr && std::strcmp(value, "1") == 0 ? 2 : 1;
  variable.store(read, std::memory_order_relaxed);
  return read;
}

bool is_on() noexcept {
  const int read = variable.load(std::memory_order_relaxed);
  return (read != 0 ? read : read_variable()) == 2;
}

// Null: the C library must serve it.
void* allocate_shared(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes < min_shared_bytes || !is_on()) return nullptr;
  const int code = errno;
  void* const p = shared_arena::try_allocate(bytes, alignment);
  errno = code;
  return p;
}

void* aligned(std::size_t alignment, std::size_t bytes) noexcept {
  if (is_power_of_two(alignment))
    if (void* const p = allocate_shared(bytes, std::max(alignment, alignment_of_malloc))) return p;
  return __libc_memalign(alignment, bytes);
}

bool free_shared(void* p) noexcept {
  const int code = errno;
  const bool freed = shared_arena::deallocate(p);
  errno = code;
  return freed;
}

// Of memory that the C library has allocated.
std::size_t usable_size_of_libc(void* p) noexcept {
  static constinit std::atomic<std::size_t (*)(void*)> function{nullptr};
  auto of_libc = function.load(std::memory_order_relaxed);
  if (of_libc == nullptr) {
    of_libc = reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    function.store(of_libc, std::memory_order_relaxed);
  }
  return of_libc(p);
}

// The memory moves if it changes its heap, and also if it grows beyond its pages or becomes half as
// long. `bytes` is not 0.
void* move(void* p, std::size_t old_bytes, std::size_t bytes) noexcept {
  void* const moved = std::malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, p, std::min(old_bytes, bytes));
  std::free(p);
  return moved;
}

}  // namespace

extern "C" {

TUTTI_API void* malloc(std::size_t bytes) noexcept {
  void* const p = allocate_shared(bytes, alignment_of_malloc);
  return p != nullptr ? p : __libc_malloc(bytes);
}

TUTTI_API void free(void* p) noexcept {
  if (!free_shared(p)) __libc_free(p);
}

TUTTI_API void* calloc(std::size_t n, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(n, bytes, &all))
    if (void* const p = allocate_shared(all, alignment_of_malloc)) return std::memset(p, 0, all);
  return __libc_calloc(n, bytes);
}

TUTTI_API void* realloc(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return malloc(bytes);
  if (const std::size_t size = shared_arena::usable_size(p)) {
    if (bytes == 0) {
      free(p);
      return nullptr;
    }
    return bytes <= size && bytes > size / 2 && bytes >= min_shared_bytes ? p : move(p, size, bytes);
  }
  if (bytes >= min_shared_bytes && is_on())
    if (void* const moved = allocate_shared(bytes, alignment_of_malloc)) {
      std::memcpy(moved, p, std::min(usable_size_of_libc(p), bytes));
      __libc_free(p);
      return moved;
    }
  return __libc_realloc(p, bytes);
}

TUTTI_API void* reallocarray(void* p, std::size_t n, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(n, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(p, all);
}

TUTTI_API int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int code = errno;
  void* const p = aligned(alignment, bytes);
  errno = code;
  if (p == nullptr) return ENOMEM;
  *to = p;
  return 0;
}

TUTTI_API void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

TUTTI_API void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

TUTTI_API void* valloc(std::size_t bytes) noexcept {
  return aligned(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes);
}

TUTTI_API std::size_t malloc_usable_size(void* p) noexcept {
  if (p == nullptr) return 0;
  const std::size_t size = shared_arena::usable_size(p);
  return size != 0 ? size : usable_size_of_libc(p);
}

/// For libtutti-preload-*.so, which then uses the same arena.
TUTTI_API tutti::shm::arena_state* tutti_arena_of_heap() noexcept { return &shared_arena::current(); }
}
