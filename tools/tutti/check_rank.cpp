// SPDX-License-Identifier: Apache-2.0
//
// tutti check --rank: checks what one rank does, for numbers of ranks that are too many to execute
// together (src/proof/prove_rank.hpp). It draws the calls that it checks if there are many.
#include <chrono>
#include <functional>
#include <memory>

#include <fmt/core.h>

#include "checked_entries.hpp"
#include "json_stream.hpp"
#include "proof/prove_rank.hpp"
#include "subcommands.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

struct rank_row {
  std::string_view name;
  std::shared_ptr<const fixed_entry<pure_algorithm>> entry;
  proof::rank_proof all{};
  double seconds = 0;
};

rank_row rank_row_of(const pure_algorithm& a, std::string_view parameters) {
  if (parameters.empty())
    return {a.name, std::make_shared<fixed_entry<pure_algorithm>>(a, a.default_values(), "")};
  const choice given = read_choice(a.what, std::string(a.name) + std::string(parameters));
  return {a.name, std::make_shared<fixed_entry<pure_algorithm>>(a, given.parameter_values, parameters)};
}

std::vector<rank_row> rank_rows_of(const std::vector<std::string>& names) {
  std::vector<rank_row> rows;
  for (const std::string& argument : names.empty() ? std::vector<std::string>{""} : names) {
    const std::string name = argument.substr(0, argument.find(':')),
                      parameters = argument.substr(name.size());
    const std::size_t before = rows.size();
    for (const pure_algorithm* a : catalogue())
      if (argument.empty() || has_name(*a, name)) rows.push_back(rank_row_of(*a, parameters));
    if (rows.size() != before) continue;
    for (const composed_algorithm* c : composition_catalogue())
      if (has_name(*c, name))
        throw called_wrongly{
            fmt::format("{} is a composition, whose proof executes all ranks; leave out --rank", c->name)};
    throw called_wrongly{
        fmt::format("there is no algorithm or collective {}; {}", detail::quoted(name), suggest_any(name))};
  }
  return rows;
}

void print_rank_findings(const rank_row& r, int rank) {
  for (const proof::finding& f : r.all.findings)
    fmt::print("\n{}: {}\n  rank {}{}: {}\n  to reproduce: tutti check {} --ranks {} --rank {}\n",
               f.algorithm, f.call, rank, f.what.round < 0 ? "" : fmt::format(", round {}", f.what.round),
               f.what.what, f.algorithm, f.ranks, rank);
}

void write_rank_json(const std::vector<rank_row>& rows, int rank) {
  using json = json_stream::json;
  const auto tried = [](const proof::coverage& c) { return json{{"tried", c.tried}, {"of", c.all}}; };
  json_stream out(stdout);
  out.begin_array();
  for (const rank_row& r : rows) {
    json faults = json::array();
    for (const proof::finding& f : r.all.findings)
      faults.push_back(
          {{"ranks", f.ranks}, {"call", f.call}, {"round", f.what.round}, {"what", f.what.what}});
    out.value({{"name", r.name},
               {"rank", rank},
               {"calls", r.all.calls.tried},
               {"messages", r.all.messages},
               {"messages_of_unknown_length", r.all.unknown},
               {"calls_without_contents", r.all.untracked},
               {"rounds", r.all.max_rounds},
               {"schedule_bytes", r.all.max_memory},
               {"checked", {{"calls", tried(r.all.calls)}, {"peers", tried(r.all.peers)}}},
               {"seconds", r.seconds},
               {"faults", faults}});
  }
  out.end();
}

void print_rank_coverage(const proof::rank_proof& all) {
  const auto line = [](const proof::coverage& c, const char* of) {
    if (c.all != 0)
      fmt::print("  checked {} of {} {}{}\n", c.tried, c.all, of,
                 c.tried == c.all ? "" : "; these were drawn");
  };
  line(all.calls, "calls: combinations of root, mode, count, parameters and split");
  line(all.peers, "schedules of peers, over these calls");
  if (all.untracked != 0)
    fmt::print("  in {} calls the elements are too many to track which of them are written\n", all.untracked);
  if (all.unknown != 0)
    fmt::print("  {} of {} messages have lengths that other messages carry; these are not compared\n",
               all.unknown, all.messages);
  fmt::print(
      "  In each: peers, places, conflicts within a round, no read of what nothing wrote, matching\n"
      "  steps of peers, and rounds, bytes and scratch of this rank within the claims.\n"
      "  Deadlocks and values need all ranks: tutti check without --rank, for fewer ranks.\n");
}

}  // namespace

int check_rank(const check_options& options, const std::vector<int>& ranks) {
  const int rank = *options.rank;
  if (rank < 0 || rank >= ranks.front())
    throw called_wrongly{fmt::format("--rank is {}, but --ranks contains {}, whose ranks are 0 to {}", rank,
                                     ranks.front(), ranks.front() - 1)};
  if (options.exhaustive)
    throw called_wrongly{"--exhaustive tries the calls of all ranks; leave it out, or leave out --rank"};
  if (options.threads > 1) throw called_wrongly{"--rank takes one thread; leave out --threads"};
  std::vector<rank_row> rows = rank_rows_of(options.names);
  const bool table = !options.as_json && !options.quiet;
  std::size_t width = 24;
  for (const rank_row& r : rows) width = std::max(width, r.name.size());
  if (table)
    fmt::print("{:<{}} {:>8} {:>11} {:>7} {:>8}  {}\n", "algorithm", width, "calls", "messages", "rounds",
               "seconds", "result");
  proof::abstract_machine machine;
  proof::rank_proof all;
  std::size_t faulty = 0;
  for (rank_row& r : rows) {
    const auto begin = std::chrono::steady_clock::now();
    for (const int p : ranks) r.all += proof::prove_rank(r.entry->entry, p, rank, machine);
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    all += r.all;
    faulty += r.all.findings.empty() ? 0 : 1;
    if (!table) continue;
    fmt::print("{:<{}} {:>8} {:>11} {:>7} {:>8.2f}  {}\n", r.name, width, r.all.calls.tried, r.all.messages,
               r.all.max_rounds, r.seconds,
               !r.all.findings.empty()  ? fmt::format("{} faults", r.all.findings.size())
               : r.all.calls.tried == 0 ? "serves no such number of ranks"
                                        : "ok");
    std::fflush(stdout);
  }
  if (options.as_json) {
    write_rank_json(rows, rank);
    return faulty == 0 ? 0 : 1;
  }
  for (const rank_row& r : rows) print_rank_findings(r, rank);
  fmt::print(
      "{}{} algorithm{}, rank {} of {}, {} calls, {} messages: {}\n", faulty != 0 ? "\n" : "", rows.size(),
      rows.size() == 1 ? "" : "s", rank,
      ranks.size() == 1 ? fmt::format("{} ranks", ranks[0])
                        : fmt::format("{} numbers of ranks", ranks.size()),
      all.calls.tried, all.messages,
      faulty != 0 ? fmt::format("{} of them fail{}", faulty, faulty == 1 ? "s" : "") : "no fault found");
  if (faulty == 0) print_rank_coverage(all);
  return faulty == 0 ? 0 : 1;
}

}  // namespace tutti::tool
