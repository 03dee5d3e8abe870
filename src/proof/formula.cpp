// SPDX-License-Identifier: Apache-2.0
#include "proof/formula.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tutti::proof {

void variables::set(std::string_view name, double value) {
  for (auto& [key, entry_value] : all_)
    if (key == name) {
      entry_value = value;
      return;
    }
  all_.emplace_back(name, value);
}

const double* variables::find(std::string_view name) const noexcept {
  for (const auto& [key, entry_value] : all_)
    if (key == name) return &entry_value;
  return nullptr;
}

std::string variables::names() const {
  std::string all;
  for (const auto& [key, entry_value] : all_) all += (all.empty() ? "" : ", ") + key;
  return all;
}

formula_error::formula_error(std::string_view formula, std::size_t at, const std::string& problem)
    : std::invalid_argument(problem + "\n  " + std::string(formula) + "\n  " + std::string(at, ' ') + "^"),
      position(at) {}

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// The largest e with k^e <= x or, upwards, the smallest e with k^e >= x, by repeated
// multiplication.
double integer_log(double k, double x, bool upwards) {
  if (!(k >= 2) || !std::isfinite(x)) return undefined;
  double e = 0, power = 1;
  while (upwards ? power < x : power * k <= x) {
    power *= k;
    ++e;
  }
  return e;
}

struct function {
  std::string_view name;
  int arguments;
  double (*value)(double, double);
};
constexpr std::array<function, 10> functions = {{
    {"ceil", 1, [](double x, double) { return std::ceil(x); }},
    {"floor", 1, [](double x, double) { return std::floor(x); }},
    {"min", 2, [](double x, double y) { return std::min(x, y); }},
    {"max", 2, [](double x, double y) { return std::max(x, y); }},
    {"log2", 1, [](double x, double) { return std::log2(x); }},
    {"log", 2, [](double base, double x) { return std::log(x) / std::log(base); }},
    {"ceil_log", 2, [](double k, double x) { return integer_log(k, x, true); }},
    {"floor_log", 2, [](double k, double x) { return integer_log(k, x, false); }},
    {"sqrt", 1, [](double x, double) { return std::sqrt(x); }},
    {"pow", 2, [](double x, double y) { return std::pow(x, y); }},
}};

// Recursive descent, one function for each precedence level. `?:` evaluates both branches, because
// no operand has side effects.
class parser {
 public:
  parser(std::string_view text, std::size_t from, const variables& given)
      : text_(text), at_(from), given_(given) {}

  double parse() {
    const double value = conditional();
    if (at_ != text_.size()) fail("this is not part of the formula");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw formula_error(text_, at_, problem); }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool accept(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("a \"" + std::string(token) + "\" is missing");
  }

  double conditional() {
    const double condition = disjunction();
    if (!accept("?")) return condition;
    const double yes = conditional();
    expect(":");
    const double no = conditional();
    return condition != 0 ? yes : no;
  }
  double disjunction() {
    double value = conjunction();
    while (accept("||")) {
      const double right = conjunction();
      value = value != 0 || right != 0;
    }
    return value;
  }
  double conjunction() {
    double value = comparison();
    while (accept("&&")) {
      const double right = comparison();
      value = value != 0 && right != 0;
    }
    return value;
  }
  double comparison() {
    const double left = sum();
    if (accept("==")) return left == sum();
    if (accept("!=")) return left != sum();
    if (accept("<=")) return left <= sum();
    if (accept(">=")) return left >= sum();
    if (accept("<")) return left < sum();
    if (accept(">")) return left > sum();
    return left;
  }
  double sum() {
    double value = product();
    for (;;) {
      if (accept("+"))
        value += product();
      else if (accept("-"))
        value -= product();
      else
        return value;
    }
  }
  double product() {
    double value = sign();
    for (;;) {
      if (accept("*"))
        value *= sign();
      else if (accept("/"))
        value /= sign();
      else
        return value;
    }
  }
  double sign() {
    if (accept("-")) return -sign();
    skip();
    if (text_.substr(at_).starts_with("!") && !text_.substr(at_).starts_with("!=")) {
      accept("!");
      return sign() == 0;
    }
    return operand();
  }
  double operand() {
    if (accept("(")) {
      const double value = conditional();
      expect(")");
      return value;
    }
    skip();
    if (at_ == text_.size()) fail("the formula ends too early");
    const char c = text_[at_];
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if (is_letter(c)) return name();
    fail("a number or a name is missing");
  }
  double number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail("this is not a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    skip();
    return value;
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  double name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9'))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (accept("(")) return call(word, begin);
    if (const double* value = given_.find(word)) {
      skip();
      return *value;
    }
    at_ = begin;
    fail("\"" + std::string(word) + "\" is unknown; known are " + given_.names());
  }
  double call(std::string_view word, std::size_t begin) {
    const auto f = std::find_if(functions.begin(), functions.end(), [&](auto& g) { return g.name == word; });
    if (f == functions.end()) {
      at_ = begin;
      fail("there is no function \"" + std::string(word) + "\"");
    }
    double arguments[2] = {};
    for (int i = 0; i < f->arguments; ++i) {
      if (i > 0) expect(",");
      arguments[i] = conditional();
    }
    expect(")");
    return f->value(arguments[0], arguments[1]);
  }

  std::string_view text_;
  std::size_t at_;
  const variables& given_;
};

}  // namespace

double evaluate(std::string_view formula, const variables& given) {
  return parser(formula, 0, given).parse();
}

std::string number_text(double x) {
  if (std::isfinite(x) && x == std::floor(x) && std::abs(x) < 1e15)
    return std::to_string(static_cast<long long>(x));
  return std::to_string(x);
}

claimed evaluate_claim(std::string_view claim, const variables& given) {
  const std::size_t begin = std::min(claim.find_first_not_of(" \t"), claim.size());
  const bool bound = claim.substr(begin).starts_with("<=");
  return {parser(claim, bound ? begin + 2 : begin, given).parse(), bound};
}

bool claimed::holds(double measured) const noexcept {
  const double slack = 1e-9 * std::max(1.0, std::abs(value));
  return bound ? measured <= value + slack : std::abs(measured - value) <= slack;
}

}  // namespace tutti::proof
