// SPDX-License-Identifier: Apache-2.0
//
// Walks through the rounds of one rank's schedule with the lengths of a call: the peers and bytes
// of all transfers, and the bytes of the local work. It moves no data, except words: their values
// determine lengths.
//
// A schedule without loops and words becomes a list of its transfers, which takes a tenth of the
// memory.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti::simulation {

using namespace tutti::detail;

/// The lengths of a table of blocks: all the same, or one for each block.
struct block_lengths {
  std::size_t each = 0;
  std::span<const std::size_t> all{};

  std::size_t sum(std::size_t first, std::size_t blocks) const noexcept;
};

/// The lengths of a call on one rank, in elements. Spans must outlive their users.
struct call_lengths {
  std::size_t element_bytes = 1;
  std::size_t count = 0;
  block_lengths input, output;
  /// The buffers `input` and `output` are one.
  bool aliased = false;
};

struct planned_transfer {
  std::uint64_t bytes = 0;
  std::int32_t peer = -1;
  step_kind kind = step_kind::send;
  bool carries_words = false;
  std::uint32_t first_word = 0;  ///< of the words that are sent or received
};

struct local_work {
  std::uint64_t copied = 0, reduced = 0;  ///< bytes

  bool empty() const noexcept { return copied == 0 && reduced == 0; }
  local_work& operator+=(const local_work& more) noexcept {
    copied += more.copied;
    reduced += more.reduced;
    return *this;
  }
};
/// A round with transfers. Further local work follows them.
struct planned_round {
  local_work before;                        ///< of rounds without transfers
  std::vector<planned_transfer> transfers;  ///< sends first
  std::size_t sends = 0;
};

/// Thrown for schedules that cannot be simulated, with the reason.
struct not_simulated : std::exception {
  explicit not_simulated(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// A call beyond these limits is not simulated to its end.
struct simulation_limits {
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t messages = std::numeric_limits<std::uint64_t>::max();
  /// How many rates of messages are computed, which is the effort where many share a link.
  std::uint64_t rates = std::numeric_limits<std::uint64_t>::max();
  /// Bytes that the simulation needs, as it estimates them before it starts.
  double memory = std::numeric_limits<double>::infinity();
};
struct too_slow : std::exception {
  const char* what() const noexcept override { return "the call takes longer than its limit"; }
};
/// The limit of messages, rates or memory: nothing is known of the time.
struct too_laborious : std::exception {
  const char* what() const noexcept override { return "the simulation takes more effort than its limit"; }
};

/// One rank's schedule with the lengths of a call.
class rank_schedule {
 public:
  rank_schedule() = default;
  /// Throws not_simulated if the schedule calls the engine's native collective.
  rank_schedule(schedule&& s, const call_lengths& lengths);
  /// Appends a round, and the work that follows it, to a schedule that was not written by an
  /// algorithm. Words are not appended.
  void append(const planned_round& r, const local_work& after);
  void append(const local_work& work) {
    if (!work.empty()) rounds_.push_back({0, 0, 0, work});
  }

  /// Opens the next round with transfers. Returns false if there is none; `before` is set then too.
  bool open(planned_round& r);
  /// Performs the local steps of the open round.
  local_work close();
  /// Goes back to the start.
  void rewind() noexcept;

  std::span<std::uint64_t> words() noexcept { return words_; }
  std::size_t memory() const noexcept;
  /// The transfers of the round that has the most.
  std::size_t longest_round() const noexcept;
  /// The messages that it sends. Walks through the schedule and rewinds it.
  std::uint64_t count_messages();

 private:
  struct extent {  // of a place, in elements or words
    bool exists = false, padded = false;
    std::int64_t first = 0, segment = 0;
    std::size_t count = 0;
  };
  struct compact_round {
    std::uint32_t first, sends, count;
    local_work work;
  };
  struct compact_transfer {
    std::uint64_t bytes;
    std::int32_t peer;
    step_kind kind;
  };

  const item* next_item();
  bool open_written(planned_round& r);
  void plan_transfers(planned_round& r) const;
  local_work close_written();
  local_work local(const step& s);
  std::int64_t resolve(const index& i) const noexcept;
  extent locate(const place& p) const;
  std::size_t blocks_of(const place& p, std::size_t first) const;
  std::int32_t trips(const trip_count& t) const;
  std::size_t segment_elements() const noexcept;
  std::size_t sum_of_words(std::size_t first, std::size_t blocks) const;
  void compact();

  std::vector<compact_round> rounds_;
  std::vector<compact_transfer> transfers_;
  std::unique_ptr<schedule> written_;  // null: `rounds_` has it all
  call_lengths lengths_;
  std::uint32_t pc_ = 0;
  int depth_ = 0;
  struct loop_state {
    std::uint32_t head;
    std::int32_t i, n;
  } loops_[2] = {};
  const item* current_ = nullptr;
  std::vector<std::uint64_t> words_;
};

}  // namespace tutti::simulation
