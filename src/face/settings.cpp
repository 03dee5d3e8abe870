// SPDX-License-Identifier: Apache-2.0
#include "face/settings.hpp"

#include <algorithm>
#include <cctype>

#include "core/environment.hpp"
#include "select/choose.hpp"
#include "tutti/core/error.hpp"

namespace tutti::detail {

std::string algorithm_variable(collective what) {
  std::string name(name_of(what));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "TUTTI_" + name + "_ALGORITHM";
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
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    const std::string name = algorithm_variable(what);
    const auto value = setting(name);
    if (!value) continue;
    const std::string_view tail =
        std::string_view(*value).substr(value->find('/') == value->npos ? 0 : value->find('/') + 1);
    if (tail != "native" && read_choice(what, *value).pure == nullptr)
      throw usage_error("run", -1, name, "there is no algorithm \"" + *value + "\"",
                        "see tutti list " + std::string(collective_names[i]));
    all.forced[i] = *value;
  }
  return all;
}

}  // namespace tutti::detail
