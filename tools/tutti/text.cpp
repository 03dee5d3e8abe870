// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "settings/settings.hpp"

namespace tutti::tool {
namespace {

class nearest {
 public:
  explicit nearest(std::string_view typed) : typed_(typed) {}
  void consider(std::string_view name) {
    const std::size_t d = edit_distance(typed_, name);
    if (!best_.empty() && d >= least_) return;
    least_ = d;
    best_ = name;
  }
  const std::string& name() const noexcept { return best_; }

 private:
  std::string_view typed_;
  std::string best_;
  std::size_t least_ = 0;
};

}  // namespace

std::string nearest_collective(std::string_view typed) {
  nearest n(typed);
  for (const std::string_view name : collective_names) n.consider(name);
  return n.name();
}

std::string nearest_algorithm(std::string_view typed) {
  nearest n(typed);
  const bool whole = typed.find('/') != typed.npos;
  const auto consider = [&](const catalogue_entry& e) {
    n.consider(e.name);
    if (!whole) n.consider(e.short_name());
  };
  for (const pure_algorithm* a : catalogue()) consider(*a);
  for (const composed_algorithm* c : composition_catalogue()) consider(*c);
  return n.name();
}

namespace {

std::string setting_of(const catalogue_entry& e, override_kind kind) {
  std::string text = fmt::format("{}={}", detail::override_variable(e.what, kind), e.short_name());
  for (const knob_range& k : e.parameters)
    text += fmt::format("{}{}={}", &k == e.parameters.data() ? ":" : ",", name_of(k.which), k.usual);
  return text;
}

}  // namespace

std::string setting_for(const pure_algorithm& a) {
  return setting_of(
      a, demands(a.needs, restriction::inter) ? override_kind::inter_algorithm : override_kind::algorithm);
}
std::string setting_for(const composed_algorithm& c) { return setting_of(c, override_kind::composition); }

std::string restrictions_of(const catalogue_entry& a, std::string_view none) {
  std::string all;
  for (const restriction_name& one : restriction_names)
    if (demands(a.needs, one.which)) all += (all.empty() ? "" : ", ") + std::string(one.name);
  return all.empty() ? std::string(none) : all;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  const std::string margin(indent, ' ');
  std::string all, line = margin;
  const auto end_line = [&] {
    all += line + "\n";
    line = margin;
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    if (line.size() > indent && line.size() + 1 + word.size() > width) end_line();
    if (line.size() > indent) line += ' ';
    line += word;
  }
  if (line.size() > indent) end_line();
  return all;
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) switch (c) {
      case '&':
        all += "&amp;";
        break;
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '"':
        all += "&quot;";
        break;
      default:
        all += c;
    }
  return all;
}

std::string number(double x) {
  if (std::isfinite(x) && x == std::floor(x) && std::abs(x) < 1e15)
    return std::to_string(static_cast<long long>(x));
  return fmt::format("{:.6g}", x);
}

}  // namespace tutti::tool
