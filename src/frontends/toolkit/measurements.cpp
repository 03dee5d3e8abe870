// SPDX-License-Identifier: Apache-2.0
//
// Prints measurements as a table and as JSON.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>

#include <nlohmann/json.hpp>

#include "tutti/timer.hpp"

namespace tutti {
namespace {

using json_value = nlohmann::ordered_json;
using row = std::array<std::string, 6>;

std::string number(const char* form, double x) {
  char text[64];
  std::snprintf(text, sizeof text, form, x);
  return text;
}

// Seconds are printed to the microsecond, counts unchanged.
std::string formatted(const measurement& m, double x) { return number(m.is_timer ? "%.6f" : "%.10g", x); }

row row_of(const measurement& m, int ranks) {
  const std::string indent(static_cast<std::size_t>(m.depth) * 2, ' ');
  std::string rank_text = std::to_string(m.total.ranks);
  if (m.total.ranks != ranks) rank_text += " of " + std::to_string(ranks);
  const std::string max_calls = number("%.0f", m.calls.max), min_calls = number("%.0f", m.calls.min);
  return {indent + m.name + (m.is_timer ? " [s]" : ""),
          min_calls == max_calls ? max_calls : min_calls + ".." + max_calls,
          formatted(m, m.total.min),
          formatted(m, m.total.mean),
          formatted(m, m.total.max),
          rank_text};
}

json_value json_of(const measurement::spread& s) {
  return {{"min", s.min}, {"mean", s.mean}, {"max", s.max}, {"sum", s.sum}, {"ranks", s.ranks}};
}

// The measurements at `depth` from index `i` on, with all measurements inside them.
json_value json_of(const std::vector<measurement>& all, std::size_t& i, int depth) {
  json_value list = json_value::array();
  while (i < all.size() && all[i].depth == depth) {
    const measurement& m = all[i++];
    json_value one = {{"name", m.name},
                      {"kind", m.is_timer ? "timer" : "counter"},
                      {"calls", json_of(m.calls)},
                      {"total", json_of(m.total)}};
    for (const measurement::spread& s : m.each) one["each"].push_back(json_of(s));
    for (const double x : m.total_of) one["total_of"].push_back(std::isnan(x) ? json_value() : json_value(x));
    if (i < all.size() && all[i].depth > depth) one["inside"] = json_of(all, i, depth + 1);
    list.push_back(std::move(one));
  }
  return list;
}

// Adds the value of each rank, as many on a line as fit.
void add_ranks(std::string& text, const measurement& m, std::size_t indent) {
  std::string line(indent, ' ');
  for (std::size_t r = 0; r < m.total_of.size(); ++r) {
    const std::string one =
        "  " + std::to_string(r) + ": " + (std::isnan(m.total_of[r]) ? "-" : formatted(m, m.total_of[r]));
    if (line.size() + one.size() > 100 && line.size() > indent) {
      text += line + "\n";
      line.assign(indent, ' ');
    }
    line += one;
  }
  if (line.size() > indent) text += line + "\n";
}

}  // namespace

const measurement* measurements::find(std::initializer_list<std::string_view> path) const noexcept {
  const int last = static_cast<int>(path.size()) - 1;
  for (const bool is_timer : {true, false}) {
    int matched = 0;  // length of the path matched so far
    for (const measurement& m : all_) {
      matched = std::min(matched, m.depth);
      if (m.depth != matched || m.depth > last || path.begin()[matched] != m.name) continue;
      if (m.depth == last && m.is_timer == is_timer) return &m;
      if (m.depth < last && m.is_timer) ++matched;
    }
  }
  return nullptr;
}

std::string measurements::text() const {
  std::vector<row> rows{{"", "calls", "min", "mean", "max", "ranks"}};
  for (const measurement& m : all_) rows.push_back(row_of(m, ranks_));
  std::array<std::size_t, 6> width{};
  for (const row& r : rows)
    for (std::size_t c = 0; c < r.size(); ++c) width[c] = std::max(width[c], r[c].size());
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = rows[i][0] + std::string(width[0] - rows[i][0].size(), ' ');
    for (std::size_t c = 1; c < rows[i].size(); ++c)
      line += "  " + std::string(width[c] - rows[i][c].size(), ' ') + rows[i][c];
    text += line + "\n";
    if (i > 0) add_ranks(text, all_[i - 1], static_cast<std::size_t>(all_[i - 1].depth) * 2 + 2);
  }
  return text;
}

std::string measurements::json(int indent) const {
  std::size_t i = 0;
  json_value all = {{"ranks", ranks_}, {"measurements", json_of(all_, i, 0)}};
  // Names may contain any bytes.
  return all.dump(indent, ' ', false, json_value::error_handler_t::replace);
}

void measurements::print(std::ostream& to) const { to << text(); }

}  // namespace tutti
