// SPDX-License-Identifier: Apache-2.0
//
// Tests the formulas in the heads of algorithms: their values, and the errors for wrong formulas.
#include <cmath>

#include <gtest/gtest.h>

#include "proof/abstract_call.hpp"
#include "proof/formula.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::proof {
namespace {

variables given() {
  variables v;
  v.set("p", 7);
  v.set("n", 4096);
  v.set("k", 3);
  return v;
}
double value(std::string_view formula) { return evaluate(formula, given()); }

TEST(formula, operators_bind_as_in_c) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("7 / 2 * 2"), 7);
  EXPECT_EQ(value("-p + 10"), 3);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("1 + 1 == 2 && 3 > 2 || 0"), 1);
  EXPECT_EQ(value("1 || 0 && 0"), 1);
  EXPECT_EQ(value("!0 + !p"), 1);
  EXPECT_EQ(value("!(p == 7)"), 0);
  EXPECT_EQ(value("p != 7"), 0);
  EXPECT_EQ(value("p <= 7 ? p >= 8 ? 1 : 2 : 3"), 2);
  EXPECT_EQ(value("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(value("  2 * n * ( p - 1 ) / p "), 2.0 * 4096 * 6 / 7);
}

TEST(formula, logarithms_of_powers_are_exact) {
  for (int e = 0; e < 40; ++e) {
    variables v;
    v.set("p", std::pow(2.0, e));
    EXPECT_EQ(evaluate("log2(p)", v), e);
    EXPECT_EQ(evaluate("ceil_log(2, p)", v), e);
    EXPECT_EQ(evaluate("floor_log(2, p)", v), e);
    if (e < 2) continue;
    v.set("p", std::pow(2.0, e) - 1);
    EXPECT_EQ(evaluate("ceil_log(2, p)", v), e);
    EXPECT_EQ(evaluate("floor_log(2, p)", v), e - 1);
    v.set("p", std::pow(2.0, e) + 1);
    EXPECT_EQ(evaluate("ceil_log(2, p)", v), e + 1);
    EXPECT_EQ(evaluate("floor_log(2, p)", v), e);
  }
  EXPECT_EQ(value("ceil_log(3, 243)"), 5);
  EXPECT_EQ(value("ceil_log(3, 244)"), 6);
  EXPECT_EQ(value("floor_log(3, 242)"), 4);
  EXPECT_EQ(value("ceil_log(5, 1)"), 0);
  EXPECT_EQ(value("ceil_log(5, 0)"), 0);
}

TEST(formula, functions) {
  EXPECT_EQ(value("ceil(p / 2)"), 4);
  EXPECT_EQ(value("floor(p / 2)"), 3);
  EXPECT_EQ(value("min(p, k) + max(p, k)"), 10);
  EXPECT_EQ(value("sqrt(n)"), 64);
  EXPECT_EQ(value("pow(k, 2)"), 9);
  EXPECT_DOUBLE_EQ(value("log(10, 1000)"), 3);
}

TEST(formula, an_unselected_branch_may_be_undefined) {
  EXPECT_EQ(value("p == 7 ? 1 : ceil_log(1, p)"), 1);
  EXPECT_EQ(value("p == 7 ? 1 : 1 / 0"), 1);
}

TEST(formula, errors_point_at_their_place) {
  const auto position = [](std::string_view formula) {
    try {
      value(formula);
    } catch (const formula_error& e) {
      EXPECT_NE(std::string(e.what()).find('^'), std::string::npos);
      return static_cast<int>(e.position);
    }
    return -1;
  };
  EXPECT_EQ(position("n + q"), 4);
  EXPECT_EQ(position("n + "), 4);
  EXPECT_EQ(position("n p"), 2);
  EXPECT_EQ(position("(n"), 2);
  EXPECT_EQ(position("cosine(p)"), 0);
  EXPECT_EQ(position("min(p)"), 5);
  EXPECT_EQ(position("p ? 1"), 5);
  EXPECT_EQ(position(""), 0);
  EXPECT_EQ(position("2 log2(p)"), 2);
  EXPECT_EQ(position("n * (p - 1)"), -1);
}

TEST(claim, is_exact_or_a_bound) {
  const claimed exact = evaluate_claim("n * (p - 1) / p", given());
  EXPECT_FALSE(exact.bound);
  EXPECT_TRUE(exact.holds(4096.0 * 6 / 7));
  EXPECT_FALSE(exact.holds(3510));
  EXPECT_FALSE(exact.holds(3512));
  const claimed bound = evaluate_claim("  <= p + 1", given());
  EXPECT_TRUE(bound.bound);
  EXPECT_TRUE(bound.holds(8));
  EXPECT_TRUE(bound.holds(2));
  EXPECT_FALSE(bound.holds(9));
  EXPECT_FALSE(evaluate_claim("log2(-1)", given()).holds(0));
}

TEST(names, have_a_value_in_every_plan) {
  case_options w;
  w.what = collective::alltoallv;
  w.ranks = 4;
  w.parameter_values[static_cast<std::size_t>(algorithm_parameter::segment)] = 16;
  const variables v = variables_of(make_abstract_call(w));
  for (const formula_name& one : formula_names) EXPECT_NE(v.find(one.name), nullptr) << one.name;
  EXPECT_NE(v.find("segment"), nullptr);
  // A formula cannot name a parameter that the algorithm lacks.
  EXPECT_EQ(v.find("window"), nullptr);
}

TEST(claim, every_head_parses) {
  for (const pure_algorithm* a : catalogue()) {
    variables v;
    for (const formula_name& one : formula_names) v.set(one.name, 1);
    for (const algorithm_parameter_range& k : a->parameters) v.set(name_of(k.which), k.default_value);
    for (const std::string_view claim : {a->rounds, a->bytes, a->scratch})
      EXPECT_NO_THROW(evaluate_claim(claim, v)) << a->name << ": " << claim;
  }
}

}  // namespace
}  // namespace tutti::proof
