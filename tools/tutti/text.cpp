// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "runtime/settings/settings.hpp"
#include "subcommands.hpp"

namespace tutti::tool {
namespace {

class nearest_name {
 public:
  explicit nearest_name(std::string_view typed) : typed_(typed) {}
  void consider(std::string_view name) {
    if (typed_.size() > max_length || !is_near_name(name)) return;
    const std::size_t d = edit_distance(typed_, name);
    if (!best_.empty() && d >= best_distance_) return;
    best_distance_ = d;
    best_ = name;
  }
  std::string suggestion() const {
    return best_.empty() ? "tutti list shows all names" : "did you mean \"" + best_ + "\"?";
  }

 private:
  static constexpr std::size_t max_length = 100;  // all names are shorter

  // The collective and the algorithm of "allreduce/ring" must be near one by one. A long collective
  // would else make every algorithm near.
  bool is_near_name(std::string_view name) const {
    const auto near = [](std::string_view a, std::string_view b) {
      return is_near(edit_distance(a, b), a.size());
    };
    const std::size_t slash = typed_.find('/'), slash_of_name = name.find('/');
    if (slash == typed_.npos || slash_of_name == name.npos) return near(typed_, name);
    return near(typed_.substr(0, slash), name.substr(0, slash_of_name)) &&
           near(typed_.substr(slash + 1), name.substr(slash_of_name + 1));
  }

  std::string_view typed_;
  std::string best_;
  std::size_t best_distance_ = 0;
};

void consider_collectives(nearest_name& n) {
  for (const std::string_view name : collective_names) n.consider(name);
}
void consider_algorithms(nearest_name& n, std::string_view typed) {
  const bool qualified = typed.find('/') != typed.npos;
  const auto consider = [&](const catalogue_entry& e) {
    n.consider(e.name);
    if (!qualified) n.consider(e.short_name());
  };
  for (const pure_algorithm* a : catalogue()) consider(*a);
  for (const composed_algorithm* c : composition_catalogue()) consider(*c);
}

}  // namespace

std::string suggest_collective(std::string_view typed) {
  nearest_name n(typed);
  consider_collectives(n);
  return n.suggestion();
}

std::string suggest_algorithm(std::string_view typed) {
  nearest_name n(typed);
  consider_algorithms(n, typed);
  return n.suggestion();
}

std::string suggest_any(std::string_view typed) {
  nearest_name n(typed);
  consider_collectives(n);
  consider_algorithms(n, typed);
  return n.suggestion();
}

std::string with_short_values(std::string message, std::span<const std::string> arguments) {
  const auto shorten = [&](const std::string& value) {
    const std::string text = echoed(value);
    if (text == value) return;
    for (std::size_t at = 0; (at = message.find(value, at)) != message.npos; at += text.size())
      message.replace(at, value.size(), text);
  };
  for (const std::string& argument : arguments) {
    shorten(argument);
    for (std::size_t at = 0; at < argument.size();) {  // --option=value,value
      const std::size_t end = std::min(argument.find_first_of("=,", at), argument.size());
      shorten(argument.substr(at, end - at));
      at = end + 1;
    }
  }
  return message;
}

std::size_t columns_of_output() {
  constexpr std::size_t min_columns = 40;
  if (const char* text = secure_getenv("COLUMNS")) {
    const std::string_view view(text);
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), columns);
    if (error == std::errc{} && end == view.data() + view.size() && columns > 0)
      return std::max(columns, min_columns);
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0) return 0;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? std::max<std::size_t>(size.ws_col, min_columns)
             : 80;
}

namespace {

std::string setting_of(const catalogue_entry& e, override_kind kind) {
  std::string text = fmt::format("{}={}", detail::override_variable(e.what, kind), e.short_name());
  for (const algorithm_parameter_range& k : e.parameters)
    text += fmt::format("{}{}={}", &k == e.parameters.data() ? ":" : ",", name_of(k.which), k.default_value);
  return text;
}

}  // namespace

std::string setting_for(const pure_algorithm& a) {
  return setting_of(a, has_restriction(a.restrictions, restriction::inter) ? override_kind::inter_algorithm
                                                                           : override_kind::algorithm);
}
std::string setting_for(const composed_algorithm& c) { return setting_of(c, override_kind::composition); }

std::string restrictions_of(const catalogue_entry& a, std::string_view none) {
  std::string all;
  for (const restriction_name& one : restriction_names)
    if (has_restriction(a.restrictions, one.which)) all += (all.empty() ? "" : ", ") + std::string(one.name);
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

std::string wrapped_markdown(std::string_view text) {
  constexpr std::size_t columns = 100;
  std::string all, paragraph;
  bool in_code = false;
  const auto end_paragraph = [&] {
    const bool is_item = paragraph.starts_with("- ");
    if (!is_item) {
      all += wrapped(paragraph, 0, columns);
    } else {
      std::string item = wrapped(std::string_view(paragraph).substr(2), 2, columns);
      item[0] = '-';
      all += item;
    }
    paragraph.clear();
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool is_fence = line.starts_with("```");
    const bool stays = in_code || is_fence || line.empty() || line.front() == '|' || line.front() == '#';
    if (stays || line.starts_with("- ")) end_paragraph();
    if (is_fence) in_code = !in_code;
    if (stays)
      all += std::string(line) + "\n";
    else
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
  }
  end_paragraph();
  return all;
}

CLI::Validator as_size() {
  return CLI::Validator(
      [](std::string& text) {
        const auto size = read_number(text);
        if (!size) return fmt::format("{} is not a size (65536, 64K, 64KiB, 1M)", detail::quoted(text));
        text = std::to_string(*size);
        return std::string();
      },
      "SIZE", "size");
}

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t max_columns = 96;
  const std::size_t columns = columns_of_output();
  return wrapped(text, indent, columns == 0 ? max_columns : std::min(columns, max_columns));
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
