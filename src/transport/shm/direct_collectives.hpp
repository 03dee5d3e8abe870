// SPDX-License-Identifier: Apache-2.0
//
// Collectives without messages, for a group whose ranks read one another's memory.
//
// The ranks of one worker (thread) form a worker group. They count their arrivals with a plain
// counter. The last one to arrive exchanges one cache line with the other worker groups, and then
// releases its own group. So a barrier of p ranks on t threads costs as much as a barrier of t
// threads.
//
// Small reductions combine operands on the way. Each rank writes its operand into the row of its
// worker group. The last rank combines the row in rank order. The results of the groups are
// combined in group order. All other calls are published. The ranks pass a barrier, and each works
// on its slice of the result in the memory of the others. Then they pass a second barrier
// (slices.hpp).
//
// Several nonblocking calls of one group may be in progress, each in its own epoch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/shm/slices.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::shm {

class line_exchange;

class direct_collectives {
  struct worker_group;
  friend class line_exchange;

 public:
  static constexpr std::uint32_t epoch_count = 8;
  /// The number of calls of one rank that may be in progress. It is half the number of epochs. A
  /// rank that begins call n has finished n - 4, so all ranks have begun n - 4. Therefore all have
  /// finished n - 8, whose epoch call n reuses.
  static constexpr std::uint32_t outstanding = epoch_count / 2;
  /// The largest operand that is combined on the way.
  static constexpr std::size_t operand_bytes = 48;
  // The largest vector that the root of a bcast copies for all ranks.
  static constexpr std::size_t root_copy_bytes = 2048;

  struct member {
    int worker;
    wakeup_flag* worker_wakeup;
  };
  direct_collectives(const std::vector<member>& members, waker& w);

  int size() const noexcept { return static_cast<int>(slots_.size()); }

  /// The participation of one rank in one call. Resumable.
  class participation {
   public:
    /// `call_id` counts the calls on this object: 0, 1, 2 ..., the same on all members. `c` must
    /// stay valid until is_complete(). Throws mismatch_error if another rank of the worker group
    /// makes another call.
    void begin(direct_collectives& t, int rank, std::uint32_t call_id, const call& c);
    /// Continues as far as possible. If `blocking`, waits and returns true. Otherwise returns false
    /// if it would have to wait. Throws mismatch_error if the ranks make different calls.
    bool advance(wait_interface& w, bool blocking, const wait_site& site);
    bool is_complete() const noexcept { return phase_ == phase::complete; }
    /// Combines begin() and advance(w, true, site).
    static void run(direct_collectives& t, int rank, std::uint32_t call_id, const call& c, wait_interface& w,
                    const wait_site& site);

   private:
    enum class phase : std::uint8_t { pass_barrier, second_barrier, complete };
    enum class style : std::uint8_t { nothing, row, root_copy, slices };
    void take_slot(direct_collectives& t, int rank, std::uint32_t call_id, const call& c) noexcept;
    void publish_operand();
    void arrive(int which);
    bool pass_barrier(int which, wait_interface& w, bool blocking, const wait_site& site);
    // Static, because an object whose address is never taken stays in registers.
    static void work(const direct_collectives& t, std::uint32_t epoch, int rank, wait_interface& w,
                     const wait_site& site);
    friend class line_exchange;
    [[noreturn]] static void throw_call_mismatch(const call& c, int rank, std::uint64_t mine,
                                                 std::uint64_t other);
    void combine_row(std::byte* result) const;
    void combine_worker_groups() const;
    void copy_result() noexcept;

    direct_collectives* direct_collectives_ = nullptr;
    const call* call_ = nullptr;
    worker_group* worker_group_ = nullptr;  // the group of this rank
    int rank_ = 0, index_ = 0;
    std::uint32_t call_id_ = 0, epoch_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t call_digest_ = 0;
    int next_worker_group_ = 0;
    phase phase_ = phase::complete;
    style style_ = style::nothing;
    bool last_ = false, listed_ = false;
  };

 private:
  struct slot {
    int worker_group;
    int index;  // index within the worker group, by rank
  };
  // A word and its payload in one line, so that one cache transfer moves both.
  struct alignas(64) flag_line {
    std::atomic<std::uint32_t> word{0};
    // Digest of the call. It reveals that another rank makes a different call.
    std::uint64_t call_digest = 0;
    std::byte data[operand_bytes];
  };
  struct barrier_phase {  // one of the two barriers of an epoch
    // Plain, as the next two members: only the worker of this group accesses them.
    alignas(64) std::uint32_t arrived = 0;
    std::uint64_t call_digest = 0;
    std::vector<wakeup_flag*> asleep;
    // All members of this group have arrived; the other groups read it. Data: the group's partial
    // result.
    flag_line complete;
    // All groups have arrived; this group reads it. Data: the result.
    flag_line release;
  };
  struct worker_group {
    int members = 0, first = 0;
    wakeup_flag* worker_wakeup = nullptr;
    barrier_phase barrier_phases[epoch_count][2];
    std::unique_ptr<std::byte[]> rows;  // epoch_count * members * operand_bytes
    std::unique_ptr<std::byte[]> root_copies;

    std::byte* operand(std::uint32_t epoch, int index) const noexcept {
      return rows.get() +
             (epoch * static_cast<std::size_t>(members) + static_cast<std::size_t>(index)) * operand_bytes;
    }
  };
  std::vector<slot> slots_;
  std::vector<std::unique_ptr<worker_group>> worker_groups_;
  std::unique_ptr<published_call[]> published_calls_;  // epoch_count * size
  waker& waker_;
  bool ordered_ = true;  // worker groups are intervals of ranks, in ascending order
};

}  // namespace tutti::shm
