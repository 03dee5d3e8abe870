// SPDX-License-Identifier: Apache-2.0
#include "selectors/selector_times_file.hpp"

#include <fstream>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bench {

using json = nlohmann::ordered_json;

std::vector<selector_cell> read_selector_times(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(fmt::format("{} cannot be read", file));
  std::vector<selector_cell> all;
  try {
    const json read = json::parse(in);
    if (read.at("schema") != "tutti/selector-times/1")
      throw std::runtime_error(fmt::format("{} is no file of selector_times", file));
    for (const json& cell : read.at("cells")) {
      selector_cell c;
      c.machine = cell.at("machine");
      c.ranks = cell.at("ranks");
      c.collective = cell.at("collective");
      c.bytes = cell.at("bytes");
      for (const char* selector : {"ompi", "mpich", "mvapich2", "impi"}) {
        const auto time = cell.find(selector);
        if (time == cell.end() || !time->is_number()) {
          ++c.missing;
        } else if (c.fastest.empty() || time->get<double>() < c.seconds) {
          c.fastest = selector;
          c.seconds = *time;
        }
      }
      all.push_back(c);
    }
  } catch (const json::exception& e) {
    throw std::runtime_error(fmt::format("{}: {}", file, e.what()));
  }
  return all;
}

}  // namespace bench
