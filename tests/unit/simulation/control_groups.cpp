// SPDX-License-Identifier: Apache-2.0
//
// Tests the memory that control groups leave, with folders in place of the kernel's.
#include "simulation/control_groups.hpp"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "simulation/available_memory.hpp"
#include "support/scratch_folder.hpp"

namespace tutti::simulation {
namespace {

class control_groups : public testing::Test {
 protected:
  void group(const std::string& name, const std::string& limit_file, const std::string& limit,
             const std::string& used_file, const std::string& used, const std::string& stat = "") {
    std::filesystem::create_directories(folder_.path(name));
    folder_.file(name + "/" + limit_file, limit + "\n");
    folder_.file(name + "/" + used_file, used + "\n");
    folder_.file(name + "/memory.stat", stat);
  }
  void second(const std::string& name, const std::string& limit, const std::string& used,
              const std::string& stat = "") {
    group(name, "memory.max", limit, "memory.current", used, stat);
  }
  void first(const std::string& name, const std::string& limit, const std::string& used,
             const std::string& stat = "") {
    group("memory/" + name, "memory.limit_in_bytes", limit, "memory.usage_in_bytes", used, stat);
  }
  double left(const std::string& groups) const { return memory_of_control_groups(groups, folder_.path(".")); }

 private:
  tests::scratch_folder folder_;
};

TEST_F(control_groups, the_group_of_the_process_counts) {
  second("user/job", "1000", "300");
  EXPECT_EQ(left("0::/user/job\n"), 700);
  EXPECT_TRUE(std::isinf(left("0::/user\n")));
  EXPECT_TRUE(std::isinf(left("0::/\n")));
}

TEST_F(control_groups, the_least_of_all_groups_above_counts) {
  second("a/b/c", "max", "10");
  second("a/b", "1000", "300");
  second("a", "500", "400");
  EXPECT_EQ(left("0::/a/b/c\n"), 100);
  second("a", "max", "400");
  EXPECT_EQ(left("0::/a/b/c\n"), 700);
  second(".", "350", "300");
  EXPECT_EQ(left("0::/a/b/c\n"), 50);
}

TEST_F(control_groups, pages_of_files_are_not_used) {
  second("job", "1000", "900", "anon 100\ninactive_file 600\nactive_file 200\n");
  EXPECT_EQ(left("0::/job\n"), 700);
  first("job", "1000", "900", "inactive_file 1\ntotal_inactive_file 300\n");
  EXPECT_EQ(left("4:memory:/job\n"), 400);
  second("job", "1000", "1200");
  EXPECT_EQ(left("0::/job\n"), 0);
}

TEST_F(control_groups, both_versions) {
  first("job/step", "1000", "200");
  first("job", "900", "300");
  second("unified/job", "700", "200");
  EXPECT_EQ(left("9:name=systemd:/job/step\n4:cpu,memory:/job/step\n0::/job\n"), 500);
  EXPECT_EQ(left("4:cpu,memory:/job/step\n"), 600);
  EXPECT_TRUE(std::isinf(left("4:cpu,memory_other:/job/step\n")));
}

TEST_F(control_groups, groups_that_are_not_visible) {
  second(".", "1000", "200");  // in a container, its own group is the root
  EXPECT_EQ(left("0::/docker/4711\n"), 800);
  EXPECT_EQ(left("0::/../../other\n"), 800);
  for (const char* text : {"", "\n", "0", "0:", "0::", "0::job\n", ":::::"})
    EXPECT_TRUE(std::isinf(left(text))) << text;
}

TEST(available_memory, is_some) { EXPECT_GT(available_memory(), 1e6); }

}  // namespace
}  // namespace tutti::simulation
