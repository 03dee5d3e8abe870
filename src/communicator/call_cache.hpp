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

#include <bit>
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

/// The path of a cached call: the executor, or one of two shorter ones.
enum class call_path : std::uint8_t {
  executor,  ///< schedule_run::begin() and advance(), or a composition
  native,    ///< the engine's own collective
  simple     ///< schedule_run::run_simple(): simple exchanges only
};

/// The data of the calls whose counts lie in one interval.
struct count_interval {
  std::uint64_t upper_bound;          // the largest count of the interval
  prepared_call* prepared = nullptr;  // null: there was no such call yet
  combine_function kernel = nullptr;
  call_path path = call_path::executor;
};

/// The intervals of calls that differ by their count only.
struct count_intervals {
  std::uint64_t head[4] = {};       // their common fields (write_head())
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

/// The last call of one collective on a communicator, and what a repetition of it needs. Repeated
/// calls read the first fields only, so these come first.
struct alignas(64) cached_call {
  /// Allocated by the first call of the collective. Its address is stable.
  struct stored_call {
    /// The engine's own collective with arguments that the engine has looked up. Its function is
    /// null if the engine offers none or does not execute the call.
    ready_native ready;
    /// The last call. A repetition that passes a key only writes its buffers and count here, and is
    /// executed from here.
    call full;
    const char* algorithm = "";  // "allreduce/ring"
    shm::wait_site site;         // describes a wait in the engine's collective, for reports
  };

  // Read by run_cached() and run_cached_with_counts(). At most one of the two keys is valid; the
  // other is no_call_key. Without a valid key, only run_call() can repeat the call.
  std::uint64_t key = no_call_key;              // its counts, if it has any, are compared inline
  std::uint64_t out_of_line_key = no_call_key;  // its counts are compared out of line
  std::uint64_t ready_key = no_call_key;        // `key` if `ready_function` is not null
  combine_function combine = nullptr;           // the program's operator
  // The function of `stored->ready`, if `path` is native and the function serves `count` elements.
  // Null: the call takes another path.
  bool (*ready_function)(const void*, void*, std::size_t, const ready_native&) = nullptr;
  std::unique_ptr<stored_call> stored;
  std::unique_ptr<cached_counts> counted;  // the counts of a vector form; null if there was none

  // Read by run_call().
  std::uint64_t head[4] = {};            // the agreed fields without the count (write_head())
  std::uint64_t count = 0;               // try_set_count() changes the entry to another
  std::uint8_t pointer_bits = 0;         // which pointers exist (pointer_bits_of())
  bool has_distinct_buffers = false;     // input and output exist and differ
  bool repeatable = false;               // no vector form, no checked mode, no algorithm()
  bool fast_path = false;                // repeatable, and the trace is off
  bool any_root = false;                 // native for all roots
  std::uint8_t other_roots = 0;          // calls with another root since it was stored
  call_path path = call_path::executor;  // what executes it

  // Read by the executing function.
  combine_function kernel = nullptr;  // the library's loop in place of `combine`; null: `combine`
  prepared_call* prepared = nullptr;  // its schedule or composition

  // For calls with another count. Null: the entry serves its own count only.
  count_intervals* intervals = nullptr;

  /// "allreduce/ring"; empty before the first call.
  const char* algorithm() const noexcept { return stored ? stored->algorithm : ""; }
  /// Bits 0, 1, 3: which pointers are not null. Bit 2: whether both buffers have one address.
  static std::uint8_t pointer_bits_of(const void* input, const void* output,
                                      combine_function combine) noexcept {
    return static_cast<std::uint8_t>((input != nullptr) | (output != nullptr) << 1 | (input == output) << 2 |
                                     (combine != nullptr) << 3);
  }
  /// Whether the same pointers are null as in the last call, and the buffers are again one or two.
  /// Two buffers are the most frequent case; the operator is then assumed to exist as before.
  [[gnu::always_inline]] bool same_pointers(const void* input, const void* output,
                                            combine_function combine_or_null) const noexcept {
    if (has_distinct_buffers) [[likely]]
      return input != nullptr && output != nullptr && input != output;
    return pointer_bits == pointer_bits_of(input, output, combine_or_null);
  }
  /// All agreed fields but the count, and that the call names no algorithm. It is one test, since
  /// usually all of them are equal.
  [[gnu::always_inline]] bool same_head(const call& c) const noexcept {
    return (difference(c, 0) | difference(c, 1) | rest_of_differences(c)) == 0;
  }
  /// The same, but with another root.
  bool same_head_but_root(const call& c) const noexcept {
    static_assert(offsetof(call, root) == 4 && sizeof c.root == 4);
    return std::memcmp(static_cast<const void*>(&c), head, offsetof(call, root)) == 0 &&
           (difference(c, 1) | rest_of_differences(c)) == 0;
  }
  static std::uint64_t word(const void* at, std::size_t i) noexcept {
    std::uint64_t w;
    std::memcpy(&w, static_cast<const std::byte*>(at) + i * sizeof w, sizeof w);
    return w;
  }
  /// 0 if word i of the head is the same.
  std::uint64_t difference(const call& c, std::size_t i) const noexcept { return word(&c, i) ^ head[i]; }
  std::uint64_t rest_of_differences(const call& c) const noexcept {
    static_assert(offsetof(call, count) == 24 &&
                  offsetof(operation, unused) == offsetof(operation, which) + 2);
    const auto named =
        reinterpret_cast<std::uintptr_t>(c.algorithm) | reinterpret_cast<std::uintptr_t>(c.composition);
    return difference(c, 2) | (word(&c.op.which, 0) ^ head[3]) | named;
  }
  /// Changes the entry to another count. Returns false, and changes nothing, if no call with a
  /// count of that interval was stored.
  bool try_set_count(std::uint64_t other) noexcept {
    if (intervals == nullptr || other == 0) return false;
    const count_interval& one = intervals->at(other);
    if (one.prepared == nullptr) return false;
    count = other;
    kernel = one.kernel;
    set_path(one.path);
    prepared = one.prepared;
    stored->algorithm = stored->site.algorithm = one.prepared->name;
    return true;
  }
  /// Changes the entry to another path for its count.
  void set_path(call_path how) noexcept {
    path = how;
    ready_function =
        how == call_path::native && count <= stored->ready.max_count ? stored->ready.run : nullptr;
    ready_key = ready_function != nullptr ? key : no_call_key;
  }
  /// No later call matches.
  void forget() noexcept;
};

// An index of the table is then one shift.
static_assert(std::has_single_bit(sizeof(cached_call)));

class call_cache {
 public:
  /// The conditions under which calls of a communicator may be repeated without validation.
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
  /// What a call with this head ran whose count was in the same interval; null: there was none.
  /// Unlike the entry, it may be older than the last call of the collective.
  prepared_call* find_prepared(const call& c) noexcept;
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
  /// Stores the counts of a call after it has run. `input`, `output` and `c` are those of the
  /// caller, `made` the call that ran, `full` the same with all displacements, which lie in
  /// counts_of(key).
  void store_counts(std::uint64_t key, const void* input, void* output, const counted_call& c,
                    const call& made, const call& full, context* engine);

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
