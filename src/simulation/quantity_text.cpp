// SPDX-License-Identifier: Apache-2.0
#include "simulation/quantity_text.hpp"

#include <charconv>
#include <cmath>
#include <span>

namespace tutti::simulation {
namespace {

struct unit {
  std::string_view name;
  double factor;
};
constexpr unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr unit sizes[] = {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
constexpr unit bandwidths[] = {{"B/s", 1},       {"kB/s", 1e3},   {"MB/s", 1e6},      {"GB/s", 1e9},
                               {"TB/s", 1e12},   {"KiB/s", 1024}, {"MiB/s", 1048576}, {"GiB/s", 1073741824},
                               {"bit/s", 0.125}, {"kbit/s", 125}, {"Mbit/s", 125e3},  {"Gbit/s", 125e6},
                               {"Tbit/s", 125e9}};

std::span<const unit> units_of(quantity_kind kind) {
  switch (kind) {
    case quantity_kind::time:
      return times;
    case quantity_kind::bandwidth:
      return bandwidths;
    case quantity_kind::size:
      return sizes;
  }
  return {};
}

}  // namespace

std::string_view noun_of(quantity_kind kind) noexcept {
  return kind == quantity_kind::time ? "a time" : kind == quantity_kind::bandwidth ? "a bandwidth" : "a size";
}

std::string_view advice_of(quantity_kind kind) noexcept {
  switch (kind) {
    case quantity_kind::time:
      return "write it with ns, us, ms or s, as in \"0.5us\"";
    case quantity_kind::bandwidth:
      return "write it with B/s, kB/s, MB/s, GB/s, MiB/s, GiB/s, Mbit/s or Gbit/s, as in \"12.5GB/s\"";
    case quantity_kind::size:
      return "write it with B, KiB, MiB or GiB, as in \"64KiB\"";
  }
  return "";
}

quantity_limits limits_of(quantity_kind kind) noexcept {
  switch (kind) {
    case quantity_kind::time:
      return {0, 10, "0s to 10s"};
    case quantity_kind::bandwidth:
      return {1e3, 1e15, "1kB/s to 1000TB/s"};
    case quantity_kind::size:
      return {0, 1099511627776.0, "0B to 1024GiB"};
  }
  return {0, 0, ""};
}

parsed_quantity parse_quantity(std::string_view text, quantity_kind kind) {
  parsed_quantity p;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument) return p;
  p.is_number = true;
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  p.unit = rest;
  if (error == std::errc::result_out_of_range) number = HUGE_VAL;
  if (std::isnan(number)) p.is_number = false;
  if (!p.is_number) return p;
  for (const unit& u : units_of(kind))
    if (u.name == rest) p.value = number * u.factor;
  return p;
}

}  // namespace tutti::simulation
