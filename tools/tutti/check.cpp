// SPDX-License-Identifier: Apache-2.0
//
// tutti check: proves algorithms and compositions for numbers of ranks (src/proof/), and reports
// which one fails where.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <unistd.h>

#include "checked_entries.hpp"
#include "json_stream.hpp"
#include "proof/composed_cases.hpp"
#include "proof/prove.hpp"
#include "schedule/algorithm.hpp"
#include "selection/choose.hpp"
#include "subcommands.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using json = json_stream::json;
using proof::proof_result;

// Parses "1..64", "7" or "2,4,8..12". The result is ascending and without duplicates. It is empty
// if the text has another form, or a number exceeds `max_ranks`.
std::vector<int> parse_ranks(const std::string& text, int max_ranks) {
  std::vector<int> all;
  const char *at = text.data(), *const end = at + text.size();
  const auto number = [&](int& n) {
    const auto [next, error] = std::from_chars(at, end, n);
    at = next;
    return error == std::errc{} && n >= 1 && n <= max_ranks;
  };
  while (at != end) {
    int first = 0, last = 0;
    if (!number(first)) return {};
    last = first;
    if (end - at >= 2 && at[0] == '.' && at[1] == '.') {
      at += 2;
      if (!number(last) || last < first) return {};
    }
    for (int p = first; p <= last; ++p) all.push_back(p);
    if (at == end) break;
    if (*at++ != ',' || at == end) return {};
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

constexpr int max_ranks_together = 4096, max_ranks_of_one = 65536;

struct row {
  std::string_view name;
  std::function<proof_result(int ranks, proof::abstract_machine&, bool exhaustive)> prove;
  proof_result all{};
  double seconds = 0;
  std::size_t remaining = 0;  // numbers of ranks that are not done
};

row row_of(const pure_algorithm& a, std::string_view parameters) {
  if (parameters.empty())
    return {a.name,
            [&a](int ranks, proof::abstract_machine& m, bool all) { return proof::prove(a, ranks, m, all); }};
  const choice given = read_choice(a.what, std::string(a.name) + std::string(parameters));
  const auto fixed = std::make_shared<fixed_entry<pure_algorithm>>(a, given.parameter_values, parameters);
  return {a.name, [fixed](int ranks, proof::abstract_machine& m, bool all) {
            return proof::prove(fixed->entry, ranks, m, all);
          }};
}
row row_of(const composed_algorithm& c, std::string_view parameters) {
  if (parameters.empty())
    return {c.name,
            [&c](int ranks, proof::abstract_machine&, bool all) { return proof::prove(c, ranks, all); }};
  const composed_choice given = read_composition(c.what, std::string(c.name) + std::string(parameters));
  const auto fixed = std::make_shared<fixed_entry<composed_algorithm>>(c, given.parameter_values, parameters);
  return {c.name, [fixed](int ranks, proof::abstract_machine&, bool all) {
            return proof::prove(fixed->entry, ranks, all);
          }};
}

// The width of the column of names. A line has at most 80 columns unless a name is too long.
std::size_t name_width(const std::vector<row>& rows) {
  std::size_t widest = 24;
  for (const row& r : rows) widest = std::max(widest, r.name.size());
  return widest;
}

void print_row(const row& r, std::size_t width) {
  fmt::print("{:<{}} {:>8} {:>11} {:>7} {:>8.2f}  {}\n", r.name, width, r.all.calls, r.all.messages,
             r.all.max_rounds, r.seconds,
             r.all.findings.empty() ? "ok" : fmt::format("{} faults", r.all.findings.size()));
}

void print_findings(const std::vector<row>& rows) {
  int shown = 0;
  for (const row& r : rows)
    for (std::size_t i = 0; i < r.all.findings.size(); ++i) {
      const proof::finding& f = r.all.findings[i];
      if (i == 3) {
        fmt::print("\n{}: and {} more faults\n", f.algorithm, r.all.findings.size() - i);
        break;
      }
      if (++shown > 30) return;
      std::string where = f.what.rank < 0 ? "" : fmt::format("rank {}", f.what.rank);
      if (f.what.round >= 0) where += fmt::format(", round {}", f.what.round);
      fmt::print("\n{}: {}\n  {}{}{}\n  to reproduce: tutti check {} --ranks {}\n", f.algorithm, f.call,
                 where, where.empty() ? "" : ": ", f.what.what, f.algorithm, f.ranks);
    }
}

json to_json(const proof::coverage& c) { return {{"tried", c.tried}, {"of", c.all}}; }
json to_json(const proof_result& all) {
  if (all.topologies.all > 0) return {{"root_mode_count_on_topologies", to_json(all.topologies)}};
  return {{"root_mode_count", to_json(all.default_parameters)},
          {"with_parameters_and_splits", to_json(all.all_parameters)}};
}

// Prints how much of the input space was tried, so that nobody takes a sample for a proof.
void print_coverage(const proof_result& all, bool exhaustive) {
  const auto line = [&](const proof::coverage& c, const char* of) {
    if (c.all == 0) return false;
    fmt::print("  {}: {} of {} {}\n", c.tried == c.all ? "all  " : "drawn", c.tried, c.all, of);
    return c.tried != c.all;
  };
  bool drawn =
      line(all.default_parameters, "combinations of root, mode and count, with the default parameters");
  drawn = line(all.all_parameters, "of these with other parameters, and splits into two groups") || drawn;
  drawn =
      line(all.topologies, "combinations of topology, parameters, root, mode and count of compositions") ||
      drawn;
  if (all.default_parameters.all > 0)
    for (const char* const text : proof::tried_inputs) fmt::print("  {}\n", text);
  if (drawn && !exhaustive) fmt::print("  --exhaustive tries all of them\n");
}

// Returns whether every combination was tried.
bool all_tried(const proof_result& all) {
  return all.default_parameters.tried == all.default_parameters.all &&
         all.all_parameters.tried == all.all_parameters.all && all.topologies.tried == all.topologies.all;
}

void write_json(const std::vector<row>& rows) {
  json_stream out(stdout);
  out.begin_array();
  for (const row& r : rows) {
    json findings = json::array();
    for (const proof::finding& f : r.all.findings)
      findings.push_back({{"ranks", f.ranks},
                          {"call", f.call},
                          {"rank", f.what.rank},
                          {"round", f.what.round},
                          {"what", f.what.what}});
    out.value({{"name", r.name},
               {"calls", r.all.calls},
               {"messages", r.all.messages},
               {"combined", r.all.combined},
               {"rounds", r.all.max_rounds},
               {"schedule_bytes", r.all.max_memory},
               {"proved", to_json(r.all)},
               {"seconds", r.seconds},
               {"faults", findings}});
  }
  out.end();
}

// The proofs are independent. Threads take them from one list that begins with the largest numbers
// of ranks.
void prove_all(std::vector<row>& rows, const std::vector<int>& ranks, const check_options& options) {
  const bool progress = isatty(STDERR_FILENO) != 0 && !options.quiet;
  const bool table = !options.as_json && !options.quiet;
  const std::size_t all = rows.size() * ranks.size();
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::size_t done = 0, printed = 0;
  const auto work = [&] {
    proof::abstract_machine machine;
    for (std::size_t i; (i = next.fetch_add(1)) < all;) {
      row& r = rows[i / ranks.size()];
      const int p = ranks[ranks.size() - 1 - i % ranks.size()];
      const auto begin = std::chrono::steady_clock::now();
      proof_result one = r.prove(p, machine, options.exhaustive);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      const std::lock_guard lock(guard);
      r.all += one;
      r.seconds += took.count();
      --r.remaining;
      ++done;
      if (progress) fmt::print(stderr, "\r{:>3}% {:<40}", done * 100 / all, r.name);
      while (printed < rows.size() && rows[printed].remaining == 0) {
        if (table) {
          if (progress) fmt::print(stderr, "\r{:<46}\r", "");
          print_row(rows[printed], name_width(rows));
          std::fflush(stdout);
        }
        ++printed;
      }
    }
  };
  const unsigned threads =
      options.threads != 0 ? options.threads : std::clamp(std::thread::hardware_concurrency(), 1u, 2u);
  std::vector<std::thread> workers;
  for (unsigned t = 1; t < threads; ++t) workers.emplace_back(work);
  work();
  for (std::thread& t : workers) t.join();
  if (progress) fmt::print(stderr, "\r{:<46}\r", "");
  for (row& r : rows)
    std::stable_sort(r.all.findings.begin(), r.all.findings.end(),
                     [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
}

int prove_algorithms(const check_options& options) {
  const int max_ranks = options.rank ? max_ranks_of_one : max_ranks_together;
  const std::vector<int> ranks = parse_ranks(options.ranks, max_ranks);
  if (ranks.empty()) {
    const bool large = !options.rank && !parse_ranks(options.ranks, max_ranks_of_one).empty();
    throw called_wrongly{
        large ? fmt::format("{} has numbers above {}, for which --rank R checks one rank",
                            detail::quoted(options.ranks), max_ranks_together)
              : fmt::format("{} is not a list of numbers of ranks, such as 1..64, 8 or 2,4,8..12{}",
                            detail::quoted(options.ranks),
                            options.rank ? fmt::format(", of at most {}", max_ranks_of_one) : "")};
  }
  if (options.rank) return check_rank(options, ranks);
  std::vector<row> rows;
  for (const std::string& argument : options.names.empty() ? std::vector<std::string>{""} : options.names) {
    const std::string name = argument.substr(0, argument.find(':')),
                      parameters = argument.substr(name.size());
    const std::size_t before = rows.size();
    const auto add = [&](const auto& all) {
      for (const auto* one : all)
        if (argument.empty() || has_name(*one, name)) rows.push_back(row_of(*one, parameters));
    };
    add(catalogue());
    add(composition_catalogue());
    if (rows.size() != before) continue;
    fmt::print(stderr, "tutti check: there is no algorithm, composition or collective {}; {}\n",
               detail::quoted(name), suggest_any(name));
    return 2;
  }
  if (!options.as_json && !options.quiet)
    fmt::print("{:<{}} {:>8} {:>11} {:>7} {:>8}  {}\n", "algorithm", name_width(rows), "calls", "messages",
               "rounds", "seconds", "result");
  for (row& r : rows) r.remaining = ranks.size();
  prove_all(rows, ranks, options);
  proof_result all;
  std::size_t faulty = 0;
  for (const row& r : rows) {
    all += r.all;
    if (!r.all.findings.empty()) ++faulty;
  }
  if (options.as_json) {
    write_json(rows);
  } else {
    print_findings(rows);
    fmt::print("{}{} algorithm{}, {} numbers of ranks, {} calls, {} messages: {}\n", faulty != 0 ? "\n" : "",
               rows.size(), rows.size() == 1 ? "" : "s", ranks.size(), all.calls, all.messages,
               faulty != 0      ? fmt::format("{} of them fail{}", faulty, faulty == 1 ? "s" : "")
               : all_tried(all) ? "all proved"
                                : "no fault found");
    if (faulty == 0) print_coverage(all, options.exhaustive);
  }
  return faulty == 0 ? 0 : 1;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  auto* command =
      app.add_subcommand("check", "Prove algorithms and compositions: results, hazards and claimed costs");
  auto options = std::make_shared<check_options>();
  command->add_option(
      "name", options->names,
      "allreduce/ring or ring, with a fixed parameter bcast/knomial:k=6, or all of a collective: allreduce");
  command->add_option("--ranks", options->ranks, "Numbers of ranks: 1..64, 8 or 2,4,8..12")
      ->capture_default_str();
  command->add_option("--rank", options->rank,
                      "Check only this rank, alone and against its peers; of up to 65536 ranks");
  command->add_option("--threads", options->threads, "Number of threads; default 2")
      ->check(CLI::Range(1u, 256u));
  command->add_flag("--exhaustive", options->exhaustive,
                    "Try every combination of root, mode and split with all tried counts and parameters, "
                    "however long it takes");
  command->add_flag("--json", options->as_json, "An array of objects");
  command->add_flag("--quiet", options->quiet, "Only faults, and the last lines");
  command->footer(
      "Executes every schedule symbolically, all ranks at once, without buffers. Status 0: all hold; 1:\n"
      "some do not. Up to 64 ranks it tries every combination of root and mode (in place, ordered), with\n"
      "the default parameters and a few counts. For few ranks it tries the same with other parameters,\n"
      "splits into groups and topologies, and for more ranks a random sample. The last lines name the\n"
      "counts and parameters, and count the combinations; \"all proved\" means that all were tried. Of a\n"
      "composition it executes the composite plans over many topologies of ranks on nodes; its messages\n"
      "are the calls that it makes.\n"
      "With --rank it executes the schedule of one rank, and each message of its peers arrives. It checks\n"
      "places and peers, and that each message has the matching step, in order, in the schedule of the\n"
      "peer. The costs of the rank must not exceed the claims. It cannot find deadlocks or wrong values.\n\n"
      "Examples:\n"
      "  tutti check\n"
      "  tutti check allreduce --ranks 1..33\n"
      "  tutti check bcast/knomial --ranks 7\n"
      "  tutti check bcast/knomial:k=6 --ranks 30..40\n"
      "  tutti check allreduce/node_leader node_leader\n"
      "  tutti check allreduce/ring --ranks 65536 --rank 5\n"
      "  tutti check --json | jq '.[] | select(.faults != [])'\n");
  command->callback([options, &status] { status = prove_algorithms(*options); });
}

}  // namespace tutti::tool
