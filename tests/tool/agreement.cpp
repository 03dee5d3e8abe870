// SPDX-License-Identifier: Apache-2.0
//
// Tests that `tutti explain` agrees with TUTTI_TRACE on what runs: 500 random calls on every
// engine, with simulated nodes, overrides and user trees.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "sampler.hpp"
#include "support/launchers.hpp"
#include "support/seed.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

// Returns what ran, in the order of the job's calls.
std::vector<json> run_job(const job& j, const scratch_folder& at) {
  std::ofstream file(at.path("calls"));
  for (const signature& s : j.calls)
    file << s.what << ' ' << s.count << ' ' << s.type << ' ' << (s.op.empty() ? "-" : s.op) << ' '
         << std::max(0, s.root) << ' ' << s.in_place << ' ' << s.inter << ' ' << s.nonblocking << '\n';
  file.close();
  std::filesystem::remove(at.path("trace"));
  // explain assumes that ranks are not bound, whereas a launcher may bind them.
  std::string command =
      "TUTTI_PIN=0 TUTTI_NODE_LEVELS=0 TUTTI_COLL_FALLBACK=silent TUTTI_TRACE='calls:json=" +
      at.path("trace") + "'";
  if (!j.nodes.empty()) command += " TUTTI_NODES=" + j.nodes;
  for (const auto& [name, value] : j.overrides) command += " " + name + "='" + value + "'";
  if (j.mpi.empty())
    command += " TUTTI_ENGINE=" + j.engine + " TUTTI_RANKS=" + std::to_string(j.ranks);
  else
    command += " " + j.launcher + " -n " + std::to_string(j.ranks);
  const command_result e = shell(command + " '" TUTTI_TRACE_CALLS "' '" + at.path("calls") + "'");
  if (e.status != 0) {
    ADD_FAILURE() << command << " ends with " << e.status << ": " << e.text << contents(at.path("calls"));
    return std::vector<json>(j.calls.size());
  }
  const json trace = json::parse(std::ifstream(at.path("trace")));
  std::map<json, json> lines;
  for (const json& line : trace["calls"]) lines[key_of(line)] = line;
  EXPECT_EQ(trace["calls"].size(), j.calls.size()) << command << "\n" << e.text;
  EXPECT_EQ(trace["engine"], j.engine);
  std::vector<json> ran;
  for (const signature& s : j.calls) ran.push_back(lines[key_of(s, sampler::is_vector_form(s.what))]);
  return ran;
}

// That the ranks of a job share. tutti explain assumes that each has one.
int cores() {
  cpu_set_t all;
  return sched_getaffinity(0, sizeof all, &all) == 0 ? CPU_COUNT(&all) : 1;
}

std::vector<std::string> queries_of(const job& j) {
  std::vector<std::string> lines;
  for (const signature& s : j.calls) {
    std::ostringstream q;
    q << "TUTTI_COLL_FALLBACK=silent";
    for (const auto& [name, value] : j.overrides) q << ' ' << name << '=' << value;
    q << ' ' << s.what << " --ranks " << j.ranks << " --engine " << j.engine;
    if (!j.mpi.empty()) q << " --mpi " << j.mpi;
    if (!j.mpi.empty() && j.ranks > cores()) q << " --condition oversubscribed=true";
    if (!j.nodes.empty()) q << " --nodes " << j.nodes;
    if (s.what != "barrier") q << " --count " << s.count << " --type " << s.type;
    if (!s.op.empty()) q << " --op " << s.op;
    if (s.root > 0) q << " --root " << s.root;
    if (s.in_place) q << " --in-place";
    if (s.inter) q << " --inter";
    if (s.nonblocking) q << " --nonblocking";
    lines.push_back(q.str());
  }
  return lines;
}

// Counts the inner calls that rank 0 makes in a composed call, by kind.
std::map<json, std::uint64_t> inner_calls_of(const json& call) {
  std::map<json, std::uint64_t> all;
  for (const json& one : call.value("inside", json::array())) {
    if (one.value("rank", 0) != 0) continue;
    json key;
    for (const char* part : {"collective", "ranks", "count", "in_place", "algorithm", "parameters"})
      key[part] = one[part];
    all[key] += one["times"].get<std::uint64_t>();
  }
  return all;
}

struct tally {
  std::size_t calls = 0, composed = 0, forced = 0, by_file = 0, nodes = 0, inter = 0;
  std::set<std::string> algorithms;
};

tally compare(const std::vector<job>& jobs) {
  const scratch_folder at;
  std::vector<std::string> queries;
  for (const job& j : jobs)
    for (const std::string& q : queries_of(j)) queries.push_back(q);
  {
    std::ofstream batch(at.path("batch"));
    for (const std::string& q : queries) batch << q << '\n';
  }
  // The tool warns about variables that do not apply to one half. This test ignores the warnings.
  const command_result e = shell("{ '" TUTTI_TOOL "' explain --batch '" + at.path("batch") + "' --json 2> '" +
                                 at.path("warnings") + "'; }");
  if (e.status != 0)
    throw std::runtime_error("explain ends with " + std::to_string(e.status) + ": " +
                             contents(at.path("warnings")));
  const json results = json::parse(e.text);
  tally seen;
  std::size_t next = 0;
  for (const job& j : jobs)
    for (const json& ran : run_job(j, at)) {
      const json& result = results.at(next);
      const std::string& query = queries[next++];
      if (ran.is_null()) continue;
      ++seen.calls;
      seen.composed += ran["composition"].is_string();
      seen.forced += result["choice"]["source"] == "environment";
      seen.by_file += result["choice"]["source"] == "file";
      seen.nodes += !j.nodes.empty();
      seen.inter += ran["inter"].get<bool>();
      seen.algorithms.insert(ran["algorithm"].get<std::string>());
      for (const char* part : {"algorithm", "parameters", "composition"})
        EXPECT_EQ(result["choice"][part], ran[part]) << query << ": " << part;
      EXPECT_EQ(inner_calls_of(result), inner_calls_of(ran)) << query;
    }
  EXPECT_EQ(next, results.size());
  return seen;
}

TEST(agreement, explain_agrees_with_the_trace) {
  sampler random(seed_or(4711));
  std::vector<job> jobs;
  for (int i = 0; i < 55; ++i) jobs.push_back(random.next_job(8));
  const tally seen = compare(jobs);
  EXPECT_EQ(seen.calls, 440u);
  // A sample without these cases would prove nothing.
  EXPECT_GE(seen.composed, 20u);
  EXPECT_GE(seen.forced, 30u);
  EXPECT_GE(seen.by_file, 3u);
  EXPECT_GE(seen.nodes, 200u);
  EXPECT_GE(seen.inter, 10u);
  EXPECT_GE(seen.algorithms.size(), 30u);
}

TEST(agreement, explain_agrees_with_the_trace_over_mpi) {
  std::vector<job> jobs;
  sampler random(seed_or(815));
  for (const mpi_launcher& by : mpi_launchers())
    for (const int ranks : {2, 3, 4}) {
      job j;
      j.engine = "mpi";
      j.mpi = by.mpi;
      j.launcher = by.command;
      j.ranks = ranks;
      random.fill(j, 9);
      jobs.push_back(j);
    }
  ASSERT_FALSE(jobs.empty()) << "registered where there is an MPI only";
  // A composed call must not reuse the plan of one that differs only in its operator. MPI has a
  // native collective for one operator and not for the other.
  for (std::size_t i = 0, all = jobs.size(); i < all; i += 3) {
    job j = jobs[i];
    j.nodes.clear();
    j.overrides = {{"TUTTI_ALLREDUCE_COMPOSITION", "reduce_bcast"}};
    j.calls.clear();
    for (const char* op : {"sum", "commutative", "max"})
      j.calls.push_back({"allreduce", "double", op, 10, -1, false, false, false});
    jobs.push_back(j);
  }
  EXPECT_EQ(compare(jobs).calls, jobs.size() / 4 * 30);
}

}  // namespace
