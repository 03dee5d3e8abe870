// SPDX-License-Identifier: Apache-2.0
//
// Turns the trace of a run into messages and their descriptions.
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "show.hpp"

namespace tutti::tool {

using proof::traced_place;
using proof::traced_step;

void collect_messages(call_trace& p) {
  std::map<std::pair<int, int>, std::deque<std::size_t>> open;
  const auto each_step = [&](auto&& body) {
    for (int r = 0; r < p.call.ranks; ++r)
      for (const proof::traced_round& round : p.result.recorded[static_cast<std::size_t>(r)])
        for (const traced_step& s : round.steps) body(r, round, s);
  };
  each_step([&](int rank, const proof::traced_round& round, const traced_step& s) {
    if (is_local(s.kind)) p.locals.push_back({rank, &s, round.end - 1});
    if (s.kind != step_kind::send && s.kind != step_kind::put && s.kind != step_kind::signal) return;
    if (s.kind != step_kind::put) open[{rank, s.peer}].push_back(p.messages.size());
    p.messages.push_back({rank, s.peer, &s, nullptr, s.time});
  });
  each_step([&](int rank, const proof::traced_round&, const traced_step& s) {
    if (s.kind != step_kind::recv && s.kind != step_kind::recv_reduce && s.kind != step_kind::await_signal)
      return;
    auto& sent = open[{s.peer, rank}];
    p.messages[sent.front()].received = &s;
    sent.pop_front();
  });
  std::stable_sort(p.messages.begin(), p.messages.end(), [](const message& a, const message& b) {
    return std::tuple(a.time, a.from, a.to) < std::tuple(b.time, b.from, b.to);
  });
  std::stable_sort(p.locals.begin(), p.locals.end(), [](const local_work& a, const local_work& b) {
    return std::tuple(a.time, a.rank) < std::tuple(b.time, b.rank);
  });
}

std::vector<claim> claims_of(const call_trace& p) {
  const proof::variables given = proof::variables_of(p.call);
  const proof::costs& c = p.result.measured;
  const pure_algorithm& a = *p.algorithm;
  std::vector<claim> all{{"rounds", a.rounds, {}, static_cast<double>(c.rounds)},
                         {"bytes", a.bytes, {}, static_cast<double>(c.max_bytes())},
                         {"scratch", a.scratch, {}, static_cast<double>(c.max_scratch())}};
  for (claim& one : all) one.here = proof::evaluate_claim(one.formula, given);
  return all;
}

std::vector<claim> claims_of(const rank_view& v) {
  const proof::variables given = proof::variables_of(v.options);
  const pure_algorithm& a = *v.algorithm;
  std::vector<claim> all{
      {"rounds", a.rounds, {}, static_cast<double>(v.measured.rounds)},
      {"bytes", a.bytes, {}, static_cast<double>(std::max(v.measured.sent, v.measured.received))},
      {"scratch", a.scratch, {}, static_cast<double>(v.measured.scratch)}};
  for (claim& one : all) one.here = proof::evaluate_claim(one.formula, given);
  return all;
}

std::string_view name_of_buffer(buffer b, bool brief) {
  static constexpr std::string_view names[] = {"input",    "output",   "scratch0", "scratch1",
                                               "scratch2", "scratch3", "words"};
  static constexpr std::string_view short_names[] = {"in", "out", "s0", "s1", "s2", "s3", "w"};
  return (brief ? short_names : names)[static_cast<std::size_t>(b)];
}

std::string text_of(const traced_place& p) {
  if (!p.known) return fmt::format("{}[?]", name_of_buffer(p.where));
  return fmt::format("{}[{}..{})", name_of_buffer(p.where), p.first, p.first + p.count);
}

namespace {

std::string received_with(const traced_step& s) {
  const std::string own = text_of(s.source);
  return s.received_left ? "received op " + own : own + " op received";
}

}  // namespace

std::string arrival_of(const message& m) {
  if (m.sent->kind == step_kind::put) return text_of(m.sent->target);
  if (m.received == nullptr || m.sent->kind == step_kind::signal) return "";
  const std::string target = text_of(m.received->target);
  return m.is_reduced() ? target + " = " + received_with(*m.received) : target;
}

std::string text_of_local(const traced_step& s) {
  switch (s.kind) {
    case step_kind::copy:
      return fmt::format("copy    {} = {}", text_of(s.target), text_of(s.source));
    case step_kind::reduce:
      return fmt::format("reduce  {} = {} op {}", text_of(s.target), text_of(s.source), text_of(s.other));
    case step_kind::measure:
      return fmt::format("measure {} = number of elements", text_of(s.target));
    case step_kind::maximum:
      return fmt::format("greater {} = max({}, {})", text_of(s.target), text_of(s.source), text_of(s.other));
    default:
      return fmt::format("reserve {}", text_of(s.target));
  }
}

}  // namespace tutti::tool
