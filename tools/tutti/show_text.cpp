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

// Writes groups one by one. Shortens a long schedule, or a step of many messages, to its beginning
// and its end. `all` is the number of groups.
class folding {
 public:
  folding(std::FILE* out, std::size_t all, bool everything, std::string_view what)
      : out_(out),
        everything_(everything),
        what_(what),
        head_(max_groups * 3 / 5),
        tail_(all - max_groups / 5),
        folds_(!everything && all > max_groups) {}

  void add(const group& g) {
    const std::size_t i = next_++;
    if (folds_ && i >= head_ && i < tail_) {
      lines_ += g.lines.size();
      return;
    }
    if (folds_ && i == tail_) {
      fmt::print(out_, "\n... {} {} with {} lines left out\n", tail_ - head_, what_, lines_);
      any_ = true;
    }
    fmt::print(out_, "\n{}\n", g.title);
    const std::size_t shown = everything_ || g.lines.size() <= max_lines ? g.lines.size() : max_lines * 3 / 4;
    for (std::size_t j = 0; j < shown; ++j) fmt::print(out_, "  {}\n", g.lines[j]);
    if (shown == g.lines.size()) return;
    fmt::print(out_, "  ... {} more\n", g.lines.size() - shown);
    any_ = true;
  }

  /// `more` is what shows less than everything does, but more than this.
  void end(std::string_view more) {
    if (any_) fmt::print(out_, "\nAbbreviated: --all shows everything{}.\n", more);
  }

 private:
  std::FILE* out_;
  bool everything_;
  std::string_view what_;
  std::size_t head_, tail_;
  bool folds_, any_ = false;
  std::size_t next_ = 0, lines_ = 0;
};

constexpr std::string_view one_rank_is_less = ", --rank R shows what one rank does";

void write_steps(std::FILE* out, const call_trace& p, bool everything) {
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
  folding all(out, groups.size(), everything, "steps");
  for (const group& g : groups) all.add(g);
  all.end(one_rank_is_less);
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

std::vector<std::string> lines_of(const traced_round& r) {
  std::vector<std::string> lines;
  for (const traced_step& s : r.steps)
    lines.push_back(is_local(s.kind) ? text_of_local(s) : transfer_text(s));
  return lines;
}

void write_rounds(std::FILE* out, const call_trace& p, int rank, bool everything) {
  const auto& rounds = p.result.recorded[static_cast<std::size_t>(rank)];
  folding all(out, rounds.size(), everything, "rounds");
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const traced_round& r = rounds[i];
    group g{fmt::format("round {}", i), lines_of(r)};
    if (r.end - r.begin == 1) g.title += fmt::format(", step {}", r.begin);
    if (r.end - r.begin > 1) g.title += fmt::format(", steps {} to {}", r.begin, r.end - 1);
    all.add(g);
  }
  all.end(one_rank_is_less);
}

void write_summary(std::FILE* out, const pure_algorithm& a, const proof::abstract_call& p) {
  fmt::print(out, "{}\n\n{}\n", a.name, wrapped(a.idea, 2));
  const auto line = [&](std::string_view what, std::string_view value) {
    constexpr std::size_t indent = 17;
    fmt::print(out, "  {:<15}{}", what, wrapped(value, indent).substr(indent));
  };
  line("source", a.source);
  line("restrictions", restrictions_of(a, "none"));
  for (const algorithm_parameter_range& k : a.parameters)
    line(&k == a.parameters.data() ? "parameters" : "",
         fmt::format("{} = {}: {}", name_of(k.which), p.parameter_values[static_cast<std::size_t>(k.which)],
                     k.what));
  line("good for", a.good_for);
  fmt::print(out, "\n{}\n", p.text());
  if (p.aliased_at(p.root)) fmt::print(out, "input and output are one buffer\n");
  fmt::print(out, "\n");
}

// A cost of one rank is at most that of the call.
void write_claims(std::FILE* out, const std::vector<claim>& claims, std::string_view measured,
                  bool one_rank) {
  fmt::print(out, "  {:<10}{:>12}{:>12}   {}\n", "", "claimed", measured, "formula");
  bool all_hold = true;
  for (const claim& c : claims) {
    const bool at_most = one_rank || c.name == "scratch";
    const bool holds = at_most ? c.measured <= c.here.value + 1e-6 : c.here.holds(c.measured);
    all_hold = all_hold && holds;
    fmt::print(out, "  {:<10}{:>12}{:>12} {} {}\n", c.name,
               (c.here.bound ? "<= " : "") + number(c.here.value), number(c.measured), holds ? " " : "*",
               c.formula);
  }
  if (!all_hold) fmt::print(out, "\n  * claims are exact if the parts have equal length\n");
}

}  // namespace

void write_text(std::FILE* out, const call_trace& p, const view& how) {
  write_summary(out, *p.algorithm, p.call);
  write_claims(out, claims_of(p), "measured", false);
  if (how.rank >= 0) {
    fmt::print(out, "\nrank {}\n", how.rank);
    return write_rounds(out, p, how.rank, how.everything);
  }
  if (p.messages.empty() && p.locals.empty()) return fmt::print(out, "\nThere is nothing to do.\n");
  fmt::print(
      out,
      "\nIn a step a rank sends at most one message and receives at most one; then local work is done.\n"
      "->  what the sender sends, where it arrives      =>  it is reduced there\n");
  write_steps(out, p, how.everything);
}

void write_text(std::FILE* out, const rank_view& v, bool everything) {
  write_summary(out, *v.algorithm, v.call);
  write_claims(out, claims_of(v), fmt::format("rank {}", v.rank), true);
  const proof::rank_costs& cost = v.measured;
  fmt::print(out,
             "\nThe claims are those of the whole call. This rank alone was executed: it has {} message{}, "
             "sends {}\n"
             "bytes and receives {}.\n",
             cost.messages, cost.messages == 1 ? "" : "s", cost.sent, cost.received);
  if (cost.unknown != 0)
    fmt::print(out,
               "{} message{} a length that other messages carry. It is not known here and does not count as\n"
               "bytes; [?] stands for such a place.\n",
               cost.unknown, cost.unknown == 1 ? " has" : "s have");
  std::size_t rounds = 0;
  v.run([&](const traced_round&) { ++rounds; });
  fmt::print(out, "\nrank {}\n", v.rank);
  if (rounds == 0) return fmt::print(out, "\nThere is nothing to do.\n");
  folding all(out, rounds, everything, "rounds");
  std::size_t i = 0;
  v.run([&](const traced_round& r) { all.add({fmt::format("round {}", i++), lines_of(r)}); });
  all.end("");
}

}  // namespace tutti::tool
