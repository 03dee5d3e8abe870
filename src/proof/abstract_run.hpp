// SPDX-License-Identifier: Apache-2.0
//
// Runs the schedules of all ranks of a call on symbols instead of numbers. It reports every
// violation of the rules in schedule.hpp and every result that differs from the collective's
// definition.
//
// Nothing is buffered: a transfer is complete when both sides have reached it, and the messages
// between two ranks match in order. So a schedule that passes needs no buffering of messages.
// Faults:
//   rendezvous   deadlock; messages of different sizes; peers out of range, or beyond the claimed
//                reach; a put that matches a receive
//   places       beyond a buffer or the declared scratch; a read of uninitialized memory or of a
//                gap of the caller's buffer; a write to the input or to a gap
//   hazards      a round writes what it also reads or writes; a put that overlaps with an access of
//                its target which is not known to be over, or begins before the await_signal
//   results      an output element that differs from the definition; a barrier that a rank may
//                leave before another one has entered
//
// It also measures costs. Time follows the one-port model: a message takes one unit. A rank has one
// port to send and one to receive. Each port serves the transfers in the order in which the round
// lists them. Messages to the rank itself, empty messages and signals count the same; local work is
// free. If two lists block each other forever, the message that could begin first overtakes its
// receiver's order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proof/abstract_call.hpp"

namespace tutti::proof {

struct fault {
  int rank = -1;   ///< -1: not of a single rank
  int round = -1;  ///< of that rank, from 0, in execution order
  std::string what;
};

struct costs {
  std::int64_t rounds = 0;     ///< one-port time until the last rank is done
  std::uint64_t messages = 0;  ///< matched transfers
  std::uint64_t combined = 0;  ///< elements that operators combined
  /// by rank: bytes sent; bytes received; bytes of scratch, without `words`
  std::vector<std::uint64_t> sent, received, scratch;
  std::vector<std::size_t> memory;  ///< by rank: size of the schedule itself
  /// What the busiest rank sends or receives: links carry both directions at the same time.
  std::uint64_t max_bytes() const noexcept;
  std::uint64_t max_scratch() const noexcept;
};

/// A place of an executed round, for drawings: elements of a buffer (words for buffer::words).
struct traced_place {
  buffer where = buffer::input;
  std::size_t first = 0, count = 0;
  /// false: a run of one rank cannot know them, because messages of other ranks carry the lengths
  bool known = true;
};
struct traced_step {
  step_kind kind = step_kind::send;
  std::uint32_t step = 0;      ///< its index in schedule::steps
  bool received_left = false;  ///< for recv_reduce: target = received op source
  int peer = -1;               ///< for transfers: the rank to send to or to receive from
  traced_place source, other,
      target;  ///< those that the kind has; the target of a put is in the peer's output
  /// for transfers except await_signal: the unit of time in which it happens, from 0
  std::int64_t time = 0;
};
/// The steps in the order sends, receives, local steps, each in the order written. Steps whose
/// segment does not exist are omitted.
struct traced_round {
  std::int64_t begin = 0, end = 0;  ///< in units of time; equal if all steps were local
  std::vector<traced_step> steps;
};
/// For each rank, the rounds that it executed.
using trace = std::vector<std::vector<traced_round>>;

struct run_options {
  /// If false, the run computes only sizes: fast for large counts, but it compares no result.
  bool symbols = true;
  bool record = false;
  reach permitted_reach = reach::any_rank;  ///< the reach that the head of the algorithm claims
};

struct outcome {
  std::vector<fault> faults;  ///< the first fault found; for results, one for each rank
  costs measured;
  trace recorded;
  bool ok() const noexcept { return faults.empty(); }
};

/// The costs of one rank, without those of the ranks for which it waits.
struct rank_costs {
  std::int64_t rounds = 0;               ///< one-port time, as if it never waited
  std::uint64_t messages = 0;            ///< transfers, both directions
  std::uint64_t unknown = 0;             ///< transfers whose length other messages carry
  std::uint64_t sent = 0, received = 0;  ///< bytes, without those of unknown length
  std::uint64_t scratch = 0;             ///< bytes, without `words`
  std::uint64_t combined = 0;            ///< elements that the operator combined
  std::size_t memory = 0;                ///< size of the schedule itself
  bool tracked = false;                  ///< the contents of all buffers were tracked until the end
  /// a measure of time: steps, and 1 for 8 elements or words that a step touches
  std::uint64_t work = 0;
};
struct rank_options {
  /// Track which elements are initialized, unless that takes long.
  bool contents = true;
  bool record = false;  ///< pass the rounds to the visitor
  reach permitted_reach = reach::any_rank;
  /// More `work` is a fault: the run would take minutes.
  std::uint64_t max_work = 2'000'000'000;
};
struct rank_outcome {
  std::vector<fault> faults;
  rank_costs measured;
  bool ok() const noexcept { return faults.empty(); }
};
/// Receives the rounds of a rank in order. Times count from 0 as if no rank ever waited.
using round_visitor = std::function<void(const traced_round&)>;

/// Executes calls and reuses its memory from run to run.
class abstract_machine {
 public:
  abstract_machine();
  ~abstract_machine();
  abstract_machine(abstract_machine&&) noexcept;
  /// `schedules` has one schedule for each rank.
  outcome run(const abstract_call& p, const std::vector<schedule>& schedules,
              const run_options& options = {});
  /// Executes the schedule `s` of one rank; each message of another rank arrives. It finds faults
  /// of places, of hazards within a round, of uninitialized elements, and peers out of range or
  /// reach. Only that rank needs tables in `p`. peer_messages.hpp compares the messages with those
  /// of other ranks. No algorithm of the catalogue puts, and a put is a fault here.
  rank_outcome run_rank(const abstract_call& p, const schedule& s, int rank, const rank_options& options = {},
                        const round_visitor& visit = {});

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// Executes a single call.
outcome run_abstract(const abstract_call& p, const std::vector<schedule>& schedules,
                     const run_options& options = {});

}  // namespace tutti::proof
