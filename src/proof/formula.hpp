// SPDX-License-Identifier: Apache-2.0
//
// Evaluates the claims of an algorithm's head: formulas such as 2 * n * (p - 1) / p, or <=
// ceil_log(k, p) + 1 for a bound. proof/abstract_call.hpp lists the names that they may use.
//
// The syntax is that of C: numbers, names, + - * / and parentheses, comparisons, && || ! and ?:.
// All values are real numbers, also those of `/`; a comparison is 1 or 0. The functions are ceil,
// floor, min, max, log2, log(base, x), sqrt, pow, ceil_log(k, x) and floor_log(k, x). The last two
// count in integers. ceil_log is the smallest e >= 0 with k^e >= x. floor_log is the largest e >= 0
// with k^e <= x, or 0 if x < 1.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::proof {

/// Names with values; a list is sufficient for so few.
class variables {
 public:
  void set(std::string_view name, double value);
  const double* find(std::string_view name) const noexcept;
  std::string names() const;  ///< "p, root, n"

 private:
  std::vector<std::pair<std::string, double>> all_;
};

/// what() contains the formula and an arrow at the position of the problem.
struct formula_error : std::invalid_argument {
  formula_error(std::string_view formula, std::size_t position, const std::string& problem);
  std::size_t position;
};

/// Throws formula_error.
double evaluate(std::string_view formula, const variables& given);

struct claimed {
  double value = 0;
  bool bound = false;  ///< the formula begins with <=

  /// Returns whether `measured` satisfies the claim, with a tolerance for rounding.
  bool holds(double measured) const noexcept;
};
/// The same as evaluate() for a claim, which may be a bound.
claimed evaluate_claim(std::string_view claim, const variables& given);

/// Whole numbers have no decimal point.
std::string number_text(double x);

}  // namespace tutti::proof
