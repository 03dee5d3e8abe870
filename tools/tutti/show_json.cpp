// SPDX-License-Identifier: Apache-2.0
//
// Writes an algorithm for a call as JSON: ranks[].rounds[][] of steps. The steps of one array are
// in progress at the same time. So the transfers of a round are one array. Its local steps follow
// in further arrays; each contains steps that do not depend on one another.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "show.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;
using proof::traced_place;
using proof::traced_round;
using proof::traced_step;

json place(const traced_place& p) {
  return {{"buffer", name_of_buffer(p.where)}, {"offset", p.first}, {"count", p.count}};
}

// Integral values become integers, which have no decimal point.
json json_number(double x) {
  if (std::isfinite(x) && std::abs(x) < 1e15 && x == std::floor(x)) return static_cast<std::int64_t>(x);
  return x;
}

json transfer(const traced_step& s) {
  const json received{{"buffer", "received"}, {"offset", 0}, {"count", s.target.count}};
  switch (s.kind) {
    case step_kind::send:
      return {{"op", "send"}, {"to", s.peer}, {"source", place(s.source)}};
    case step_kind::recv:
      return {{"op", "recv"}, {"from", s.peer}, {"target", place(s.target)}};
    case step_kind::recv_reduce:
      return {{"op", "reduce"},
              {"from", s.peer},
              {"left", s.received_left ? received : place(s.source)},
              {"right", s.received_left ? place(s.source) : received},
              {"target", place(s.target)}};
    case step_kind::put:
      return {{"op", "put"}, {"to", s.peer}, {"source", place(s.source)}, {"target", place(s.target)}};
    case step_kind::signal:
      return {{"op", "signal"}, {"to", s.peer}};
    default:
      return {{"op", "await_signal"}, {"from", s.peer}};
  }
}

json local(const traced_step& s) {
  switch (s.kind) {
    case step_kind::copy:
      return {{"op", "copy"}, {"source", place(s.source)}, {"target", place(s.target)}};
    case step_kind::reduce:
      return {{"op", "reduce"},
              {"left", place(s.source)},
              {"right", place(s.other)},
              {"target", place(s.target)}};
    case step_kind::maximum:
      return {{"op", "maximum"},
              {"left", place(s.source)},
              {"right", place(s.other)},
              {"target", place(s.target)}};
    case step_kind::measure:
      return {{"op", "measure"}, {"target", place(s.target)}};
    default:
      return {{"op", "reserve"}, {"target", place(s.target)}};
  }
}

// Returns whether one step writes what the other reads or writes. In an in-place call, input and
// output are the same memory.
bool depend(const traced_step& a, const traced_step& b, bool aliased) {
  const auto overlap = [&](const traced_place& x, const traced_place& y) {
    const auto memory = [&](buffer w) { return aliased && w == buffer::input ? buffer::output : w; };
    return memory(x.where) == memory(y.where) && x.first < y.first + y.count && y.first < x.first + x.count;
  };
  const auto conflicts = [&](const traced_step& writer, const traced_step& other) {
    return overlap(writer.target, other.source) || overlap(writer.target, other.other) ||
           overlap(writer.target, other.target);
  };
  return a.kind == step_kind::reserve || b.kind == step_kind::reserve || conflicts(a, b) || conflicts(b, a);
}

json rounds_of(const call_trace& p, int rank) {
  json rounds = json::array();
  for (const traced_round& r : p.result.recorded[static_cast<std::size_t>(rank)]) {
    const auto locals =
        std::find_if(r.steps.begin(), r.steps.end(), [](auto& s) { return is_local(s.kind); });
    json together = json::array();
    for (auto s = r.steps.begin(); s != locals; ++s) together.push_back(transfer(*s));
    if (!together.empty()) rounds.push_back(std::move(together));
    for (auto first = locals; first != r.steps.end();) {
      auto last = first;
      together = json::array();
      const auto independent = [&] {
        return std::none_of(first, last, [&](auto& s) { return depend(s, *last, p.call.aliased_at(rank)); });
      };
      for (; last != r.steps.end() && independent(); ++last) together.push_back(local(*last));
      rounds.push_back(std::move(together));
      first = last;
    }
  }
  return rounds;
}

}  // namespace

std::string as_json(const call_trace& p, const view& how) {
  json all;
  all["name"] = p.algorithm->name;
  all["size"] = p.call.ranks;
  all["count"] = p.count;
  all["root"] = p.call.root;
  all["in_place"] = p.call.in_place;
  all["ordered"] = p.call.ordered;
  if (p.call.first_group != 0) all["first"] = p.call.first_group;
  all["element_bytes"] = p.call.element_bytes;
  all["parameters"] = json::object();
  for (const algorithm_parameter_range& k : p.algorithm->parameters)
    all["parameters"][std::string(name_of(k.which))] =
        p.call.parameter_values[static_cast<std::size_t>(k.which)];
  for (const claim& c : claims_of(p)) {
    all["claims"][std::string(c.name)] = json_number(c.here.value);
    all["measured"][std::string(c.name)] = json_number(c.measured);
  }
  all["ranks"] = json::array();
  for (int r = 0; r < p.call.ranks; ++r)
    if (how.rank < 0 || how.rank == r) all["ranks"].push_back({{"rank", r}, {"rounds", rounds_of(p, r)}});
  return all.dump(2) + "\n";
}

}  // namespace tutti::tool
