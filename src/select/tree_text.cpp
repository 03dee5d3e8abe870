// SPDX-License-Identifier: Apache-2.0
#include "select/tree_text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tutti {

tree_text read_tree_text(const std::string& name) {
  constexpr std::size_t most = std::size_t{8} << 20;  // beyond what a tree may have, which the reader tells
  tree_text made;
  const auto fail = [&](int error) { made.problem = name + " cannot be read: " + std::strerror(error); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(name.c_str(), "rb"), &std::fclose);
  if (!in) {
    fail(errno);
    return made;
  }
  constexpr std::size_t part_bytes = 65536;
  const auto part = std::make_unique<char[]>(part_bytes);  // this may be the stack of a fiber
  while (made.text.size() < most) {
    const std::size_t n = std::fread(part.get(), 1, part_bytes, in.get());
    if (n == 0) break;
    made.text.append(part.get(), n);
  }
  if (std::ferror(in.get())) fail(errno);
  if (made.problem.empty() && made.text.empty()) made.problem = name + " is empty";
  return made;
}

}  // namespace tutti
