// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/modules.hpp"
#include "launch/trust.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

TEST(trust, folder_of_temporary_files) {
  // Below the sticky /tmp, which everybody may write to.
  char text[] = "/tmp/tutti-trust-XXXXXX";
  ASSERT_NE(mkdtemp(text), nullptr);
  const fs::path folder = text, file = folder / "libtutti-mpi-x.so";
  std::ofstream(file) << "x";
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(why_not_trusted(file), "");
  ASSERT_EQ(chmod(file.c_str(), 0646), 0);
  EXPECT_EQ(why_not_trusted(file), "can be written by other users");
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(chmod(folder.c_str(), 01777), 0);  // sticky, but others could put a file there first
  EXPECT_EQ(why_not_trusted(file), "is in " + folder.string() + ", which can be written by other users");
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);

  // A link is followed: what counts is where it leads to.
  ASSERT_EQ(chmod(file.c_str(), 0646), 0);
  fs::create_directory(folder / "other");
  fs::create_symlink(file, folder / "other" / "libtutti-mpi-x.so");
  EXPECT_EQ(why_not_trusted(folder / "other" / "libtutti-mpi-x.so"), "can be written by other users");
  if (geteuid() == 0) {
    ASSERT_EQ(chmod(file.c_str(), 0644), 0);
    ASSERT_EQ(chown(file.c_str(), 4711, 4711), 0);
    EXPECT_EQ(why_not_trusted(file), "belongs to user 4711, who is neither root nor the user");
  }
  fs::remove_all(folder);
  EXPECT_NE(why_not_trusted(file), "");
}

TEST(module_folders, installation_before_the_folder_of_the_program) {
  const auto folders = module_folders("/some/prefix/include/tutti/run.hpp");
  const auto at = [&](const std::string& name) {
    return std::find(folders.begin(), folders.end(), name) - folders.begin();
  };
  const std::string beside =
      (fs::read_symlink("/proc/self/exe").parent_path() / ".." / "lib" / "tutti").lexically_normal();
  ASSERT_LT(at("/some/prefix/lib/tutti"), static_cast<long>(folders.size()));
  EXPECT_EQ(at(beside), static_cast<long>(folders.size()) - 1);
}

}  // namespace
}  // namespace tutti
