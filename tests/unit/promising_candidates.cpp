// SPDX-License-Identifier: Apache-2.0
//
// Which candidates of a call are simulated after the same call with fewer ranks.
#include "tuning/promising_candidates.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "selection/choose.hpp"

namespace tutti::tuning {
namespace {

using detail::leaf;

leaf use_of(const std::string& name) {
  leaf made;
  made.what = leaf::kind::algorithm;
  made.chosen = detail::read_choice(collective::alltoall, name);
  EXPECT_NE(made.chosen.pure, nullptr) << name;
  return made;
}
candidate candidate_of(const std::string& name) {
  candidate made;
  made.use = use_of(name);
  made.name = name;
  return made;
}
std::vector<candidate> candidates_of(const std::vector<std::string>& names) {
  std::vector<candidate> all;
  for (const std::string& name : names) all.push_back(candidate_of(name));
  return all;
}
std::string kept(const std::vector<std::string>& names, const std::string& current,
                 const std::vector<call_with_fewer_ranks>& fewer) {
  std::vector<candidate> all = candidates_of(names);
  keep_promising(all, use_of(current), fewer);
  std::string text;
  for (const candidate& one : all) text += (text.empty() ? "" : " ") + one.name;
  return text;
}

const std::vector<std::string> three = {"pairwise", "scattered:window=4", "bruck"};

TEST(promising_candidates, were_at_most_twice_as_slow_as_the_best) {
  const call_with_fewer_ranks one{
      {{use_of("pairwise"), 10, 0}, {use_of("scattered:window=4"), 20.5, 0}, {use_of("bruck"), 19.5, 0}},
      candidates_of(three)};
  EXPECT_EQ(kept(three, "pairwise", {one}), "pairwise bruck");
  EXPECT_EQ(kept(three, "scattered:window=4", {one}), "pairwise scattered:window=4 bruck");
}

// The trees choose for these machines together, so they need the times of a candidate on all.
TEST(promising_candidates, of_one_machine_are_simulated_on_all) {
  const call_with_fewer_ranks first{{{use_of("pairwise"), 10, 0}, {use_of("bruck"), 30, 0}},
                                    candidates_of(three)};
  const call_with_fewer_ranks second{{{use_of("pairwise"), 30, 0}, {use_of("bruck"), 10, 0}},
                                     candidates_of(three)};
  EXPECT_EQ(kept(three, "pairwise", {first}), "pairwise");
  EXPECT_EQ(kept(three, "pairwise", {first, second}), "pairwise bruck");
  EXPECT_EQ(kept(three, "bruck", {second, first}), "pairwise bruck");
}

TEST(promising_candidates, are_all_if_nothing_is_known) {
  EXPECT_EQ(kept(three, "bruck", {}), "pairwise scattered:window=4 bruck");
  const call_with_fewer_ranks unknown{{}, candidates_of(three)};
  EXPECT_EQ(kept(three, "bruck", {unknown}), "pairwise scattered:window=4 bruck");
  const call_with_fewer_ranks known{{{use_of("pairwise"), 10, 0}}, candidates_of(three)};
  EXPECT_EQ(kept(three, "bruck", {unknown, known}), "pairwise bruck");
}

TEST(promising_candidates, with_a_parameter_that_was_no_candidate_are_like_others_of_the_algorithm) {
  const call_with_fewer_ranks one{{{use_of("pairwise"), 10, 0}, {use_of("scattered:window=4"), 12, 0}},
                                  candidates_of(three)};
  EXPECT_EQ(kept({"pairwise", "scattered:window=64", "bruck"}, "pairwise", {one}),
            "pairwise scattered:window=64");
}

}  // namespace
}  // namespace tutti::tuning
