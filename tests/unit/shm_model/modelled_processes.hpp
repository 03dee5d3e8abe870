// SPDX-License-Identifier: Apache-2.0
//
// Runs the protocols of src/transport/shm between processes on modelled memory, and searches all
// interleavings.
//
// model_memory takes the place of process_memory, so the code under test is the code of the
// library. A store enters the store buffer of its process. It becomes visible later: in order of
// the stores (TSO), or in any order that release stores permit (relaxed). A load, an atomic
// exchange, a barrier and a futex call are operations. At each point the search chooses one process
// that makes its next operation, or one store that becomes visible. There are no timeouts, so a
// lost wake-up is a deadlock. If the processes only poll (options::polls), a waiting process is
// blocked until the memory lets it continue.
//
// A process is a function. Its state is the list of the results of its operations, because it is
// deterministic. To continue it, the model runs it again from the begin, replays the results, and
// stops it at the next operation by an exception. So states can be copied, compared and hashed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "transport/shm/process_channel.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/process_wakeup.hpp"

namespace tutti::shm::model {

/// The memory model, and errors that the search must find.
struct options {
  bool tso = false;
  bool fenced = false;  // else sleepers make all processes pass a barrier
  bool polls = false;   // nobody sleeps, which leaves far fewer states

  // --- Reductions, which leave fewer executions
  /// The stores of a process are visible, in any order that is permitted, before its next load.
  /// Only sleepers depend on other executions: a missing barrier is not found.
  bool prompt = false;
  bool plain_loads_join = false;  ///< plain loads are one operation with the load before them
  /// All loads between two stores are one operation. Plain stores become visible with the store
  /// that follows them.
  bool joined = false;

  // --- The kernel
  bool refuse_remote_reads = false;
  bool may_refuse_remote_reads = false;  // the search examines both results of each read
  // --- Errors
  bool publish_is_relaxed = false;       // the number may become visible before the payload
  bool reads_cell_after_credit = false;  // the receiver returns a cell before it copies
  bool reads_remote_after_acknowledgement = false;
  bool sleeps_without_recheck = false;  // the sleeper does not test again after it arms
  bool no_barrier = false;              // the sleeper passes no barrier or fence
  bool no_fence_of_writer = false;      // the writer passes no fence in fenced mode
};

struct scenario {
  std::size_t memory_bytes = 0;
  std::vector<std::function<void()>> processes;
  std::function<void()> prepare;  // writes the initial memory
  options how;
  /// The process that alone writes a line of 64 bytes; -1: several. Its own loads of the line are
  /// no operations, which leaves fewer states. May be empty.
  std::vector<int> writers;
  /// May require() something of the memory when all processes have ended. May be empty.
  std::function<void(const std::byte* memory)> at_end;
};

struct result {
  std::string violation;  // empty: none
  std::size_t states = 0;
};

/// Searches all interleavings. Beyond `max_states` it reports a violation.
result search(const scenario& s, std::size_t max_states = 1000000);

/// The memory that the processes share. Its addresses are valid in all processes, its contents are
/// those of the state that the search examines.
alignas(128) inline std::byte shared[8192];
inline bool is_shared(const void* at) noexcept {
  return at >= static_cast<const void*>(shared) && at < static_cast<const void*>(shared + sizeof shared);
}
/// Reports a violation unless the condition holds.
void require(bool condition, const char* what);

// --- What the processes do; only inside of a process
void load(void* to, const void* at, std::size_t bytes, bool plain = false);
enum class store_kind : std::uint8_t { plain, relaxed, release };
void store(void* at, const void* from, std::size_t bytes, store_kind kind);
/// Waits until all stores of this process are visible.
void drain();
std::uint32_t exchange(const void* at, std::uint32_t value);
void wake_sleeper(const void* at);
void sleep_on(const void* at, std::uint32_t value);
/// One step that has the memory in `shared` for itself, as under a mutex.
std::uint64_t locked(const std::function<std::uint64_t()>& operation);
/// begin_poll() is the point to which a blocked poll() returns. poll() does not block if the
/// process has stored something since then.
void begin_poll();
void poll();
/// Waits, process by process, until its stores are visible.
void barrier();
/// A load that the kernel makes for this process: it reads the memory, and no store buffer. Returns
/// whether the kernel permits it.
bool remote_load(void* to, const void* at, std::size_t bytes, bool may_fail);
const options& how() noexcept;
/// Reads that `reads_cell_after_credit` delays.
struct delayed_read {
  void* to;
  const void* at;
  std::size_t bytes;
};
std::vector<delayed_read>& delayed_reads() noexcept;
/// The range whose reads are delayed.
inline const std::byte *cells_begin = nullptr, *cells_end = nullptr;

struct model_memory {
  static constexpr bool exceptions_end_calls = false;
  static bool allocate(void*, std::size_t) noexcept { return true; }
  template <class W>
  static W acquire(const std::atomic<W>& word) {
    W value;
    load(&value, &word, sizeof value);
    return value;
  }
  template <class W>
  static void publish(std::atomic<W>& word, W value, bool fenced) {
    store(&word, &value, sizeof value, how().publish_is_relaxed ? store_kind::relaxed : store_kind::release);
    if (fenced && !how().no_fence_of_writer && !how().polls) drain();
    for (const delayed_read& r : std::exchange(delayed_reads(), {})) load(r.to, r.at, r.bytes);
  }
  static std::uint32_t load_flag(const std::atomic<std::uint32_t>& word) {
    return how().polls ? 0 : acquire(word);
  }
  static void write(std::byte* at, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    std::vector<std::byte> copy(bytes);
    read(copy.data(), static_cast<const std::byte*>(from), bytes);
    store(at, copy.data(), bytes, store_kind::plain);
  }
  template <class W>
  static void set(W& at, W value) {
    store(&at, &value, sizeof value, store_kind::plain);
  }
  static void read(void* to, const std::byte* at, std::size_t bytes) {
    if (bytes == 0) return;
    if (is_shared(to)) {
      write(static_cast<std::byte*>(to), at, bytes);
    } else if (!is_shared(at)) {
      std::memcpy(to, at, bytes);
    } else if (how().reads_cell_after_credit && at >= cells_begin && at < cells_end) {
      delayed_reads().push_back({to, at, bytes});
    } else {
      load(to, at, bytes, true);
    }
  }
  struct plain_slot {
    std::uint32_t encoding;
    std::uint64_t tag;
    alignas(8) std::byte payload[48];
  };
  static plain_slot view(const process_slot& s) {
    std::byte copy[60];
    load(copy, &s.encoding, sizeof copy, true);
    plain_slot seen;
    std::memcpy(&seen.encoding, copy, 4);
    std::memcpy(&seen.tag, copy + 4, 8);
    std::memcpy(seen.payload, copy + 12, 48);
    return seen;
  }
  static std::uint64_t view(const std::uint64_t& word) {
    std::uint64_t value;
    load(&value, &word, sizeof value, true);
    return value;
  }

  static void arm(std::atomic<std::uint32_t>& word, std::uint32_t reasons) {
    if (!how().polls && !how().sleeps_without_recheck)
      store(&word, &reasons, sizeof reasons, store_kind::release);
  }
  static void disarm(std::atomic<std::uint32_t>& word) {
    const std::uint32_t zero = 0;
    if (!how().polls) store(&word, &zero, sizeof zero, store_kind::plain);
  }
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t value, int) {
    if (how().polls) return poll();
    if (how().sleeps_without_recheck) {
      store(&word, &value, sizeof value, store_kind::release);
      barrier();
    }
    sleep_on(&word, value);
  }
  static void wake(std::atomic<std::uint32_t>& word) {
    if (exchange(&word, 0) != 0) wake_sleeper(&word);
  }
  static void barrier_on_all_processes() {
    if (!how().no_barrier && !how().polls) barrier();
  }
  static void fence() {
    if (!how().no_barrier && !how().polls) drain();
  }
  static void pause() {}
  static void prefetch_for_write(const void*) {}
  static void yield() {
    if (how().polls) begin_poll();
  }
  static std::uint64_t milliseconds() { return 0; }
  static remote_read read_remote(int, void* to, std::uint64_t address, std::size_t bytes, int& error) {
    if (how().refuse_remote_reads) {
      error = 1;
      return remote_read::refused;
    }
    const void* const at = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
    if (how().reads_remote_after_acknowledgement) {
      delayed_reads().push_back({to, at, bytes});
      return remote_read::complete;
    }
    std::vector<std::byte> copy(bytes);
    if (!remote_load(copy.data(), at, bytes, how().may_refuse_remote_reads)) {
      error = 1;
      return remote_read::refused;
    }
    read(to, copy.data(), bytes);
    return remote_read::complete;
  }
};

struct model_waiter final : process_waiter {
  model_waiter() noexcept : process_waiter(0) {}
  void check() override {}
};

}  // namespace tutti::shm::model
