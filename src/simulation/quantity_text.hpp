// SPDX-License-Identifier: Apache-2.0
//
// Quantities of machine files: a number and a unit, as "0.5us", "100Gbit/s" or "64KiB".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::simulation {

enum class quantity_kind : unsigned char { time, bandwidth, size };

/// "a time", "a bandwidth", "a size"
std::string_view noun_of(quantity_kind) noexcept;
/// The units, with an example: "write it with ns, us, ms or s, as in \"0.5us\""
std::string_view advice_of(quantity_kind) noexcept;
/// The range of meaningful values, in seconds, bytes per second or bytes.
struct quantity_limits {
  double min, max;
  std::string_view text;
};
quantity_limits limits_of(quantity_kind) noexcept;

struct parsed_quantity {
  /// In seconds, bytes per second or bytes; nothing if the text is no number with such a unit.
  std::optional<double> value;
  bool is_number = false;  ///< it begins with a number
  std::string unit;        ///< what follows the number
};
parsed_quantity parse_quantity(std::string_view text, quantity_kind kind);

}  // namespace tutti::simulation
