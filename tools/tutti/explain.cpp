// SPDX-License-Identifier: Apache-2.0
//
// tutti explain: reports which algorithm a call would run, which trees and variables decide that,
// and why others are not chosen.
#include "explain.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/core.h>

#include "base/regular_file.hpp"
#include "base/report_text.hpp"
#include "engines/engine_table.hpp"
#include "subcommands.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;

void add_options(CLI::App& to, explain_query& q) {
  to.add_option("collective", q.what, "allreduce, bcast ...");
  to.add_option("--ranks", q.ranks, "Number of ranks; default: TUTTI_RANKS or the number of cores")
      ->check(CLI::Range(1, 1000000));
  to.add_option("--bytes", q.bytes, "Bytes of a block, or of the vector if there are no blocks, such as 64K");
  to.add_option("--count", q.count, "The same in elements; default 1");
  to.add_option("--type", q.type, "Type of the elements: double (default), int, u8 ..., opaque:24");
  to.add_option("--op", q.op,
                "sum (default), product, min, max, bit_and ..., commutative (a user-defined operator that is "
                "declared commutative), user or noncommutative (any other user-defined operator)");
  to.add_option("--root", q.root, "Root of a rooted collective");
  to.add_option(
      "--nodes", q.nodes,
      "Distribution of the ranks over nodes, in the form of TUTTI_NODES: 3x4, 2x3x4, \"3,1,4\" or 0:1:0:1");
  to.add_option("--engine", q.engine, engine_names("or"));
  to.add_option("--mpi", q.mpi, "openmpi or mpich");
  to.add_option("--condition", q.conditions, "The value of a condition of the engine: oversubscribed=false");
  to.add_option("--algorithm", q.algorithm, "The algorithm that the call names: ring:segment=64K");
  to.add_option("--composition", q.composition, "The composition that the call names: node_leader");
  to.add_option("--group", q.group,
                "The structure of the communicator, whose ranks know only a few others: chain, ring, "
                "logchain or logring");
  to.add_flag("--in-place", q.in_place, "The operands are in the result buffers");
  to.add_flag("--inter", q.inter, "The call is between two groups");
  to.add_flag("--nonblocking", q.nonblocking, "The call is nonblocking or persistent");
}

// Sets environment variables during its lifetime. A line of a batch may begin with assignments.
class scoped_variables {
 public:
  void set(const std::string& name, const std::string& value) {
    const char* before = secure_getenv(name.c_str());
    before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
    setenv(name.c_str(), value.c_str(), 1);
  }
  scoped_variables() = default;
  scoped_variables(const scoped_variables&) = delete;
  scoped_variables& operator=(const scoped_variables&) = delete;
  ~scoped_variables() {
    for (auto one = before_.rbegin(); one != before_.rend(); ++one)
      if (one->second)
        setenv(one->first.c_str(), one->second->c_str(), 1);
      else
        unsetenv(one->first.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

int print_result(const explain_query& q, bool as_object) {
  const explain_result a = resolve_query(q);
  if (as_object)
    fmt::print("{}\n", as_json(a).dump(2));
  else
    fmt::print("{}", as_text(a));
  return 0;
}

// Explains a line such as "TUTTI_ALLREDUCE_ALGORITHM=ring allreduce --ranks 8".
explain_result result_of_line(const std::string& line) {
  scoped_variables variables;
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (arguments.empty() && word.starts_with("TUTTI_") && equals != word.npos)
      variables.set(word.substr(0, equals), word.substr(equals + 1));
    else
      arguments.push_back(word);
  }
  explain_query q;
  CLI::App app;
  add_options(app, q);
  const std::vector<std::string> words_of_line = arguments;
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    throw called_wrongly(with_short_values(e.what(), words_of_line));
  }
  return resolve_query(q);
}

int print_batch(const std::string& file, bool as_object) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  file_text read = read_regular_file(file, max_bytes + 1);
  if (!read.problem.empty()) throw called_wrongly(read.problem);
  if (read.text.size() > max_bytes) throw called_wrongly(echoed(file) + " has more than 64 MiB");
  std::istringstream in(std::move(read.text));
  json all = json::array();
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos || line[0] == '#') continue;
    try {
      const explain_result a = result_of_line(line);
      if (as_object)
        all.push_back(as_json(a));
      else
        fmt::print("{}> {}\n{}", number == 1 ? "" : "\n", line, as_text(a));
    } catch (const std::exception& e) {
      throw called_wrongly(fmt::format("{}:{}: {}", echoed(file), number, e.what()));
    }
  }
  if (as_object) fmt::print("{}\n", all.dump(2));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  struct explain_options {
    explain_query query;
    std::string batch;
    bool as_object = false;
  };
  auto* explain = app.add_subcommand("explain", "Which algorithm a call would run, its transport, and why");
  auto options = std::make_shared<explain_options>();
  add_options(*explain, options->query);
  explain->add_flag("--json", options->as_object, "One object; of a batch, an array of them");
  explain->add_option(
      "--batch", options->batch,
      "A file of calls: each line has variables, if any, and the arguments of `tutti explain`");
  explain->footer(
      "It decides like the library, and reads the same settings: the files of TUTTI_TREES,\n"
      "TUTTI_COLL_COMPOSITION_JSON_FILE and TUTTI_COLL_SELECTION_JSON_FILE, TUTTI_<COLLECTIVE>_ALGORITHM "
      "and\n"
      "_COMPOSITION, TUTTI_COLL_FALLBACK, TUTTI_NODES, TUTTI_NETWORK, TUTTI_PREFER, TUTTI_SHM. At run time "
      "TUTTI_TRACE=calls reports what "
      "ran.\n"
      "Status 0: done; 2: called wrongly.\n\n"
      "Examples:\n  tutti explain allreduce --ranks 12 --bytes 64K\n"
      "  tutti explain allreduce --ranks 12 --bytes 64K --nodes 3x4 --engine mpi --op noncommutative\n"
      "  tutti explain allreduce --ranks 8 --nodes 2x4 --count 1K --composition reduce_bcast\n"
      "  tutti explain bcast --ranks 64 --bytes 1M --engine fibers --json | jq .choice\n"
      "  TUTTI_ALLREDUCE_ALGORITHM=ring tutti explain allreduce --ranks 5 --op noncommutative\n");
  explain->callback([options, &status] {
    if (!options->batch.empty() && !options->query.what.empty())
      throw called_wrongly("--batch reads the calls from the file; name no collective");
    if (options->batch.empty() && options->query.what.empty())
      throw called_wrongly("name a collective, as in tutti explain allreduce --ranks 8");
    status = options->batch.empty() ? print_result(options->query, options->as_object)
                                    : print_batch(options->batch, options->as_object);
  });
}

}  // namespace tutti::tool
