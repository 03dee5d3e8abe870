// SPDX-License-Identifier: Apache-2.0
//
// Simulates a collective call on a machine, event by event: every rank walks through its schedule
// or composite plan, messages share the links fairly, overheads and local work occupy the core of
// the rank. No data are moved, so the machine need not be at hand.
//
// The rules:
//   rounds      A round posts its receives, then begins its sends in their order; each send takes
//               its overhead. Arrived messages are processed one after another. Local steps follow
//               when all transfers are complete.
//   messages    Messages between two ranks match in order. An eager message leaves when its sender
//               reaches it. Another one begins when both sides have reached it. A message crosses
//               its links after their latency, and has arrived when its last byte has.
//   composites  An inner call runs the schedule that selection chooses for it. Several inner calls
//               of a rank progress at the same time and share its core.
//
// `tutti simulate` calls it for one call. It keeps its memory from call to call, so that many calls
// can be simulated quickly.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "selection/resolve.hpp"
#include "simulation/network.hpp"
#include "simulation/rank_schedule.hpp"

namespace tutti::simulation {

/// A call without memory. All blocks have `count` elements, also in vector forms.
struct simulated_call {
  collective what = collective::barrier;
  int root = 0;
  std::size_t count = 0;  ///< elements of a block, or of the vector if there are no blocks
  std::size_t element_bytes = 8;
  bool in_place = false;
  bool ordered = false;  ///< the operator does not commute
  /// Between two groups: ranks of the first one. Otherwise 0.
  int first_group = 0;
};

/// The keys of messages have room for so many (message_queues.hpp).
inline constexpr int max_ranks = 1 << 20;

/// The messages that have been simulated so far, and about how many there are.
struct simulation_progress {
  double messages = 0, expected = 0;
};

struct simulation_options {
  /// Keeps rounds and messages, for the critical path and drawings, unless there are more messages.
  std::size_t max_recorded = 0;
  /// Throws too_many_messages in that case.
  bool must_record = false;
  /// A call that needs more bytes is rejected before the simulation starts. 0: the memory that is
  /// available on this computer.
  double max_memory = 0;
  simulation_limits within{};
  /// Called now and then. Messages may start from 0 once more, because the simulator first finds
  /// out whether the ranks of one node can represent all.
  std::function<void(const simulation_progress&)> progress{};
};

struct too_many_messages : std::exception {
  const char* what() const noexcept override { return "there are more messages than can be recorded"; }
};

/// A round of a rank, or local work between the inner calls of a composition.
struct simulated_round {
  std::int32_t rank = 0, number = 0;  ///< rounds of a rank are numbered in the order of their begin
  double begin = 0;
  double sent = 0;             ///< the overheads of all sends are over
  double received = 0;         ///< all transfers are complete, and received messages processed
  double end = 0;              ///< local work is complete
  std::int32_t previous = -1;  ///< the round that this one follows
  std::int32_t cause = -1;     ///< the message that determined `received`; -1: none
};
struct simulated_message {
  std::int32_t from = 0, to = 0;                ///< ranks
  std::int32_t sent_in = -1, received_in = -1;  ///< indexes of rounds
  std::uint64_t bytes = 0;
  bool eager = false;
  double send_ready = 0, receive_ready = 0;
  double arrival = 0;                         ///< of the last byte
  double process_begin = 0, process_end = 0;  ///< when the core of the receiver works on it
};

/// A step of the critical path. Either a round, or a message on its way.
struct path_step {
  std::int32_t rank = 0, round = 0;  ///< of a message: of its sender
  std::int32_t to = -1;              ///< the receiver of a message; -1: a round
  std::uint64_t bytes = 0;
  double begin = 0, end = 0;
};

struct simulation_result {
  double seconds = 0;  ///< until the last rank is done
  std::uint64_t messages = 0, bytes = 0;
  /// Less than all: those of one node, because all nodes behave alike (symmetry.hpp).
  int simulated_ranks = 0;
  /// By rank: when it is done; how long it waited until then.
  std::vector<double> ends, waits;
  bool any_link = false;  ///< false: no message crossed a link
  /// The link that carried messages for the longest time, its bytes, and the share of `seconds`.
  std::uint32_t busiest_link = 0;
  double busiest_bytes = 0, busiest_share = 0;
  bool recorded = false;                ///< false: the following are empty
  std::vector<simulated_round> rounds;  ///< in the order of their begin for each rank
  std::vector<simulated_message> sent;
  std::vector<std::int32_t> last_rounds;  ///< by rank
  /// What determined `seconds`, from the start to the end. Empty if not recorded.
  std::vector<path_step> critical_path() const;
};

class simulator {
 public:
  /// Throws std::invalid_argument if the machine has too few nodes.
  simulator(const machine& m, int ranks);
  ~simulator();

  const network& links() const noexcept;

  /// Throws not_simulated if the choice is native, or contains an inner call for which there is no
  /// algorithm. Throws std::length_error, with a text for the user, if the call needs too much
  /// memory, and too_slow or too_laborious. The choice must serve the call.
  simulation_result run(const simulated_call& c, const choice& algorithm,
                        const simulation_options& options = {});
  /// Inner calls are chosen by `inner`, without native collectives.
  simulation_result run(const simulated_call& c, const composed_choice& composition, const selection& inner,
                        const simulation_options& options = {});

 private:
  class state;
  std::unique_ptr<state> state_;
};

/// The values that selection reads of a call on these nodes. The engine offers no native
/// collective.
selection_context context_of(const simulated_call& c, const hierarchy& topology);
/// The same for network::topology(), without making it.
selection_context context_of(const simulated_call& c, const network& links);

}  // namespace tutti::simulation
