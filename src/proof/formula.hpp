// SPDX-License-Identifier: Apache-2.0
//
// The claims of an algorithm's head as formulas: 2 * n * (p - 1) / p, or <= ceil_log(k, p) + 1 for a bound.
// What they may name stands in proof/abstract_call.hpp.
//
// What C knows: numbers, names, + - * / and parentheses, comparisons, && || ! and ?:. All values are real
// numbers, `/` included; a comparison is 1 or 0. Functions: ceil, floor, min, max, log2, log(base, x), sqrt,
// pow, and ceil_log(k, x) and floor_log(k, x), which count in integers: the smallest e with k^e >= x, the
// largest with k^e <= x; 0 where x < 1.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::proof {

/// Names with values; few enough for a plain list.
class variables {
 public:
  void set(std::string_view name, double value);
  const double* find(std::string_view name) const noexcept;
  std::string names() const;  ///< "p, root, n"

 private:
  std::vector<std::pair<std::string, double>> all_;
};

/// what() shows the formula, and an arrow at the place that it complains of.
struct formula_error : std::invalid_argument {
  formula_error(std::string_view formula, std::size_t position, const std::string& problem);
  std::size_t position;
};

/// Throws formula_error.
double evaluate(std::string_view formula, const variables& given);

struct claimed {
  double value = 0;
  bool bound = false;  ///< the formula begins with <=

  /// Whether `measured` keeps the claim; rounding of the formula is forgiven.
  bool holds(double measured) const noexcept;
};
/// The same for a claim, which may be a bound.
claimed evaluate_claim(std::string_view claim, const variables& given);

}  // namespace tutti::proof
