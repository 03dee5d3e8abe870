// SPDX-License-Identifier: Apache-2.0
#include "face/settings.hpp"

#include <algorithm>
#include <cctype>

#include "core/environment.hpp"
#include "select/choose.hpp"
#include "tutti/core/error.hpp"

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
      throw usage_error("run", -1, "TUTTI_COLL_FALLBACK", "is \"" + *text + "\"",
                        "set error, warn or silent");
  }
  if (const auto text = setting("TUTTI_TRACE")) all.trace = read_trace(*text);
  return all;
}

std::array<forced_choice, collective_names.size()> read_forced() {
  std::array<forced_choice, collective_names.size()> all;
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    const auto read = [&](override_kind kind, const char* noun, std::string& into, const auto& exists) {
      const std::string name = override_variable(what, kind);
      const auto value = setting(name);
      if (!value) return;
      if (!exists(*value))
        throw usage_error("run", -1, name, std::string("there is no ") + noun + " \"" + *value + "\"",
                          "see tutti list " + std::string(collective_names[i]));
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
