// SPDX-License-Identifier: Apache-2.0
//
// Tests that reports name places in the program, and none in the library's own files.
#include <gtest/gtest.h>

#include "base/report_text.hpp"

namespace tutti::detail {
namespace {

TEST(report_places, files_of_the_library) {
  for (const char* path : {"libtutti:/frontends/toolkit/grid.cpp", "/usr/include/tutti/run.hpp",
                           "/home/u/tutti/include/tutti/face/frame.hpp", "include/tutti/run.hpp",
                           "../include/tutti/run.hpp", "tutti/run.hpp", "./tutti/run.hpp"})
    EXPECT_TRUE(is_of_library(path)) << path;
}

TEST(report_places, files_of_the_program) {
  for (const char* path :
       {"sums.cpp", "/x/include/tutti/sums.cpp", "include/tutti/sums.cpp", "/x/tutti/sums.hpp",
        "/x/myinclude/tutti/sums.hpp", "src/tutti/sums.hpp", "sums.hpp", ""})
    EXPECT_FALSE(is_of_library(path)) << path;
}

}  // namespace
}  // namespace tutti::detail
