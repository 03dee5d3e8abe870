// SPDX-License-Identifier: Apache-2.0
#include "every_algorithm/record.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "figures.hpp"

namespace bench {
namespace {

// Orders the native collective first, and "chain:segment=4096" after "chain" and before
// "chain:segment=16384".
bool before(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    return std::tuple(without_collective(name) != "native", name.substr(0, name.find(':')), name.size(),
                      name);
  };
  return key(a) < key(b);
}

bool is_native(const record& r) { return without_collective(r.algorithm) == "native"; }

template <class Value>
void add_once(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// The records in the order of arrival, with their rows and columns.
class collected {
 public:
  explicit collected(const std::vector<record>& all) : all_(all) {
    for (const record& r : all) {
      add_once(columns, column_of(r));
      add_once(collectives, r.collective);
    }
  }

  static std::string column_of(const record& r) { return fmt::format("{} p={}", r.engine, r.ranks); }

  std::vector<std::size_t> sizes(const std::string& collective) const {
    std::vector<std::size_t> found;
    for (const record& r : all_)
      if (r.collective == collective) add_once(found, r.bytes);
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<const record*> of(const std::string& collective, std::size_t bytes) const {
    std::vector<const record*> found;
    for (const record& r : all_)
      if (r.collective == collective && r.bytes == bytes) found.push_back(&r);
    return found;
  }

  std::vector<std::string> columns, collectives;

 private:
  const std::vector<record>& all_;
};

const record* fastest(const std::vector<const record*>& some, const std::string& column) {
  const record* best = nullptr;
  for (const record* r : some)
    if (collected::column_of(*r) == column && r->error.empty() && (best == nullptr || r->us < best->us))
      best = r;
  return best;
}

const record* native(const std::vector<const record*>& some, const std::string& column) {
  for (const record* r : some)
    if (collected::column_of(*r) == column && r->error.empty() && is_native(*r)) return r;
  return nullptr;
}

}  // namespace

std::string_view without_collective(std::string_view algorithm) {
  return algorithm.substr(algorithm.find('/') + 1);
}

void to_json(nlohmann::ordered_json& to, const record& r) {
  to = {{"engine", r.engine}, {"ranks", r.ranks},         {"collective", r.collective},
        {"bytes", r.bytes},   {"algorithm", r.algorithm}, {"us", r.us},
        {"noise", r.noise}};
  if (!r.error.empty()) to["error"] = r.error;
}

void from_json(const nlohmann::ordered_json& from, record& r) {
  r = {from.at("engine").get<std::string>(),     from.at("ranks").get<int>(),
       from.at("collective").get<std::string>(), from.at("bytes").get<std::size_t>(),
       from.at("algorithm").get<std::string>(),  from.at("us").get<double>(),
       from.at("noise").get<double>(),           from.value("error", std::string())};
}

void print_tables(const std::vector<record>& all) {
  const collected by(all);
  for (const std::string& collective : by.collectives) {
    for (const std::size_t bytes : by.sizes(collective)) {
      const auto some = by.of(collective, bytes);
      std::vector<std::string> names;
      for (const record* r : some) add_once(names, r->algorithm);
      std::sort(names.begin(), names.end(), before);
      const std::string title = bytes == 0 ? collective : fmt::format("{}, {}", collective, size_name(bytes));
      fmt::print("{:<36}", title);
      for (const std::string& column : by.columns) fmt::print(" {:>18}", column);
      fmt::print("\n");
      for (const std::string& name : names) {
        std::string row = fmt::format("  {:<34}", without_collective(name));
        for (const std::string& column : by.columns) {
          const auto found = std::find_if(some.begin(), some.end(), [&](const record* r) {
            return r->algorithm == name && collected::column_of(*r) == column;
          });
          std::string cell;
          if (found != some.end() && !(*found)->error.empty()) {
            cell = (*found)->error + "  ";
          } else if (found != some.end()) {
            const record* base = native(some, column);
            cell = fmt::format(
                "{:>8} {:>7}{} ", number((*found)->us),
                base == nullptr || is_native(**found) ? "" : number((*found)->us / base->us) + "x",
                fastest(some, column) == *found ? '*' : ' ');
          }
          row += fmt::format(" {:>18}", cell);
        }
        row.erase(row.find_last_not_of(' ') + 1);
        fmt::print("{}\n", row);
      }
      fmt::print("\n");
    }
  }
}

void print_best(const std::vector<record>& all) {
  const collected by(all);
  constexpr double noise_factor = 1.03;
  std::vector<std::vector<std::string>> rows{{""}};
  for (const std::string& column : by.columns) rows[0].push_back(column);
  for (const std::string& collective : by.collectives) {
    for (const std::size_t bytes : by.sizes(collective)) {
      const auto some = by.of(collective, bytes);
      if (std::all_of(some.begin(), some.end(),
                      [&](const record* r) { return r->algorithm == some[0]->algorithm; }))
        continue;  // there is no alternative
      std::vector<std::string> row{
          fmt::format("{:<21} {:>8}", collective, bytes == 0 ? "" : size_name(bytes))};
      for (const std::string& column : by.columns) {
        const record* best = fastest(some, column);
        const record* base = native(some, column);
        if (best == nullptr) {
          row.emplace_back("-");
          continue;
        }
        const auto equally_fast = std::count_if(some.begin(), some.end(), [&](const record* r) {
          return collected::column_of(*r) == column && r->error.empty() && r->us <= noise_factor * best->us;
        });
        if (base != nullptr && base->us <= noise_factor * best->us) best = base;
        row.push_back(fmt::format("{:>5} {}{}",
                                  base == nullptr || best == base ? "" : number(best->us / base->us),
                                  without_collective(best->algorithm),
                                  equally_fast > 1 ? fmt::format(" +{}", equally_fast - 1) : ""));
      }
      rows.push_back(std::move(row));
    }
  }
  std::vector<std::size_t> width(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  for (const auto& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) text += fmt::format("{:<{}}", row[i], width[i] + 2);
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  }
}

}  // namespace bench
