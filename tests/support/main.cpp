// SPDX-License-Identifier: Apache-2.0
//
// The main program of every unit test. Not gtest_main, so that one place decides what surrounds all tests.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
