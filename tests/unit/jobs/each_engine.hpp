// SPDX-License-Identifier: Apache-2.0
//
// Tests of whole jobs on the embedded engines, with fewer, as many and more ranks than workers.
#pragma once

#include <functional>
#include <string>

#include "support/ranks.hpp"

namespace tests {

class each_engine : public testing::TestWithParam<job> {
 public:
  static auto jobs() {
    return testing::Values(job{"threads", 2}, job{"threads", 5}, job{"fibers", 2, 2}, job{"fibers", 5, 1},
                           job{"fibers", 8, 2});
  }

 protected:
  tutti::run_options options() const { return GetParam().options(); }
  static testing::AssertionResult passes(const std::function<void(tutti::communicator&)>& program) {
    return tests::passes(GetParam(), program);
  }
  static std::string failure_of(const std::function<void(tutti::communicator&)>& program,
                                int* rank = nullptr) {
    return tests::failure_of(GetParam().options(), program, rank);
  }
};

}  // namespace tests
