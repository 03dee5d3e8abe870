// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/modules.hpp"
#include "runtime/launch/trust.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

TEST(trust, folder_of_temporary_files) {
  // Below /tmp, which is sticky and writable for everybody.
  char text[] = "/tmp/tutti-trust-XXXXXX";
  ASSERT_NE(mkdtemp(text), nullptr);
  const fs::path folder = text, file = folder / "libtutti-mpi-x.so";
  std::ofstream(file) << "x";
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(decide_trust(file).reason, "");
  ASSERT_EQ(chmod(file.c_str(), 0646), 0);
  EXPECT_EQ(decide_trust(file).reason, "can be written by other users");
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(chmod(folder.c_str(), 01777), 0);  // sticky, but others could put a file there first
  EXPECT_EQ(decide_trust(file).reason, "is in " + folder.string() + ", which can be written by other users");
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);

  // Links are followed; the target counts.
  ASSERT_EQ(chmod(file.c_str(), 0646), 0);
  fs::create_directory(folder / "other");
  fs::create_symlink(file, folder / "other" / "libtutti-mpi-x.so");
  EXPECT_EQ(decide_trust(folder / "other" / "libtutti-mpi-x.so").reason, "can be written by other users");
  EXPECT_EQ(decide_trust(folder / "other" / "libtutti-mpi-x.so").real, fs::canonical(file));
  if (geteuid() == 0) {
    ASSERT_EQ(chmod(file.c_str(), 0644), 0);
    ASSERT_EQ(chown(file.c_str(), 4711, 4711), 0);
    EXPECT_EQ(decide_trust(file).reason, "belongs to user 4711, who is neither root nor the user");
  }
  fs::remove_all(folder);
  EXPECT_NE(decide_trust(file).reason, "");
}

// Loading a FIFO would wait for a writer.
TEST(trust, only_of_regular_files) {
  char text[] = "/tmp/tutti-trust-XXXXXX";
  ASSERT_NE(mkdtemp(text), nullptr);
  const fs::path folder = text, fifo = folder / "fifo", other = folder / "folder";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  fs::create_directory(other);
  fs::create_symlink(fifo, folder / "link");
  const std::string rule = ", and only a regular file can be loaded";
  EXPECT_EQ(decide_trust(fifo).reason, "is a FIFO" + rule);
  EXPECT_EQ(decide_trust(folder / "link").reason, "is a FIFO" + rule);
  EXPECT_EQ(decide_trust(other).reason, "is a folder" + rule);
  EXPECT_EQ(decide_trust("/dev/zero").reason, "is a device" + rule);
  fs::remove_all(folder);
}

TEST(find_files, rejects_a_fifo_and_names_it) {
  char text[] = "/tmp/tutti-find-XXXXXX";
  ASSERT_NE(mkdtemp(text), nullptr);
  const fs::path folder = text, named = folder / "libtutti-workers.so";
  ASSERT_EQ(mkfifo(named.c_str(), 0600), 0);
  ASSERT_EQ(setenv("TUTTI_MODULE_PATH", folder.c_str(), 1), 0);
  const found_files found = find_files("libtutti-workers.so", "");
  EXPECT_EQ(unsetenv("TUTTI_MODULE_PATH"), 0);
  EXPECT_EQ(std::count(found.usable.begin(), found.usable.end(), named.string()), 0);
  ASSERT_FALSE(found.rejected.empty());
  EXPECT_TRUE(found.rejected.front().starts_with(named.string() + " is a FIFO")) << found.rejected.front();
  fs::remove_all(folder);
}

TEST(find_files, whole_names_and_what_links_lead_to) {
  char text[] = "/tmp/tutti-find-XXXXXX";
  ASSERT_NE(mkdtemp(text), nullptr);
  const fs::path folder = text, searched = folder / "searched";
  fs::create_directory(searched);
  std::ofstream(folder / "real.so") << "x";
  fs::create_symlink(folder / "real.so", searched / "libtutti-x.so");
  std::ofstream(searched / "libtutti-x.so.bak") << "x";
  ASSERT_EQ(setenv("TUTTI_MODULE_PATH", searched.c_str(), 1), 0);
  const found_files one = find_files("libtutti-x.so", ""), both = find_files("libtutti-x", "b");
  EXPECT_EQ(unsetenv("TUTTI_MODULE_PATH"), 0);
  EXPECT_EQ(one.usable, std::vector<std::string>{(searched / "libtutti-x.so").string()});
  EXPECT_EQ(one.real, std::vector<std::string>{fs::canonical(folder / "real.so").string()});
  EXPECT_TRUE(both.usable.empty());
  fs::remove_all(folder);
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
}  // namespace tutti::detail
