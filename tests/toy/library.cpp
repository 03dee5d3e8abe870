// SPDX-License-Identifier: Apache-2.0
//
// Tests that the library knows the algorithm and the composition of this folder. They are in the
// catalogues, in the proof and in the matrix of tests, and calls can name them.
#include <cstdlib>

#include <gtest/gtest.h>

#include <tutti/tutti.hpp>

#include "engines/engine_table.hpp"
#include "proof/composed_cases.hpp"
#include "proof/prove.hpp"
#include "selection/choose.hpp"
#include "support/algorithm_cases.hpp"
#include "tuning/candidates.hpp"

namespace tutti::detail {
namespace {

const pure_algorithm& toy_algorithm() {
  const pure_algorithm* a = find_algorithm(collective::allreduce, "everybody");
  if (a == nullptr) throw std::logic_error("the catalogue has no allreduce/everybody");
  return *a;
}
const composed_algorithm& toy_composition() {
  const composed_algorithm* c = find_composition(collective::scan, "own_last");
  if (c == nullptr) throw std::logic_error("the catalogue has no scan/own_last");
  return *c;
}

TEST(catalogue, has_what_the_head_of_an_algorithm_says) {
  const pure_algorithm& a = toy_algorithm();
  EXPECT_EQ(a.name, "allreduce/everybody");
  EXPECT_EQ(a.restrictions, restriction::commutative | restriction::not_in_place);
  ASSERT_EQ(a.parameters.size(), 1u);
  EXPECT_EQ(a.parameters[0].which, algorithm_parameter::window);
  EXPECT_EQ(a.parameters[0].default_value, 4u);
  EXPECT_EQ(a.parameters[0].max, 64u);
  EXPECT_EQ(a.bytes, "n * (p - 1)");
  EXPECT_EQ(a.good_for, "tests");
}

TEST(catalogue, has_what_the_head_of_a_composition_says) {
  const composed_algorithm& c = toy_composition();
  EXPECT_EQ(c.name, "scan/own_last");
  EXPECT_EQ(c.restrictions, restriction::not_in_place);
  ASSERT_EQ(c.parameters.size(), 1u);
  EXPECT_EQ(c.parameters[0].which, algorithm_parameter::segment);
  EXPECT_EQ(c.calls, "exscan on the same ranks, a segment each");
}

TEST(catalogue, has_the_algorithms_of_the_library_too) {
  EXPECT_NE(find_algorithm(collective::allreduce, "ring"), nullptr);
  EXPECT_NE(find_composition(collective::allreduce, "node_leader"), nullptr);
}

void expect_proved(const proof::proof_result& all) {
  for (const proof::finding& f : all.findings) ADD_FAILURE() << f.call << ": " << f.what.what;
  EXPECT_GT(all.calls, 0u);
}

TEST(proof, takes_an_algorithm_and_its_claims) {
  proof::abstract_machine machine;
  proof::proof_result all;
  for (int p = 1; p <= 12; ++p) all += proof::prove(toy_algorithm(), p, machine);
  expect_proved(all);
  EXPECT_EQ(all.max_rounds, 11);
}

TEST(proof, reports_which_claim_is_wrong) {
  proof::abstract_machine machine;
  const auto text = [&](std::string_view bytes) {
    pure_algorithm wrong = toy_algorithm();
    wrong.bytes = bytes;
    const proof::proof_result all = proof::prove(wrong, 5, machine);
    return all.findings.empty() ? "" : all.findings[0].what.what;
  };
  EXPECT_NE(text("n * p").find("Bytes: n * p is "), std::string::npos) << text("n * p");
  EXPECT_NE(text("n * q").find("\"q\" is unknown; known are p, root, n"), std::string::npos) << text("n * q");
  EXPECT_NE(text("n * segment").find("\"segment\" is unknown"), std::string::npos) << text("n * segment");
}

TEST(proof, takes_a_composition) {
  proof::proof_result all;
  for (int p = 1; p <= 7; ++p) all += proof::prove(toy_composition(), p);
  expect_proved(all);
}

void program(endpoint& ep) {
  tests::run_with_world(ep, [](detail::communicator_impl& communicator_impl, tests::cases& all) {
    tests::try_algorithm(communicator_impl, all, toy_algorithm());
    tests::try_composition(communicator_impl, all, toy_composition());
  });
}

launch with(int ranks) {
  launch how;
  how.ranks = ranks;
  how.workers = 2;
  return how;
}

TEST(matrix, runs_both_on_threads) {
  for (const int p : {1, 2, 5}) {
    const outcome end = find_engine("threads")->run(with(p), program);
    EXPECT_EQ(end.failed_rank, -1) << p << " ranks: " << end.text;
  }
}

TEST(matrix, runs_both_on_fibers) {
  for (const int p : {1, 2, 5, 8}) {
    const outcome end = find_engine("fibers")->run(with(p), program);
    EXPECT_EQ(end.failed_rank, -1) << p << " ranks: " << end.text;
  }
}

TEST(tuning, measures_both_and_their_parameters) {
  selection_context s;
  s.call.what = collective::allreduce;
  s.call.ranks = 16;
  s.call.count = 1024;
  s.call.element_size = 8;
  s.call.commutative = true;
  const auto has = [](const std::vector<tuning::candidate>& all, std::string_view name) {
    return std::any_of(all.begin(), all.end(), [&](const tuning::candidate& c) { return c.name == name; });
  };
  const auto pure = tuning::pure_candidates(s, s.call.count, true, {});
  EXPECT_TRUE(has(pure, "everybody") && has(pure, "everybody:window=1"));
  s.call.what = collective::scan;
  const auto composed = tuning::composed_candidates(s, s.call.count, true);
  EXPECT_TRUE(has(composed, "own_last") && has(composed, "own_last:segment=4096"));
}

TEST(call, runs_what_it_names) {
  run_options how;
  how.engine = "threads";
  how.ranks = 3;
  run(how, [](communicator& world) {
    const auto expect = [&](bool ok, const std::string& what) {
      if (!ok) throw std::runtime_error(what);
    };
    const std::vector<int> mine{world.rank(), 1};
    expect(world.allreduce(send_buf(mine), op(ops::plus<>{}), algorithm("everybody:window=2")) ==
               std::vector<int>{3, 3},
           "the algorithm's result");
    expect(std::string(world.last_algorithm(collective::allreduce)) == "allreduce/everybody", "its name");
    expect(world.scan(send_buf(mine), op(ops::plus<>{}), composition("own_last:segment=4")) ==
               std::vector<int>{world.rank() * (world.rank() + 1) / 2, world.rank() + 1},
           "the composition's result");
  });
}

TEST(call, runs_what_a_variable_names_on_fibers) {
  setenv("TUTTI_ALLREDUCE_ALGORITHM", "everybody:window=1", 1);
  run_options how;
  how.engine = "fibers";
  how.ranks = 4;
  std::string ran;
  run(how, [&](communicator& world) {
    const std::vector<int> mine{world.rank()};
    const auto sum = world.allreduce(send_buf(mine), op(ops::plus<>{}));
    if (sum != std::vector<int>{6}) throw std::runtime_error("a wrong sum");
    if (world.rank() == 0) ran = world.last_algorithm(collective::allreduce);
  });
  unsetenv("TUTTI_ALLREDUCE_ALGORITHM");
  EXPECT_EQ(ran, "allreduce/everybody");
}

}  // namespace
}  // namespace tutti::detail
