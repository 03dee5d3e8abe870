// SPDX-License-Identifier: Apache-2.0
//
// Stores what the last call of each collective on a communicator needs. Most programs repeat their
// calls, and a repeated call is neither validated nor selected nor looked up again.
// call_dispatcher, its only user, compares each call with its entry here.
//
// An entry matches a call in one of three ways:
//   the key     call_key() of the call, before the full `call` is built (detail/call_key.hpp)
//   the head    the agreed fields of a `call` without its count, and which of its pointers are null
//   an interval the same as the head, with another count: the decision trees of a communicator are
//               reduced to a few intervals of counts, and each interval stores what its calls need
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "communicator/cached_counts.hpp"
#include "communicator/prepared_call.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"
#include "tutti/detail/call_key.hpp"

namespace tutti::detail {

/// How a cached call is executed: by the executor, or on one of two shorter paths.
enum class call_path : std::uint8_t {
  executor,  ///< schedule_run::begin() and advance(), or a composition
  native,    ///< the engine's own collective
  simple     ///< schedule_run::run_simple(): simple exchanges only
};

/// What the calls need whose counts lie in one interval.
struct count_interval {
  std::uint64_t upper_bound;
  prepared_call* prepared = nullptr;  // null: there was no such call yet
  combine_function kernel = nullptr;
  call_path path = call_path::executor;
};

/// The intervals for one head.
struct count_intervals {
  std::uint64_t head[4] = {};
  std::vector<count_interval> all;  // ascending; the last one has no upper bound

  count_interval& at(std::uint64_t count) noexcept {
    count_interval* one = all.data();
    while (count > one->upper_bound) ++one;
    return *one;
  }
};

/// The agreed fields of a call without its count, as words.
inline void write_head(const call& c, std::uint64_t (&head)[4]) noexcept {
  std::memcpy(head, static_cast<const void*>(&c), 24);
  std::memcpy(head + 3, &c.op.which, 8);
}

/// The last call of one collective. The fields that every repeated call reads come first.
struct alignas(64) cached_call {
  /// A `call` for a call that is repeated by its key. It holds the buffers of the one that runs.
  struct stored_call {
    call full;
    ready_native ready;
  };

  std::uint64_t key = no_call_key;           // no counts, or counts compared inline
  std::uint64_t indirect_key = no_call_key;  // counts compared out of line
  bool one_buffer = false;                   // input and output are the same
  combine_function combine = nullptr;
  void (*go)(const ready_native&, const void*, void*, std::size_t) = nullptr;  // or null
  std::unique_ptr<stored_call> stored;                                         // from the first call on
  std::unique_ptr<cached_counts> counted;                                      // if it has counts
  std::uint64_t head[4] = {};
  std::uint64_t count = 0;
  std::uint8_t pointers = 0;  // see pointers_of()
  bool two_buffers = false;   // there are two buffers
  bool repeatable = false;    // the next call may match: no vector form, not compared, no names
  bool fast_path = false;     // the same, and not traced
  call_path path = call_path::executor;
  combine_function kernel = nullptr;  // replaces the operator of the call
  prepared_call* prepared = nullptr;
  const char* algorithm = "";
  shm::wait_site site;
  count_intervals* intervals = nullptr;  // null: the trees do not decide

  /// Which pointers there are, and whether the buffers are one.
  static std::uint8_t pointers_of(const void* input, const void* output, combine_function combine) noexcept {
    return static_cast<std::uint8_t>((input != nullptr) | (output != nullptr) << 1 | (input == output) << 2 |
                                     (combine != nullptr) << 3);
  }
  /// Two buffers are the most frequent case. The operator is then assumed to exist as before.
  [[gnu::always_inline]] bool same_pointers(const void* input, const void* output,
                                            combine_function combine_or_null) const noexcept {
    if (two_buffers) [[likely]]
      return input != nullptr && output != nullptr && input != output;
    return pointers == pointers_of(input, output, combine_or_null);
  }
  /// All agreed fields but the count, and that the call names no algorithm. It is one test, since
  /// usually all of them are equal.
  [[gnu::always_inline]] bool same_head(const call& c) const noexcept {
    static_assert(offsetof(call, count) == 24 &&
                  offsetof(operation, unused) == offsetof(operation, which) + 2);
    const auto word = [](const void* at, std::size_t i) {
      std::uint64_t w;
      std::memcpy(&w, static_cast<const std::byte*>(at) + i * sizeof w, sizeof w);
      return w;
    };
    const auto named =
        reinterpret_cast<std::uintptr_t>(c.algorithm) | reinterpret_cast<std::uintptr_t>(c.composition);
    return ((word(&c, 0) ^ head[0]) | (word(&c, 1) ^ head[1]) | (word(&c, 2) ^ head[2]) |
            (word(&c.op.which, 0) ^ head[3]) | named) == 0;
  }
  /// Changes the entry to another count. Returns false, and changes nothing, if no call with a
  /// count of that interval was stored.
  bool try_set_count(std::uint64_t other) noexcept;
  /// Changes the entry to another path for its count.
  void set_path(call_path how) noexcept {
    path = how;
    go = how == call_path::native && count <= stored->ready.max_count ? stored->ready.run : nullptr;
  }
  void forget() noexcept;
};

class call_cache {
 public:
  /// What decides whether calls of a communicator may be repeated without a check.
  struct mode {
    bool compared = false;  // checked mode
    bool traced = false;
    bool inter = false;  // between two groups
  };

  /// Makes the entries. Before that, an entry matches nothing and must not be stored to.
  void open();
  bool is_open() const noexcept { return storage_ != nullptr; }

  cached_call& entry(collective what) noexcept { return entries_[static_cast<std::size_t>(what)]; }
  const cached_call& entry(collective what) const noexcept {
    return entries_[static_cast<std::size_t>(what)];
  }
  cached_call& entry_of_key(std::uint64_t key) noexcept { return entries_[key & 0xff]; }

  /// Whether the call may use what its entry holds, which is changed to the count of the call.
  [[gnu::noinline]] bool contains(const call& c) noexcept;
  /// Stores a valid call without counts and what it runs. `kernel` replaces its operator, or is
  /// null. `engine` makes its collective ready; null: the engine is not called.
  cached_call& store(const call& c, prepared_call& p, mode how, combine_function kernel, context* engine);
  /// Whether the call repeats the stored one but for its count.
  bool repeats_head(const call& c) noexcept;

  /// The intervals for this head; null if none were added.
  count_intervals* intervals_of(const call& c) noexcept;
  /// Adds intervals for the head of `c` that end at the given counts, in any order.
  count_intervals& add_intervals(const call& c, std::vector<std::uint64_t> bounds);
  /// Stores what the entry holds in the interval of its count, and serves other counts from there.
  static void use_intervals(cached_call& r, count_intervals& intervals, std::uint64_t element_bytes);

  /// Storage for the counts of the call with this key.
  cached_counts& counts_of(std::uint64_t key);
  /// Stores the counts of a call after it has run. `c` is the call of the caller, `made` the one
  /// that ran, `full` the same with all displacements, which lie in counts_of(key).
  void store_counts(std::uint64_t key, const counted_call& c, const call& made, const call& full,
                    context* engine);

  /// No later call matches.
  void forget_all() noexcept;

  /// The shortest path that serves blocks of up to `bytes` bytes.
  static call_path path_of(const prepared_call& p, std::uint64_t bytes, bool other_kernel) noexcept;

 private:
  static cached_call* empty() noexcept;

  cached_call* entries_ = empty();          // by collective
  std::unique_ptr<cached_call[]> storage_;  // null until the first call
  std::vector<std::unique_ptr<count_intervals>> intervals_;
};

}  // namespace tutti::detail
