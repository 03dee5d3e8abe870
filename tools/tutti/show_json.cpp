// SPDX-License-Identifier: Apache-2.0
//
// Writes an algorithm for a call as JSON: ranks[].rounds[][] of steps. The steps of one array are
// in progress at the same time. So the transfers of a round are one array. Its local steps follow
// in further arrays; each contains steps that do not depend on one another. Each step is written
// when it is made.
#include <algorithm>
#include <cmath>

#include "show.hpp"

namespace tutti::tool {
namespace {

using json = json_stream::json;
using proof::traced_place;
using proof::traced_round;
using proof::traced_step;

// Integral values become integers, which have no decimal point.
json json_number(double x) {
  if (std::isfinite(x) && std::abs(x) < 1e15 && x == std::floor(x)) return static_cast<std::int64_t>(x);
  return x;
}

// Objects of nlohmann would take most of the time here.
void write_place(json_stream& out, std::string_view name, const traced_place& p) {
  out.key(name);
  out.begin_object();
  out.member("buffer", name_of_buffer(p.where));
  if (p.known) {
    out.member("offset", p.first);
    out.member("count", p.count);
  } else {
    out.member("offset", json());
    out.member("count", json());
  }
  out.end();
}

// A message reduced where it arrives is an operand that is in no buffer.
void write_received(json_stream& out, std::string_view name, std::size_t count) {
  out.key(name);
  out.begin_object();
  out.member("buffer", "received");
  out.member("offset", std::size_t{0});
  out.member("count", count);
  out.end();
}

void write_reduction(json_stream& out, const traced_step& s) {
  if (s.received_left) {
    write_received(out, "left", s.target.count);
    write_place(out, "right", s.source);
  } else {
    write_place(out, "left", s.source);
    write_received(out, "right", s.target.count);
  }
  write_place(out, "target", s.target);
}

struct step_form {
  std::string_view op, peer;  // peer: "to", "from" or empty
  bool has_source, has_other, has_target;
};
step_form form_of(step_kind k) {
  switch (k) {
    case step_kind::send:
      return {"send", "to", true, false, false};
    case step_kind::recv:
      return {"recv", "from", false, false, true};
    case step_kind::recv_reduce:
      return {"reduce", "from", true, true, true};
    case step_kind::put:
      return {"put", "to", true, false, true};
    case step_kind::signal:
      return {"signal", "to", false, false, false};
    case step_kind::await_signal:
      return {"await_signal", "from", false, false, false};
    case step_kind::copy:
      return {"copy", "", true, false, true};
    case step_kind::reduce:
      return {"reduce", "", true, true, true};
    case step_kind::maximum:
      return {"maximum", "", true, true, true};
    case step_kind::measure:
      return {"measure", "", false, false, true};
    default:
      return {"reserve", "", false, false, true};
  }
}

void write_step(json_stream& out, const traced_step& s) {
  const step_form f = form_of(s.kind);
  out.begin_object();
  out.member("op", f.op);
  if (!f.peer.empty()) out.member(f.peer, static_cast<std::size_t>(s.peer));
  if (s.kind == step_kind::recv_reduce) {
    write_reduction(out, s);
  } else {
    if (f.has_source) write_place(out, f.has_other ? "left" : "source", s.source);
    if (f.has_other) write_place(out, "right", s.other);
    if (f.has_target) write_place(out, "target", s.target);
  }
  out.end();
}

// Returns whether one step writes what the other reads or writes. In an in-place call, input and
// output are the same memory.
bool depend(const traced_step& a, const traced_step& b, bool aliased) {
  const auto overlap = [&](const traced_place& x, const traced_place& y) {
    const auto memory = [&](buffer w) { return aliased && w == buffer::input ? buffer::output : w; };
    if (!x.known || !y.known) return memory(x.where) == memory(y.where);
    return memory(x.where) == memory(y.where) && x.first < y.first + y.count && y.first < x.first + x.count;
  };
  const auto conflicts = [&](const traced_step& writer, const traced_step& other) {
    return overlap(writer.target, other.source) || overlap(writer.target, other.other) ||
           overlap(writer.target, other.target);
  };
  return a.kind == step_kind::reserve || b.kind == step_kind::reserve || conflicts(a, b) || conflicts(b, a);
}

// The arrays of one round.
void write_round(json_stream& out, const traced_round& r, bool aliased) {
  const auto locals = std::find_if(r.steps.begin(), r.steps.end(), [](auto& s) { return is_local(s.kind); });
  if (locals != r.steps.begin()) {
    out.begin_array();
    for (auto s = r.steps.begin(); s != locals; ++s) write_step(out, *s);
    out.end();
  }
  for (auto first = locals; first != r.steps.end();) {
    auto last = first;
    out.begin_array();
    const auto independent = [&] {
      return std::none_of(first, last, [&](auto& s) { return depend(s, *last, aliased); });
    };
    for (; last != r.steps.end() && independent(); ++last) write_step(out, *last);
    out.end();
    first = last;
  }
}

void write_head(json_stream& out, const pure_algorithm& a, const proof::abstract_call& p, std::size_t count) {
  out.member("name", a.name);
  out.member("size", p.ranks);
  out.member("count", count);
  out.member("root", p.root);
  out.member("in_place", p.in_place);
  out.member("ordered", p.ordered);
  if (p.first_group != 0) out.member("first", p.first_group);
  out.member("element_bytes", p.element_bytes);
  json parameters = json::object();
  for (const algorithm_parameter_range& k : a.parameters)
    parameters[std::string(name_of(k.which))] = p.parameter_values[static_cast<std::size_t>(k.which)];
  out.member("parameters", parameters);
}

// The claims of the call and what they are compared with, `measured`.
void write_claims(json_stream& out, const std::vector<claim>& all, const char* measured) {
  json claimed, taken;
  for (const claim& c : all) {
    claimed[std::string(c.name)] = json_number(c.here.value);
    taken[std::string(c.name)] = json_number(c.measured);
  }
  out.member("claims", claimed);
  out.member(measured, taken);
}

}  // namespace

void write_json(std::FILE* file, const call_trace& p, const view& how) {
  json_stream out(file);
  out.begin_object();
  write_head(out, *p.algorithm, p.call, p.count);
  write_claims(out, claims_of(p), "measured");
  out.key("ranks");
  out.begin_array();
  for (int r = 0; r < p.call.ranks; ++r) {
    if (how.rank >= 0 && how.rank != r) continue;
    out.begin_object();
    out.member("rank", r);
    out.key("rounds");
    out.begin_array();
    for (const traced_round& round : p.result.recorded[static_cast<std::size_t>(r)])
      write_round(out, round, p.call.aliased_at(r));
    out.end();
    out.end();
  }
  out.end();
  out.end();
}

void write_json(std::FILE* file, const rank_view& v) {
  json_stream out(file);
  out.begin_object();
  write_head(out, *v.algorithm, v.call, v.count);
  write_claims(out, claims_of(v), "of_rank");
  out.key("ranks");
  out.begin_array();
  out.begin_object();
  out.member("rank", v.rank);
  out.member("received", v.measured.received);
  out.key("rounds");
  out.begin_array();
  v.run([&](const traced_round& r) { write_round(out, r, v.call.aliased_at(v.rank)); });
  out.end();
  out.end();
  out.end();
  out.end();
}

}  // namespace tutti::tool
