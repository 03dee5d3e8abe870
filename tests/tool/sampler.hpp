// SPDX-License-Identifier: Apache-2.0
//
// Random jobs whose calls a trace can distinguish.
#pragma once

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tool.hpp"

namespace tool_tests {

using nlohmann::json;

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

// Calls with the same key are one line of the trace. The sampler omits all but the first of them.
inline json key_of(const signature& s, bool vector_form) {
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

inline json key_of(const json& line) {
  json key;
  for (const char* part : {"collective", "nonblocking", "inter", "in_place", "element", "count", "root_here",
                           "type", "op", "commutative"})
    if (line.contains(part)) key[part] = line[part];
  return key;
}

// A user's tree: compositions, and pure algorithms.
constexpr const char* user_tree = R"({"schema": "tutti/tree/1",
  "composition": {
    "allreduce": [{"when": {"hierarchical": true, "rank_order": true, "inter": false}, "use": "node_leader"}],
    "bcast": [{"when": {"inter": false}, "by": "bytes", "steps": [
      {"upto": 1000, "use": "@pure"}, {"use": "pipeline", "with": {"segment": 512}}]}]},
  "pure": {
    "reduce": [{"when": {"inter": false}, "by": "ranks", "steps": [
      {"upto": 4, "use": "linear"}, {"use": "knomial", "with": {"k": 3}}]}]}})";

class sampler {
 public:
  explicit sampler(std::uint64_t seed) : random_(static_cast<unsigned>(seed)) {
    std::ofstream(folder_.path("tree")) << user_tree;
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
    j.nodes = random_nodes(j.ranks);
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
  std::string random_nodes(int p) {
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
      name += ":" + k["name"].get<std::string>() + "=" + std::to_string(k["min"].get<int>());
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
    const bool of_neighbors = s.what.starts_with("neighbor"), barrier = s.what == "barrier";
    s.root = rooted.count(s.what) != 0 ? below(p) : -1;
    s.count = barrier      ? 0
              : one_in(8)  ? static_cast<std::size_t>(below(3))
              : one_in(10) ? 40000
                           : std::size_t{1} << below(13);
    s.type = s.what == "alltoallw" ? "byte" : any<std::string>({"double", "float", "int", "u8", "opaque:24"});
    if (combining.count(s.what) != 0)
      s.op = s.type == "opaque:24" ? any<std::string>({"commutative", "noncommutative"})
                                   : any<std::string>({"sum", "sum", "max", "commutative", "noncommutative"});
    const bool between = p >= 2 && !barrier && !of_neighbors && s.what != "scan" && s.what != "exscan" &&
                         // In a reduce_scatter_block both groups must contribute the same amount.
                         s.what != "reduce_scatter_block";
    s.inter = between && !is_vector_form(s.what) && one_in(12);
    s.in_place = !s.inter && !barrier && s.what != "bcast" && !of_neighbors && one_in(4);
    s.nonblocking = one_in(5);
    return s;
  }

  scratch_folder folder_;
  std::mt19937 random_;
  std::map<std::string, std::vector<json>> entries_;
};

}  // namespace tool_tests
