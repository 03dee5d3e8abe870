// SPDX-License-Identifier: Apache-2.0
//
// Tests that every public header and every page has an example, and that every example compiles and
// runs. Its assertions must hold, and no rank may throw. The environment selects the engine and the
// number of ranks.
#include "headers/examples.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace {

TEST(examples, each_has_one) {
  ASSERT_FALSE(sources.empty());
  for (const std::string& source : sources)
    EXPECT_TRUE(
        std::any_of(examples.begin(), examples.end(), [&](const example& e) { return e.source == source; }))
        << source << " shows nobody how it is used: add an example";
}

class one : public testing::TestWithParam<example> {};

TEST_P(one, example_runs) {
  const example& e = GetParam();
  if (e.program != nullptr) {
    char name[] = "example", *argv[] = {name, nullptr};
    EXPECT_EQ(e.program(1, argv), 0) << e.source << ":" << e.line;
  } else {
    EXPECT_NO_THROW(tutti::run(tutti::run_options{}, e.on_each_rank)) << e.source << ":" << e.line;
  }
}

std::vector<example> those_that_run_here() {
  std::vector<example> some;
  for (const example& e : examples)
    if (e.program != nullptr || e.on_each_rank != nullptr) some.push_back(e);
  return some;
}

// tutti/layout.hpp, line 12: tutti_layout_12
std::string name_of(const testing::TestParamInfo<example>& info) {
  std::string name = info.param.source.substr(0, info.param.source.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name + "_" + std::to_string(info.param.line);
}

INSTANTIATE_TEST_SUITE_P(examples, one, testing::ValuesIn(those_that_run_here()), name_of);

}  // namespace
