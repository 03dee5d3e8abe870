// SPDX-License-Identifier: Apache-2.0
#include "machine_argument.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/regular_file.hpp"
#include "selection/suggestion.hpp"
#include "simulation/read_machine.hpp"
#include "subcommands.hpp"

namespace tutti::tool {

using namespace tutti::detail;

machine_argument read_machine_argument(const std::string& name) {
  const std::string_view known = simulation::builtin_machine(name);
  std::string text(known);
  if (known.empty()) {
    constexpr std::size_t max_bytes = std::size_t{2} << 20;
    file_text read = read_regular_file(name, max_bytes);
    if (!read.problem.empty()) {
      struct stat about {};
      const bool path = name.find_first_of("/.") != name.npos || ::stat(name.c_str(), &about) == 0;
      throw called_wrongly{path ? read.problem
                                : fmt::format("there is no machine {}, and no such file; {}",
                                              detail::quoted(name),
                                              suggest(name, simulation::builtin_machine_names()))};
    }
    text = std::move(read.text);
  }
  simulation::machine_result r =
      simulation::read_machine(text, known.empty() ? name : "machines/" + name + ".json");
  if (!r.good()) throw called_wrongly{r.faults.front().text()};
  return {std::move(r.made), std::move(text)};
}

std::string machine_list() {
  std::string text;
  for (const std::string_view name : simulation::builtin_machine_names())
    text += fmt::format("  {:<19}{}\n", name,
                        simulation::read_machine(simulation::builtin_machine(name), name).made.about);
  return text;
}

}  // namespace tutti::tool
