// SPDX-License-Identifier: Apache-2.0
//
// Runs the schedules of all ranks of a call on symbols instead of numbers, and finds whatever breaks a rule
// of schedule.hpp or gives another result than the collective's definition.
//
// Nothing is buffered: a transfer is complete when both sides have come to it, and messages of two ranks meet
// in order. So a schedule that passes needs no mailbox of any size. Faults:
//   rendezvous   nobody can go on; messages of different sizes; peers out of range, or further away than the
//                algorithm says; put against recv
//   places       beyond a buffer or a scratch as declared; what holds nothing yet or is a gap of the caller's
//                is read; input or a gap is written
//   hazards      a round writes where it reads or writes at the same time; a put meets an access of its
//   target
//                that is not known to be over, or begins before the await_signal is
//   results      an element of an output that is not what the definition says; a barrier that somebody leaves
//                while another may not have come
//
// Costs are measured on the way. Time is the one-port model: a message takes one unit, a rank has one port to
// send and one to receive, and serves each in the order in which its round lists the transfers; messages to
// oneself, empty ones and signals count like any other, local work is free. Where two lists block one another
// for ever, the message that could begin first goes ahead of its receiver's order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proof/abstract_call.hpp"

namespace tutti::proof {

struct fault {
  int rank = -1;   ///< -1: not one rank's
  int round = -1;  ///< of that rank, from 0, as executed
  std::string what;
};

struct costs {
  std::int64_t rounds = 0;                    ///< one-port time until the last rank is done
  std::uint64_t messages = 0;                 ///< transfers that met
  std::uint64_t combined = 0;                 ///< elements that operators were applied to
  std::vector<std::uint64_t> bytes, scratch;  ///< by rank: sent; of scratch, without `words`
  std::vector<std::size_t> memory;            ///< by rank: of the schedule itself
  std::uint64_t max_bytes() const noexcept;
  std::uint64_t max_scratch() const noexcept;
};

/// What a round came to, for drawings: a place as elements of a buffer (words for buffer::words).
struct traced_place {
  buffer where = buffer::input;
  std::size_t first = 0, count = 0;
};
struct traced_step {
  step_kind kind = step_kind::send;
  std::uint32_t step = 0;      ///< its number in schedule::steps
  bool received_left = false;  ///< of recv_reduce: target = received op source
  int peer = -1;               ///< of transfers: to or from whom
  traced_place source, other,
      target;             ///< those that the kind has; the target of a put is in the peer's output
  std::int64_t time = 0;  ///< of transfers but await_signal: the unit of time that it takes, from 0
};
/// Sends, receives, then local steps, each in the order written; steps without a segment are left out.
struct traced_round {
  std::int64_t begin = 0, end = 0;  ///< in units of time; the same where all was local
  std::vector<traced_step> steps;
};
/// By rank, the rounds that it went through.
using trace = std::vector<std::vector<traced_round>>;

struct run_options {
  bool symbols =
      true;  ///< without, only sizes are followed: fast for large counts, and no result is compared
  bool record = false;
  reach within = reach::any_rank;  ///< to whom ranks may send, as the head of the algorithm says
};

struct outcome {
  std::vector<fault> faults;  ///< the first that was found; results: one a rank
  costs measured;
  trace recorded;
  bool ok() const noexcept { return faults.empty(); }
};

/// Keeps its memory from run to run.
class abstract_machine {
 public:
  abstract_machine();
  ~abstract_machine();
  abstract_machine(abstract_machine&&) noexcept;
  /// One schedule a rank.
  outcome run(const plan& p, const std::vector<schedule>& schedules, const run_options& how = {});

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// One run.
outcome run_abstract(const plan& p, const std::vector<schedule>& schedules, const run_options& how = {});

}  // namespace tutti::proof
