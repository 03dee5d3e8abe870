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

#include "fabric/waiting.hpp"
#include "tutti/core/call.hpp"

namespace tutti::fabric {

class line_exchange;

class team {
  struct bench;
  friend class line_exchange;

 public:
  static constexpr std::uint32_t session_count = 8;
  /// Calls of one rank that may be under way at once. Half the sessions: whoever begins call n has finished n
  /// - 4, so all have begun n - 4, so all have finished n - 8, whose session n takes over.
  static constexpr std::uint32_t outstanding = session_count / 2;
  static constexpr std::size_t operand_bytes = 48;  ///< the largest operand that is combined on the way
  static constexpr std::size_t notice_bytes =
      2048;  ///< the largest vector that the root leaves for all to copy

  struct member {
    int worker;
    doorbell* worker_bell;
  };
  team(const std::vector<member>& members, ringer& rings);

  int size() const noexcept { return static_cast<int>(seats_.size()); }

  /// One rank's part of one call, resumable.
  class visit {
   public:
    /// `number`: 0, 1, 2 ... of the calls on this team, the same on all members. `c` must stay until over().
    /// Throws mismatch_error where another rank of this bench makes another call.
    void begin(team& t, int rank, std::uint32_t number, const call& c);
    /// Goes on as far as it can. With `blocking` waits and returns true; else false where it would have to
    /// wait. Throws mismatch_error where the ranks make different calls.
    bool go_on(waiting& w, bool blocking, const wait_site& site);
    bool over() const noexcept { return phase_ == phase::over; }
    /// begin() and go_on(w, true, site) in one.
    static void make(team& t, int rank, std::uint32_t number, const call& c, waiting& w,
                     const wait_site& site);

   private:
    enum class phase : std::uint8_t { meet, meet_again, over };
    enum class style : std::uint8_t { nothing, row, notice, slices };
    void sit_down(team& t, int rank, std::uint32_t number, const call& c) noexcept;
    void bring();
    void arrive(int which);
    bool meet(int which, waiting& w, bool blocking, const wait_site& site);
    // Static, since a visit whose address is nowhere taken stays in registers.
    static void work(const team& t, std::uint32_t session, int rank, waiting& w, const wait_site& site);
    friend class line_exchange;
    [[noreturn]] static void differs(const call& c, int rank, std::uint64_t mine, std::uint64_t other);
    void combine_row(std::byte* result) const;
    void combine_benches() const;
    void leave() noexcept;

    team* team_ = nullptr;
    const call* call_ = nullptr;
    bench* bench_ = nullptr;  // this rank's
    int rank_ = 0, place_ = 0;
    std::uint32_t number_ = 0, session_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t call_is_ = 0;
    int next_bench_ = 0;
    phase phase_ = phase::over;
    style style_ = style::nothing;
    bool last_ = false, listed_ = false;
  };

 private:
  struct seat {
    int bench;
    int place;  // within the bench, by rank
  };
  struct alignas(64) notice_line {  // a word and what goes with it, moved between caches together
    std::atomic<std::uint32_t> word{0};
    std::uint64_t call_is =
        0;  // what the call is, in short: a call that another rank makes differently shows here
    std::byte data[operand_bytes];
  };
  struct meeting {                       // one of the two of a session
    alignas(64) std::uint32_t come = 0;  // plain, as the next two: touched by the bench's own worker only
    std::uint64_t call_is = 0;
    std::vector<doorbell*> asleep;
    notice_line
        complete;    // all of this bench have come; read by the other benches. Data: the bench's partial
    notice_line go;  // all benches have come; read by this bench. Data: the result
  };
  struct bench {
    int members = 0, first = 0;
    doorbell* worker_bell = nullptr;
    meeting meetings[session_count][2];
    std::unique_ptr<std::byte[]> rows;  // session_count * members * operand_bytes
    std::unique_ptr<std::byte[]> notices;

    std::byte* operand(std::uint32_t session, int place) const noexcept {
      return rows.get() +
             (session * static_cast<std::size_t>(members) + static_cast<std::size_t>(place)) * operand_bytes;
    }
  };
  struct alignas(64) posting {
    const call* what = nullptr;
  };

  std::vector<seat> seats_;
  std::vector<std::unique_ptr<bench>> benches_;
  std::unique_ptr<posting[]> postings_;  // session_count * size
  ringer& rings_;
  bool ordered_ = true;  // benches are intervals of ranks, in rising order

 public:
  /// What all members brought to one call. slices.cpp works on it.
  class gathering {
   public:
    gathering(const posting* first, int size, int rank) noexcept : first_(first), size_(size), rank_(rank) {}
    const call& operator[](int r) const noexcept { return *first_[r].what; }
    const call& mine() const noexcept { return *first_[rank_].what; }
    int size() const noexcept { return size_; }
    int rank() const noexcept { return rank_; }

   private:
    const posting* first_;
    int size_, rank_;
  };
};

}  // namespace tutti::fabric
