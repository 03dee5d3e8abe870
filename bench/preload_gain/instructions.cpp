// SPDX-License-Identifier: Apache-2.0
#include "preload_gain/instructions.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "callgrind.hpp"

namespace bench {
namespace {

constexpr std::array calls{"allreduce", "bcast", "allgatherv", "alltoallv"};

struct count {
  double all = -1, ours = 0;  // of everything; of the preload library
};

// Returns the cost of a call on its path. A function of the MPI is counted as "in" its library.
// overhead_native's own loop is in both programs.
count counted(const std::string& command, const std::string& variables) {
  const auto each = per_call(command, 1, {"env " + variables, "", ""});
  if (each.empty()) return {};
  count c{0, 0};
  for (const auto& [function, instructions] : each) {
    c.all += instructions;
    if (function.rfind("in ", 0) != 0) c.ours += instructions;
  }
  return c;
}

}  // namespace

nlohmann::ordered_json count_instructions(const std::vector<preload_mpi>& mpis, progress& log) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const preload_mpi& mpi : mpis)
    for (const std::string what : calls) {
      log.step(fmt::format("{}: instructions of {}", mpi.title, what));
      const std::string command =
                            "'" + (folder / ("overhead_native_" + mpi.name)).string() + "' " + what + " ",
                        preload = "LD_PRELOAD='" + mpi.library + "'";
      std::string variable = what;
      for (char& c : variable) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      const count alone = counted(command, "-u LD_PRELOAD"),
                  named = counted(command, preload + " TUTTI_" + variable + "_ALGORITHM=native"),
                  by_tree = counted(command, preload);
      const auto more = [&](const count& with) -> nlohmann::ordered_json {
        if (alone.all < 0 || with.all < 0) return {{"more", -1}, {"tutti", -1}};
        return {{"more", std::lround(with.all - alone.all)}, {"tutti", std::lround(with.ours - alone.ours)}};
      };
      all[mpi.name][what] = {
          {"alone", std::lround(alone.all)}, {"native", more(named)}, {"tree", more(by_tree)}};
    }
  log.clear();
  return all;
}

void print_instructions(const nlohmann::ordered_json& counted) {
  fmt::print(
      "\ninstructions of calls of 8 bytes on one rank: of MPI alone, and how many more with the library in "
      "front\n"
      "{:<9} {:<12} {:>10} {:>18} {:>18} {:>18}\n",
      "", "", "alone", "native by name", "of them tutti's", "built-in trees");
  for (const auto& [mpi, each] : counted.items())
    for (const auto& [what, c] : each.items())
      fmt::print("{:<9} {:<12} {:>10} {:>18} {:>18} {:>18}\n", mpi, what, c["alone"].get<long>(),
                 c["native"]["more"].get<long>(), c["native"]["tutti"].get<long>(),
                 c["tree"]["more"].get<long>());
}

}  // namespace bench
