// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of compositions as parameters of a test.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "proof/composed_cases.hpp"
#include "proof/composite_proof.hpp"

namespace tutti::proof {

class on_every_composition : public testing::TestWithParam<const composed_algorithm*> {
 public:
  static auto all() {
    return testing::ValuesIn(composition_catalogue().begin(), composition_catalogue().end());
  }
  static std::string name(const testing::TestParamInfo<const composed_algorithm*>& info) {
    std::string all(info.param->name);
    for (char& c : all)
      if (c == '/') c = '_';
    return all;
  }
};

}  // namespace tutti::proof
