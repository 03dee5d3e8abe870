// SPDX-License-Identifier: Apache-2.0
//
// Writes an algorithm for a call as text: its description, its costs, and its messages step by
// step.
#include <algorithm>

#include <fmt/core.h>

#include "show.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using proof::traced_round;
using proof::traced_step;

constexpr std::size_t max_lines = 16;   // of a step
constexpr std::size_t max_groups = 20;  // steps or rounds

struct group {
  std::string title;
  std::vector<std::string> lines;
};

// Shortens a long schedule, or a step of many messages, to its beginning and its end.
std::string folded(const std::vector<group>& all, bool everything, std::string_view what) {
  std::string text;
  bool any = false;
  const std::size_t head = max_groups * 3 / 5, tail = max_groups / 5;
  const bool fold = !everything && all.size() > max_groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (fold && i == head) {
      const std::size_t next = all.size() - tail;
      std::size_t lines = 0;
      for (std::size_t j = i; j < next; ++j) lines += all[j].lines.size();
      text += fmt::format("\n... {} {} with {} lines left out\n", next - i, what, lines);
      any = true;
      i = next;
    }
    text += "\n" + all[i].title + "\n";
    const auto& lines = all[i].lines;
    const std::size_t shown = everything || lines.size() <= max_lines ? lines.size() : max_lines * 3 / 4;
    for (std::size_t j = 0; j < shown; ++j) text += "  " + lines[j] + "\n";
    if (shown < lines.size()) {
      text += fmt::format("  ... {} more\n", lines.size() - shown);
      any = true;
    }
  }
  return any ? text + "\nAbbreviated: --all shows everything, --rank R shows what one rank does.\n" : text;
}

std::string steps_of_all(const call_trace& p, bool everything) {
  const std::size_t digits = std::to_string(p.call.ranks - 1).size();
  std::size_t widest = 0;
  const auto sent = [](const message& m) {
    return m.sent->kind == step_kind::signal ? "signal" : text_of(m.sent->source);
  };
  for (const message& m : p.messages) widest = std::max(widest, sent(m).size());
  std::vector<group> groups;
  auto m = p.messages.begin();
  auto l = p.locals.begin();
  for (std::int64_t t = -1; m != p.messages.end() || l != p.locals.end(); ++t) {
    group g{t < 0 ? "before" : fmt::format("step {}", t), {}};
    for (; m != p.messages.end() && m->time == t; ++m) {
      std::string line =
          fmt::format("{:>{}} {} {:<{}}  {:<{}}  {}", m->from, digits, m->is_reduced() ? "=>" : "->", m->to,
                      digits, sent(*m), widest, arrival_of(*m));
      line.erase(line.find_last_not_of(' ') + 1);
      g.lines.push_back(std::move(line));
    }
    for (; l != p.locals.end() && l->time == t; ++l)
      g.lines.push_back(fmt::format("{:>{}}: {}", l->rank, digits, text_of_local(*l->what)));
    if (!g.lines.empty()) groups.push_back(std::move(g));
  }
  return folded(groups, everything, "steps");
}

std::string transfer_text(const traced_step& s) {
  const auto line = [&](std::string_view what, std::string_view way, const std::string& place) {
    return fmt::format("{:<7} {} {}   {}", what, way, s.peer, place);
  };
  switch (s.kind) {
    case step_kind::send:
      return line("send", "to", text_of(s.source));
    case step_kind::recv:
      return line("recv", "from", text_of(s.target));
    case step_kind::recv_reduce:
      return line(
          "reduce", "from",
          text_of(s.target) + " = " +
              (s.received_left ? "received op " + text_of(s.source) : text_of(s.source) + " op received"));
    case step_kind::put:
      return line("put", "to", text_of(s.source) + ", there " + text_of(s.target));
    case step_kind::signal:
      return line("signal", "to", "");
    default:
      return line("await", "from", "");
  }
}

std::string rounds_of(const call_trace& p, int rank, bool everything) {
  std::vector<group> groups;
  const auto& rounds = p.result.recorded[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const traced_round& r = rounds[i];
    group g{fmt::format("round {}", i), {}};
    if (r.end - r.begin == 1) g.title += fmt::format(", step {}", r.begin);
    if (r.end - r.begin > 1) g.title += fmt::format(", steps {} to {}", r.begin, r.end - 1);
    for (const traced_step& s : r.steps)
      g.lines.push_back(is_local(s.kind) ? text_of_local(s) : transfer_text(s));
    groups.push_back(std::move(g));
  }
  return folded(groups, everything, "rounds");
}

std::string summary(const call_trace& p) {
  const pure_algorithm& a = *p.algorithm;
  std::string text = fmt::format("{}\n\n{}\n", a.name, wrapped(a.idea, 2));
  const auto line = [&](std::string_view what, std::string_view value) {
    constexpr std::size_t indent = 17;
    text += fmt::format("  {:<15}{}", what, wrapped(value, indent).substr(indent));
  };
  line("source", a.source);
  line("restrictions", restrictions_of(a, "none"));
  for (const algorithm_parameter_range& k : a.parameters)
    line(&k == a.parameters.data() ? "parameters" : "",
         fmt::format("{} = {}: {}", name_of(k.which),
                     p.call.parameter_values[static_cast<std::size_t>(k.which)], k.what));
  line("good for", a.good_for);
  text += fmt::format("\n{}\n", p.call.text());
  if (p.call.aliased_at(p.call.root)) text += "input and output are one buffer\n";
  text += "\n";

  text += fmt::format("  {:<10}{:>12}{:>12}   {}\n", "", "claimed", "measured", "formula");
  bool all_hold = true;
  for (const claim& c : claims_of(p)) {
    const bool holds = c.name == "scratch" ? c.measured <= c.here.value + 1e-6 : c.here.holds(c.measured);
    all_hold = all_hold && holds;
    text += fmt::format("  {:<10}{:>12}{:>12} {} {}\n", c.name,
                        (c.here.bound ? "<= " : "") + number(c.here.value), number(c.measured),
                        holds ? " " : "*", c.formula);
  }
  if (!all_hold) text += "\n  * claims are exact if the parts have equal length\n";
  return text;
}

}  // namespace

std::string as_text(const call_trace& p, const view& how) {
  std::string text = summary(p);
  if (how.rank >= 0)
    return text + fmt::format("\nrank {}\n", how.rank) + rounds_of(p, how.rank, how.everything);
  if (p.messages.empty() && p.locals.empty()) return text + "\nThere is nothing to do.\n";
  text +=
      "\nIn a step a rank sends at most one message and receives at most one; then local work is done.\n"
      "->  what the sender sends, where it arrives      =>  it is reduced there\n";
  return text + steps_of_all(p, how.everything);
}

}  // namespace tutti::tool
