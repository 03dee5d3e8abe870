// SPDX-License-Identifier: Apache-2.0
//
// The accesses to memory that processes share. The protocols of this folder make them only through
// such a class. So tests/unit/shm_model can run the same protocols on memory whose reordering it
// controls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::shm {

/// The result of a read from the memory of another process.
enum class remote_read {
  complete,
  refused,  ///< the kernel does not permit it, or the address cannot be read this way
  gone,     ///< the process has ended
};

struct process_memory {
  /// False in a model that suspends its processes by exceptions.
  static constexpr bool exceptions_end_calls = true;
  static constexpr std::size_t remote_read_limit = 0x7ffff000;  // of one system call

  template <class T>
  static T acquire(const std::atomic<T>& word) noexcept {
    return word.load(std::memory_order_acquire);
  }
  /// Makes all earlier accesses of this process visible to the process that acquires the value.
  /// `fenced`: also before any later load_flag() of this process.
  template <class T>
  static void publish(std::atomic<T>& word, T value, bool fenced) noexcept {
    if (fenced) [[unlikely]] {
      word.store(value, std::memory_order_seq_cst);
    } else {
      word.store(value, std::memory_order_release);
      // The compiler keeps the order. wakeup_words::arm() makes the processor keep it.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }
  static std::uint32_t load_flag(const std::atomic<std::uint32_t>& word) noexcept {
    return word.load(std::memory_order_seq_cst);
  }
  /// Plain accesses, which a word orders.
  static void write(std::byte* shared, const void* from, std::size_t bytes) noexcept {
    if (bytes == 8) {
      std::memcpy(shared, from, 8);
    } else if (bytes != 0) {
      std::memcpy(shared, from, bytes);
    }
  }
  static void read(void* to, const std::byte* shared, std::size_t bytes) noexcept {
    if (bytes == 8) {
      std::memcpy(to, shared, 8);
    } else if (bytes != 0) {
      std::memcpy(to, shared, bytes);
    }
  }
  template <class T>
  static void set(T& shared, T value) noexcept {
    shared = value;
  }
  template <class T>
  static const T& view(const T& shared) noexcept {
    return shared;
  }

  /// Allocates shared memory that has no pages yet, which an access would do with a SIGBUS in case
  /// there are none left. Returns false then. Also allocates the rest of the first and last page.
  static bool allocate(void* memory, std::size_t bytes) noexcept;
  /// Whether the kernel can do that (Linux 5.14).
  static bool can_allocate() noexcept;

  // --- Sleeping
  static void arm(std::atomic<std::uint32_t>& word, std::uint32_t reasons) noexcept {
    word.store(reasons, std::memory_order_seq_cst);
  }
  static void disarm(std::atomic<std::uint32_t>& word) noexcept { word.store(0, std::memory_order_relaxed); }
  /// Sleeps while the word has this value, at most for `milliseconds`.
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t value, int milliseconds) noexcept;
  /// Sets the word to 0 and wakes its sleeper.
  static void wake(std::atomic<std::uint32_t>& word) noexcept;
  /// All registered processes, and this one, pass a memory barrier.
  static void barrier_on_all_processes() noexcept;
  /// Registers this process for such barriers. Returns false if the kernel has none.
  static bool register_for_barriers() noexcept;
  static void fence() noexcept {
#if defined(__SANITIZE_THREAD__)  // ThreadSanitizer knows no fences
    std::atomic<int>{0}.exchange(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  static void pause() noexcept;
  /// This process will write the line soon. A hint, which takes it from the caches of the readers.
  static void prefetch_for_write(const void* line) noexcept;
  static void yield() noexcept;
  static std::uint64_t milliseconds() noexcept;

  /// Reads from another process with process_vm_readv, at most `limit` bytes in one call. `error`
  /// receives the reason if it is refused.
  static remote_read read_remote(int pid, void* to, std::uint64_t address, std::size_t bytes, int& error,
                                 std::size_t limit = remote_read_limit) noexcept;
  /// Whether the kernel permits such reads. It reads one byte at address 0, because a read of no
  /// bytes does not check the permission.
  static bool may_read(int pid) noexcept;
  /// Whether the kernel permits to open the files of another process.
  static bool may_open_files(int pid) noexcept;
};

inline void process_memory::prefetch_for_write(const void* line) noexcept {
#if defined(__x86_64__)  // __builtin_prefetch() would fetch it for reading
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

inline void process_memory::pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace tutti::shm
