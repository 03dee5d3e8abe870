// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings/settings.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "selection/choose.hpp"
#include "selection/suggestion.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

std::string override_variable(collective what, override_kind kind) {
  std::string name(name_of(what));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  static constexpr const char* ends[] = {"_ALGORITHM", "_INTER_ALGORITHM", "_COMPOSITION"};
  return "TUTTI_" + name + ends[static_cast<std::size_t>(kind)];
}

settings read_settings() {
  settings all;
  all.check = switch_setting("TUTTI_CHECK", false);
  if (const auto text = setting("TUTTI_COLL_FALLBACK")) {
    if (*text == "error" || *text == "0")
      all.when_unfit = fallback::error;
    else if (*text == "silent")
      all.when_unfit = fallback::silent;
    else if (*text != "warn" && *text != "1")
      throw usage_error("run", -1, "TUTTI_COLL_FALLBACK", "is \"" + echoed(*text) + "\"",
                        "set error, warn or silent");
  }
  if (const auto text = setting("TUTTI_TRACE")) all.trace = read_trace(*text);
  return all;
}

namespace {

std::vector<std::string_view> names_of(collective what, bool compositions) {
  std::vector<std::string_view> all;
  if (compositions) {
    all.push_back("@pure");
    for (const composed_algorithm* c : composition_catalogue())
      if (c->what == what) all.push_back(c->short_name());
  } else {
    all.push_back("native");
    for (const pure_algorithm* a : catalogue())
      if (a->what == what) all.push_back(a->short_name());
  }
  return all;
}

}  // namespace

std::array<forced_choice, collective_names.size()> read_forced() {
  std::array<forced_choice, collective_names.size()> all;
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    const auto read = [&](override_kind kind, const char* noun, std::string& into, const auto& exists) {
      const std::string name = override_variable(what, kind);
      const auto value = setting(name);
      if (!value) return;
      bool found = false;
      try {
        found = exists(*value);
        // About one of its parameters: reported under the name of the variable.
      } catch (const usage_error& e) {
        const std::string text = e.what();
        throw usage_error("run", -1, name, text.substr(text.find('"')), "");
      }
      if (!found) {
        const std::string_view short_name = std::string_view(*value).substr(0, value->find(':'));
        throw usage_error("run", -1, name, std::string("there is no ") + noun + " " + quoted(short_name),
                          suggest(short_name, names_of(what, kind == override_kind::composition)) +
                              " (tutti list " + std::string(collective_names[i]) + ")");
      }
      into = *value;
    };
    const auto is_algorithm = [&](const std::string& text) {
      return is_native(text) || read_choice(what, text).pure != nullptr;
    };
    read(override_kind::algorithm, "algorithm", all[i].algorithm, is_algorithm);
    read(override_kind::inter_algorithm, "algorithm", all[i].inter_algorithm, is_algorithm);
    read(override_kind::composition, "composition", all[i].composition, [&](const std::string& text) {
      return is_null_composition(text) || read_composition(what, text).which != nullptr;
    });
  }
  return all;
}

}  // namespace tutti::detail
