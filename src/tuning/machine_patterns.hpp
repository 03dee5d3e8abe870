// SPDX-License-Identifier: Apache-2.0
//
// The message patterns and the local work from which the model of a machine is fitted. A pattern is
// a schedule. So the executor runs it with the messages that collectives get, and the simulator
// predicts its time from the same steps.
//
// Pairs exchange messages of one length. Within a node they are the ranks 0 and 1, 2 and 3 ... of
// the first node. Between nodes they are rank i of a node and rank i of the next one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "selection/choose.hpp"
#include "simulation/simulator.hpp"

namespace tutti::tuning {

using namespace tutti::detail;

enum class pattern_kind : std::uint8_t {
  ping_pong,  ///< the first rank of a pair sends, the second one answers
  exchange,   ///< both send `messages` in one round
  stream,     ///< the first rank sends `messages` in one round, the second one answers all with one
  burst,      ///< the same without an answer
  copy,       ///< every rank copies
  reduce      ///< every rank combines two vectors
};
std::string_view name_of(pattern_kind) noexcept;

/// The ranks of a job. Those of a node are consecutive, and all nodes have equally many.
struct job_shape {
  int ranks = 2, ranks_per_node = 2;

  int nodes() const noexcept { return ranks / ranks_per_node; }
};

struct pattern {
  pattern_kind what = pattern_kind::ping_pong;
  bool between_nodes = false;
  bool all_nodes = false;  ///< also the third and fourth node, and so on; otherwise the first two
  int messages = 1;        ///< of each sender
  int pairs = 1;           ///< at the same time, of each pair of nodes
  std::size_t bytes = 8;   ///< of a message or vector

  bool is_local() const noexcept { return what == pattern_kind::copy || what == pattern_kind::reduce; }
  friend bool operator==(const pattern&, const pattern&) = default;
};

/// "ping-pong, 4 pairs"
std::string text_of(const pattern& p);

/// Its schedules. A length divisible by 8 has elements of 8 bytes. The output has `messages`
/// vectors.
choice choice_of(const pattern& p, const job_shape& job);
simulation::simulated_call call_of(const pattern& p);
/// Whether the rank takes part. `first`: it is the first one of its pair.
struct pattern_role {
  bool active = false, first = false;
};
pattern_role role_of(const pattern& p, const job_shape& job, int rank);

/// All patterns that this job can run, except bursts.
std::vector<pattern> patterns_of(const job_shape& job);

}  // namespace tutti::tuning
