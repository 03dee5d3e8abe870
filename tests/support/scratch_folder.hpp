// SPDX-License-Identifier: Apache-2.0
//
// A folder for the files of one test. The destructor removes both.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tests {

class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-test-").string() +
                       std::string(6, 'X');  // required by mkdtemp
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for files");
    where_ = name;
  }
  ~scratch_folder() { std::filesystem::remove_all(where_); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string path(const std::string& name) const { return (where_ / name).string(); }
  /// Creates a file with this text.
  std::string file(const std::string& name, std::string_view text) const {
    std::ofstream(where_ / name, std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path where_;
};

/// Returns the contents of a file; throws if there is none.
inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + " cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace tests
