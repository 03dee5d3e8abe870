// SPDX-License-Identifier: Apache-2.0
//
// stats FILE --mpi NAME --ranks N [--served C,D [--all-served]]: checks the statistics that the
// preload library wrote at the end of a run. They must be consistent, and each of the collectives
// C, D must have been served. With --all-served, MPI must have run no call of them. The nonblocking
// form counts as the collective itself.
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  std::cout << "statistics: " << what << "\n";
  ++failures;
}

struct counts {
  long rerouted = 0;
  long passed = 0;
};

void check_consistent(const std::string& name, const nlohmann::json& one, long ranks) {
  const long rerouted = one.at("rerouted"), passed = one.at("passed");
  const long all_rerouted = one.at("all_ranks").at("rerouted"), all_passed = one.at("all_ranks").at("passed");
  expect(rerouted >= 0 && passed >= 0 && rerouted + passed > 0, name + ": no call of rank 0");
  expect(all_rerouted >= rerouted && all_passed >= passed, name + ": all ranks have fewer calls than rank 0");
  expect(ranks > 1 || (all_rerouted == rerouted && all_passed == passed), name + ": one rank is not all");
  expect(one.at("bytes").get<double>() >= 0 && one.at("seconds").get<double>() >= 0,
         name + ": less than nothing");
  long native = 0, by_algorithm = 0;
  for (const auto& [algorithm, calls] : one.at("algorithms").items()) {
    (algorithm == "native" ? native : by_algorithm) += calls.get<long>();
  }
  expect(by_algorithm == rerouted, name + ": its algorithms ran " + std::to_string(by_algorithm) +
                                       " times, rerouted were " + std::to_string(rerouted));
  expect(native == passed,
         name + ": native ran " + std::to_string(native) + " times, passed were " + std::to_string(passed));
}

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, std::string> options;
  for (int i = 2; i < argc; ++i) options[argv[i]] = i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : "";
  std::ifstream file(argv[1]);
  if (!file) {
    std::cout << "statistics: there are none\n";
    return 1;
  }
  const nlohmann::json stats = nlohmann::json::parse(file);
  const long ranks = std::stol(options.at("--ranks"));
  expect(stats.at("schema") == "tutti/preload/1", "the schema is " + stats.at("schema").dump());
  expect(stats.at("mpi") == options.at("--mpi"), "the MPI is " + stats.at("mpi").dump());
  expect(stats.at("ranks") == ranks, "the ranks are " + stats.at("ranks").dump());
  expect(!stats.at("library").get<std::string>().empty(), "the library has no name");
  std::map<std::string, counts> sums;
  for (const auto& [name, one] : stats.at("collectives").items()) {
    check_consistent(name, one, ranks);
    counts& sum = sums[name[0] == 'i' ? name.substr(1) : name];
    sum.rerouted += one.at("rerouted").get<long>();
    sum.passed += one.at("passed").get<long>();
  }
  std::istringstream served(options["--served"]);
  for (std::string name; std::getline(served, name, ',');) {
    expect(sums[name].rerouted > 0, name + ": no call was served");
    expect(options.count("--all-served") == 0 || sums[name].passed == 0,
           name + ": " + std::to_string(sums[name].passed) + " calls were left to the MPI");
  }
  if (failures > 0) std::cout << stats.dump(1) << "\n";
  return failures > 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::cout << "statistics: " << error.what() << "\n";
  return 1;
}
