// SPDX-License-Identifier: Apache-2.0
//
// What `tutti explain` says of a call is what TUTTI_TRACE says ran: 500 random calls on every engine, with
// pretended nodes, overrides and trees of a user.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "shell.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

struct signature {
  std::string what, type, op;
  std::size_t count = 0;
  int root = 0;
  bool in_place = false, inter = false, nonblocking = false;
};

struct job {
  std::string engine, mpi, launcher, nodes;
  int ranks = 1;
  std::vector<std::pair<std::string, std::string>> overrides;
  std::vector<std::string> overridden;  // their collectives
  std::vector<signature> calls;
};

// Calls that are one line of the trace have the same of these; the second calls of such are left out.
json key_of(const signature& s, bool vector_form) {
  const bool rooted = s.root >= 0, here = s.root == 0;
  json key{{"collective", s.what}, {"nonblocking", s.nonblocking}, {"inter", s.inter}};
  key["in_place"] = s.in_place && (!rooted || here);
  if (s.what == "barrier") return key;
  static const std::map<std::string, int> sizes = {{"double", 8}, {"float", 4}, {"int", 4},
                                                   {"u8", 1},     {"byte", 1},  {"opaque:24", 24}};
  static const std::map<std::string, const char*> kinds = {{"double", "f64"}, {"float", "f32"},
                                                           {"int", "i32"},    {"u8", "u8"},
                                                           {"byte", "bytes"}, {"opaque:24", "bytes"}};
  key["element"] = sizes.at(s.type);
  if (!vector_form) key["count"] = s.count;
  if (rooted) key["root_here"] = here;
  if (!s.op.empty()) {
    key["type"] = kinds.at(s.type);
    key["op"] = s.op == "sum" || s.op == "max" ? s.op : "user";
    key["commutative"] = s.op != "noncommutative";
  }
  return key;
}

json key_of(const json& line) {
  json key;
  for (const char* part : {"collective", "nonblocking", "inter", "in_place", "element", "count", "root_here",
                           "type", "op", "commutative"})
    if (line.contains(part)) key[part] = line[part];
  return key;
}

// Of a user: compositions, and pure algorithms.
constexpr const char* own_tree = R"({"schema": "tutti/tree/1",
  "composition": {
    "allreduce": [{"when": {"hierarchical": true, "rank_order": true, "inter": false}, "use": "node_leader"}],
    "bcast": [{"when": {"inter": false}, "by": "bytes", "steps": [
      {"upto": 1000, "use": "@pure"}, {"use": "pipeline", "with": {"segment": 512}}]}]},
  "pure": {
    "reduce": [{"when": {"inter": false}, "by": "ranks", "steps": [
      {"upto": 4, "use": "linear"}, {"use": "knomial", "with": {"k": 3}}]}]}})";

class sampler {
 public:
  explicit sampler(unsigned seed) : random_(seed) {
    std::ofstream(folder_.path("tree")) << own_tree;
    for (const json& a : json::parse(tutti("list --json").text)) {
      const std::string name = a["name"];
      entries_[name.substr(0, name.find('/'))].push_back(a);
    }
  }

  int below(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  const T& any(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  job next_job(std::size_t calls) {
    job j;
    j.engine = one_in(2) ? "threads" : "fibers";
    j.ranks = 1 + below(9);
    fill(j, calls);
    return j;
  }

  void fill(job& j, std::size_t calls) {
    j.nodes = layout(j.ranks);
    if (!one_in(4))
      for (int n = 1 + below(4); n > 0; --n) add_override(j);
    for (const char* half : {"COMPOSITION", "SELECTION"})
      if (one_in(3))
        j.overrides.emplace_back("TUTTI_COLL_" + std::string(half) + "_JSON_FILE", folder_.path("tree"));
    std::set<json> keys;
    while (j.calls.size() < calls) {
      const signature s = next_call(j.ranks, j.overridden);
      if (keys.insert(key_of(s, is_vector_form(s.what))).second) j.calls.push_back(s);
    }
  }

  static bool is_vector_form(const std::string& what) {
    static const std::set<std::string> all = {
        "gatherv",   "scatterv",       "allgatherv",          "alltoallv",
        "alltoallw", "reduce_scatter", "neighbor_allgatherv", "neighbor_alltoallv"};
    return all.count(what) != 0;
  }

 private:
  std::string layout(int p) {
    std::vector<std::string> all{""};
    for (int n = 2; n <= p; ++n)
      if (p % n == 0) all.push_back(std::to_string(n) + "x" + std::to_string(p / n));
    if (p >= 3) all.push_back("1," + std::to_string(p - 1)), all.push_back(std::to_string(p - 2) + ",2");
    if (p == 8) all.push_back("2x2x2");
    std::string scattered = "0";
    for (int r = 1; r < p; ++r) scattered += ":" + std::to_string(below(3));
    if (p > 1) all.push_back(scattered);
    return any(all);
  }

  void add_override(job& j) {
    static const std::vector<std::string> some = {"allreduce", "bcast",  "reduce",  "allgather",
                                                  "alltoall",  "gather", "scatter", "scan"};
    const std::string what = any(some);
    std::string upper = what;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    const bool composed = one_in(2);
    std::vector<json> some_entries;
    for (const json& e : entries_.at(what))
      if ((e["kind"] == "composition") == composed) some_entries.push_back(e);
    const json& entry = any(some_entries);
    std::string name = entry["name"];
    name = name.substr(name.find('/') + 1);
    if (!entry["parameters"].empty() && one_in(2)) {
      const json& k = entry["parameters"][0];
      name += ":" + k["name"].get<std::string>() + "=" + std::to_string(k["least"].get<int>());
    }
    if (one_in(6)) name = composed ? "@pure" : "native";
    const std::string variable = "TUTTI_" + upper + (composed ? "_COMPOSITION" : "_ALGORITHM");
    for (const auto& [known, value] : j.overrides)
      if (known == variable) return;
    j.overrides.emplace_back(variable, name);
    j.overridden.push_back(what);
  }

  signature next_call(int p, const std::vector<std::string>& overridden) {
    static const std::vector<std::string> all = {"barrier",
                                                 "bcast",
                                                 "reduce",
                                                 "allreduce",
                                                 "gather",
                                                 "gatherv",
                                                 "scatter",
                                                 "scatterv",
                                                 "allgather",
                                                 "allgatherv",
                                                 "alltoall",
                                                 "alltoallv",
                                                 "alltoallw",
                                                 "reduce_scatter",
                                                 "reduce_scatter_block",
                                                 "scan",
                                                 "exscan",
                                                 "allreduce",
                                                 "bcast",
                                                 "neighbor_allgatherv",
                                                 "allreduce",
                                                 "reduce",
                                                 "allgather",
                                                 "neighbor_alltoallv"};
    static const std::set<std::string> rooted = {"bcast",   "reduce",  "gather",
                                                 "gatherv", "scatter", "scatterv"};
    static const std::set<std::string> combining = {"reduce", "allreduce",      "scan",
                                                    "exscan", "reduce_scatter", "reduce_scatter_block"};
    signature s;
    s.what = !overridden.empty() && one_in(2) ? any(overridden) : any(all);
    const bool neighborly = s.what.starts_with("neighbor"), barrier = s.what == "barrier";
    s.root = rooted.count(s.what) != 0 ? below(p) : -1;
    s.count = barrier      ? 0
              : one_in(8)  ? static_cast<std::size_t>(below(3))
              : one_in(10) ? 40000
                           : std::size_t{1} << below(13);
    s.type = s.what == "alltoallw" ? "byte" : any<std::string>({"double", "float", "int", "u8", "opaque:24"});
    if (combining.count(s.what) != 0)
      s.op = s.type == "opaque:24" ? any<std::string>({"commutative", "noncommutative"})
                                   : any<std::string>({"sum", "sum", "max", "commutative", "noncommutative"});
    const bool between = p >= 2 && !barrier && !neighborly && s.what != "scan" && s.what != "exscan" &&
                         s.what != "reduce_scatter_block";  // there the groups must give as much
    s.inter = between && !is_vector_form(s.what) && one_in(12);
    s.in_place = !s.inter && !barrier && s.what != "bcast" && !neighborly && one_in(4);
    s.nonblocking = one_in(5);
    return s;
  }

  scratch_folder folder_;
  std::mt19937 random_;
  std::map<std::string, std::vector<json>> entries_;
};

// What ran, as the calls of the job in their order.
std::vector<json> run_job(const job& j, const scratch_folder& at) {
  std::ofstream file(at.path("calls"));
  for (const signature& s : j.calls)
    file << s.what << ' ' << s.count << ' ' << s.type << ' ' << (s.op.empty() ? "-" : s.op) << ' '
         << std::max(0, s.root) << ' ' << s.in_place << ' ' << s.inter << ' ' << s.nonblocking << '\n';
  file.close();
  std::filesystem::remove(at.path("trace"));
  std::string command =
      "TUTTI_PIN=0 TUTTI_COLL_FALLBACK=silent TUTTI_TRACE='calls:json=" + at.path("trace") + "'";
  if (!j.nodes.empty()) command += " TUTTI_NODES=" + j.nodes;
  for (const auto& [name, value] : j.overrides) command += " " + name + "='" + value + "'";
  if (j.mpi.empty())
    command += " TUTTI_ENGINE=" + j.engine + " TUTTI_RANKS=" + std::to_string(j.ranks);
  else
    command += " " + j.launcher + " -n " + std::to_string(j.ranks);
  const ending e = shell(command + " '" TUTTI_TRACE_CALLS "' '" + at.path("calls") + "'");
  if (e.status != 0) {
    std::ostringstream calls;
    calls << std::ifstream(at.path("calls")).rdbuf();
    ADD_FAILURE() << command << " ends with " << e.status << ": " << e.text << calls.str();
    return std::vector<json>(j.calls.size());
  }
  const json told = json::parse(std::ifstream(at.path("trace")));
  std::map<json, json> lines;
  for (const json& line : told["calls"]) lines[key_of(line)] = line;
  EXPECT_EQ(told["calls"].size(), j.calls.size()) << command << "\n" << e.text;
  EXPECT_EQ(told["engine"], j.engine);
  std::vector<json> ran;
  for (const signature& s : j.calls) ran.push_back(lines[key_of(s, sampler::is_vector_form(s.what))]);
  return ran;
}

std::vector<std::string> questions_of(const job& j) {
  std::vector<std::string> lines;
  for (const signature& s : j.calls) {
    std::ostringstream q;
    q << "TUTTI_COLL_FALLBACK=silent";
    for (const auto& [name, value] : j.overrides) q << ' ' << name << '=' << value;
    q << ' ' << s.what << " --ranks " << j.ranks << " --engine " << j.engine;
    if (!j.mpi.empty()) q << " --mpi " << j.mpi;
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

// The calls that rank 0 makes inside of a composed one: how many of each.
std::map<json, std::uint64_t> inside_of(const json& told) {
  std::map<json, std::uint64_t> all;
  for (const json& one : told.value("inside", json::array())) {
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
  std::vector<std::string> questions;
  for (const job& j : jobs)
    for (const std::string& q : questions_of(j)) questions.push_back(q);
  {
    std::ofstream batch(at.path("batch"));
    for (const std::string& q : questions) batch << q << '\n';
  }
  const ending e = tutti("explain --batch '" + at.path("batch") + "' --json");
  if (e.status != 0)
    throw std::runtime_error("explain ends with " + std::to_string(e.status) + ": " + e.text);
  const json answers = json::parse(e.text);
  tally seen;
  std::size_t next = 0;
  for (const job& j : jobs)
    for (const json& ran : run_job(j, at)) {
      const json& said = answers.at(next);
      const std::string& asked = questions[next++];
      if (ran.is_null()) continue;
      ++seen.calls;
      seen.composed += ran["composition"].is_string();
      seen.forced += said["choice"]["source"] == "environment";
      seen.by_file += said["choice"]["source"] == "file";
      seen.nodes += !j.nodes.empty();
      seen.inter += ran["inter"].get<bool>();
      seen.algorithms.insert(ran["algorithm"].get<std::string>());
      for (const char* part : {"algorithm", "parameters", "composition"})
        EXPECT_EQ(said["choice"][part], ran[part]) << asked << ": " << part;
      EXPECT_EQ(inside_of(said), inside_of(ran)) << asked;
    }
  EXPECT_EQ(next, answers.size());
  return seen;
}

TEST(agreement, explain_says_what_runs) {
  sampler random(4711);
  std::vector<job> jobs;
  for (int i = 0; i < 55; ++i) jobs.push_back(random.next_job(8));
  const tally seen = compare(jobs);
  EXPECT_EQ(seen.calls, 440u);
  // A sample that has none of these shows nothing.
  EXPECT_GE(seen.composed, 20u);
  EXPECT_GE(seen.forced, 30u);
  EXPECT_GE(seen.by_file, 3u);
  EXPECT_GE(seen.nodes, 200u);
  EXPECT_GE(seen.inter, 10u);
  EXPECT_GE(seen.algorithms.size(), 30u);
}

// TUTTI_LAUNCHERS: "name|command@" for each MPI.
TEST(agreement, explain_says_what_runs_over_mpi) {
  std::istringstream launchers(TUTTI_LAUNCHERS);
  std::vector<job> jobs;
  sampler random(815);
  for (std::string one; std::getline(launchers, one, '@');)
    for (const int ranks : {2, 3, 4}) {
      job j;
      j.engine = "mpi";
      j.mpi = one.substr(0, one.find('|'));
      j.launcher = one.substr(one.find('|') + 1);
      j.ranks = ranks;
      random.fill(j, 9);
      jobs.push_back(j);
    }
  ASSERT_FALSE(jobs.empty()) << "registered where there is an MPI only";
  // A composed call must not take the program of one that differs in its operator alone: MPI has a collective
  // of its own for the one and not for the other.
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
