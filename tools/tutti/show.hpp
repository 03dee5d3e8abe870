// SPDX-License-Identifier: Apache-2.0
//
// The data of `tutti show` about one call, and the three output formats: text, JSON, drawing. A
// call is executed by all ranks together (call_trace) or by one rank alone (rank_view).
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "json_stream.hpp"
#include "proof/abstract_run.hpp"
#include "selection/choose.hpp"

namespace tutti::tool {

using namespace tutti::detail;

/// A transfer with both of its ends. `sent` may also be a put. A put, or a signal that nobody
/// awaits, has no step on the receiving side.
struct message {
  int from = 0, to = 0;
  const proof::traced_step* sent = nullptr;
  const proof::traced_step* received = nullptr;
  std::int64_t time = 0;

  bool is_reduced() const noexcept { return received != nullptr && received->kind == step_kind::recv_reduce; }
};

/// A local step that follows the messages of time `time`; -1: before the first message.
struct local_work {
  int rank = 0;
  const proof::traced_step* what = nullptr;
  std::int64_t time = 0;
};

struct call_trace {
  const pure_algorithm* algorithm = nullptr;
  proof::abstract_call call;
  std::size_t count = 0;  ///< as the user gave it
  proof::outcome result;
  std::vector<message> messages;   ///< by time, then by sender
  std::vector<local_work> locals;  ///< by time, then by rank
};

/// One of the three claims of an algorithm, evaluated for the call.
struct claim {
  std::string_view name, formula;
  proof::claimed here;
  double measured = 0;
};
std::vector<claim> claims_of(const call_trace& p);

/// What one rank of many does. Its rounds are not stored: run() executes them again.
struct rank_view {
  const pure_algorithm* algorithm = nullptr;
  proof::case_options options;
  proof::abstract_call call;  ///< with tables of this rank only
  std::size_t count = 0;      ///< as the user gave it
  int rank = 0;
  schedule steps;
  proof::rank_costs measured;

  proof::rank_outcome run(const proof::round_visitor& visit = {}) const;
};
/// The claims of the call, with the costs of the rank.
std::vector<claim> claims_of(const rank_view& v);

/// Matches sends with receives.
void collect_messages(call_trace& p);

/// "output[4..8)"
std::string text_of(const proof::traced_place& p);
/// "input", or "in" if `brief`.
std::string_view name_of_buffer(buffer b, bool brief = false);
/// The effect of a message at its receiver: "output[4..8)", "output[4..8) = received op
/// input[4..8)".
std::string arrival_of(const message& m);
/// "copy output[4..8) = input[4..8)"
std::string text_of_local(const proof::traced_step& s);

struct view {
  int rank = -1;  ///< shows only this rank; -1: all
  bool everything = false;
};
void write_text(std::FILE* out, const call_trace& p, const view& how);
void write_text(std::FILE* out, const rank_view& v, bool everything);
void write_json(std::FILE* out, const call_trace& p, const view& how);
void write_json(std::FILE* out, const rank_view& v);
/// Every message as an arrow.
std::string as_svg(const call_trace& p, const view& how);
/// The communication matrix and the rounds, for many ranks.
std::string as_matrix(const call_trace& p);
std::string as_matrix(const rank_view& v);

}  // namespace tutti::tool
