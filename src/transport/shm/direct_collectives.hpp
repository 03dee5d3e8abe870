// SPDX-License-Identifier: Apache-2.0
//
// A group whose ranks read one another's memory: the collectives that need no messages.
//
// Ranks of one worker (thread) form a bench. They count themselves in with a plain counter; the last one to
// come speaks for the bench, exchanges one cache line with the other benches, and lets its bench go on. So p
// ranks on t threads meet at the price of t threads meeting.
//
// Small reductions combine on the way: each rank lays its operand in its bench's row, the last one combines
// the row in rank order, the benches' results are combined in bench order. Everything else publishes its
// call, meets, works on its own slice of the result directly in the others' memory, and meets again
// (slices.hpp).
//
// Several calls of one group may be under way (nonblocking): each has a session of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::shm {

class line_exchange;

class direct_collectives {
  struct worker_group;
  friend class line_exchange;

 public:
  static constexpr std::uint32_t epoch_count = 8;
  /// Calls of one rank that may be under way at once. Half the sessions: whoever begins call n has finished n
  /// - 4, so all have begun n - 4, so all have finished n - 8, whose session n takes over.
  static constexpr std::uint32_t outstanding = epoch_count / 2;
  static constexpr std::size_t operand_bytes = 48;  ///< the largest operand that is combined on the way
  static constexpr std::size_t root_copy_bytes =
      2048;  ///< the largest vector that the root leaves for all to copy

  struct member {
    int worker;
    wakeup_flag* worker_wakeup;
  };
  direct_collectives(const std::vector<member>& members, waker& rings);

  int size() const noexcept { return static_cast<int>(slots_.size()); }

  /// One rank's part of one call, resumable.
  class participation {
   public:
    /// `number`: 0, 1, 2 ... of the calls on this team, the same on all members. `c` must stay until over().
    /// Throws mismatch_error where another rank of this bench makes another call.
    void begin(direct_collectives& t, int rank, std::uint32_t number, const call& c);
    /// Goes on as far as it can. With `blocking` waits and returns true; else false where it would have to
    /// wait. Throws mismatch_error where the ranks make different calls.
    bool go_on(wait_interface& w, bool blocking, const wait_site& site);
    bool over() const noexcept { return phase_ == phase::over; }
    /// begin() and go_on(w, true, site) in one.
    static void make(direct_collectives& t, int rank, std::uint32_t number, const call& c, wait_interface& w,
                     const wait_site& site);

   private:
    enum class phase : std::uint8_t { pass_barrier, second_barrier, over };
    enum class style : std::uint8_t { nothing, row, root_copy, slices };
    void take_slot(direct_collectives& t, int rank, std::uint32_t number, const call& c) noexcept;
    void publish_operand();
    void arrive(int which);
    bool pass_barrier(int which, wait_interface& w, bool blocking, const wait_site& site);
    // Static, since a visit whose address is nowhere taken stays in registers.
    static void work(const direct_collectives& t, std::uint32_t epoch, int rank, wait_interface& w,
                     const wait_site& site);
    friend class line_exchange;
    [[noreturn]] static void differs(const call& c, int rank, std::uint64_t mine, std::uint64_t other);
    void combine_row(std::byte* result) const;
    void combine_worker_groups() const;
    void leave() noexcept;

    direct_collectives* direct_collectives_ = nullptr;
    const call* call_ = nullptr;
    worker_group* worker_group_ = nullptr;  // this rank's
    int rank_ = 0, place_ = 0;
    std::uint32_t number_ = 0, epoch_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t call_digest_ = 0;
    int next_worker_group_ = 0;
    phase phase_ = phase::over;
    style style_ = style::nothing;
    bool last_ = false, listed_ = false;
  };

 private:
  struct slot {
    int worker_group;
    int place;  // within the bench, by rank
  };
  struct alignas(64) flag_line {  // a word and what goes with it, moved between caches together
    std::atomic<std::uint32_t> word{0};
    std::uint64_t call_digest =
        0;  // what the call is, in short: a call that another rank makes differently shows here
    std::byte data[operand_bytes];
  };
  struct barrier_phase {                    // one of the two of a session
    alignas(64) std::uint32_t arrived = 0;  // plain, as the next two: touched by the bench's own worker only
    std::uint64_t call_digest = 0;
    std::vector<wakeup_flag*> asleep;
    flag_line complete;  // all of this bench have come; read by the other benches. Data: the bench's partial
    flag_line go;        // all benches have come; read by this bench. Data: the result
  };
  struct worker_group {
    int members = 0, first = 0;
    wakeup_flag* worker_wakeup = nullptr;
    barrier_phase barrier_phases[epoch_count][2];
    std::unique_ptr<std::byte[]> rows;  // epoch_count * members * operand_bytes
    std::unique_ptr<std::byte[]> root_copies;

    std::byte* operand(std::uint32_t epoch, int place) const noexcept {
      return rows.get() +
             (epoch * static_cast<std::size_t>(members) + static_cast<std::size_t>(place)) * operand_bytes;
    }
  };
  struct alignas(64) published_call {
    const call* what = nullptr;
  };

  std::vector<slot> slots_;
  std::vector<std::unique_ptr<worker_group>> worker_groups_;
  std::unique_ptr<published_call[]> published_calls_;  // epoch_count * size
  waker& rings_;
  bool ordered_ = true;  // benches are intervals of ranks, in rising order

 public:
  /// What all members brought to one call. slices.cpp works on it.
  class published_calls {
   public:
    published_calls(const published_call* first, int size, int rank) noexcept
        : first_(first), size_(size), rank_(rank) {}
    const call& operator[](int r) const noexcept { return *first_[r].what; }
    const call& mine() const noexcept { return *first_[rank_].what; }
    int size() const noexcept { return size_; }
    int rank() const noexcept { return rank_; }

   private:
    const published_call* first_;
    int size_, rank_;
  };
};

}  // namespace tutti::shm
