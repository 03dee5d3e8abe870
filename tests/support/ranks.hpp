// SPDX-License-Identifier: Apache-2.0
//
// Jobs within a GoogleTest program: their parameters and their results.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "transport/endpoint.hpp"
#include "tutti/run.hpp"

namespace tests {

/// An embedded engine, its ranks, and the threads that carry fibers (0: the engine decides).
struct job {
  std::string engine;
  int ranks = 1;
  int workers = 0;
  std::uint64_t seed = 0;

  tutti::run_options options() const;
  tutti::detail::launch launch() const;
  std::string name() const;  // "fibers_5_on_2", for the name of a test
};

/// The format in messages of GoogleTest.
inline void PrintTo(const job& j, std::ostream* out) { *out << j.name(); }

/// Runs the job. True if no rank failed; otherwise the message names the rank and the reason.
testing::AssertionResult passes(const job& j, const std::function<void(tutti::communicator&)>& program);
testing::AssertionResult passes(const job& j, const tutti::detail::rank_program& program);

/// Returns the text of the exception that ends the job, and the rank that it names; "" if the job
/// succeeds.
std::string failure_of(const tutti::run_options& options,
                       const std::function<void(tutti::communicator&)>& program, int* rank = nullptr);

/// For INSTANTIATE_TEST_SUITE_P over jobs, and over their engines.
struct by_name {
  template <class Info>
  std::string operator()(const Info& info) const {
    if constexpr (requires { info.param.name(); })
      return info.param.name();
    else
      return std::string(info.param);
  }
};

}  // namespace tests
