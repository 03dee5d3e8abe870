// SPDX-License-Identifier: Apache-2.0
//
// write_tree_images OUTPUT: writes the source file of builtin_image(), with the image of each
// built-in document, unless the file has this text already. The build runs it.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "selection/tree_image.hpp"

// This program has no images, so it reads the texts.
std::string_view tutti::detail::builtin_image(std::string_view) noexcept { return {}; }

namespace {

using namespace tutti::detail;

// Octal, because a digit after a hexadecimal escape would belong to it.
std::string literal(const std::string& image) {
  std::string text = "\"";
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (i != 0 && i % 24 == 0) text += "\"\n    \"";
    char code[8];
    std::snprintf(code, sizeof code, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(image[i])));
    text += code;
  }
  return text + '"';
}

std::string content_of(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string source() {
  std::string text =
      "// SPDX-License-Identifier: Apache-2.0\n"
      "//\n"
      "// Generated from the built-in trees.\n"
      "#include \"selection/tree_image.hpp\"\n\n"
      "std::string_view tutti::detail::builtin_image(std::string_view name) noexcept {\n"
      "  using namespace std::string_view_literals;\n";
  for (const std::string_view name : builtin_tree_names())
    text += "  if (name == \"" + std::string(name) + "\") return\n    " +
            literal(write_image(builtin_document(name))) + "sv;\n";
  return text + "  return {};\n}\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write_tree_images OUTPUT\n");
    return 2;
  }
  try {
    const std::string text = source();
    if (content_of(arguments[1]) == text) return 0;
    std::FILE* const file = std::fopen(arguments[1], "w");
    const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr && std::fclose(file) == 0 && written) return 0;
    std::fprintf(stderr, "write_tree_images: cannot write %s\n", arguments[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "write_tree_images: %s\n", e.what());
  }
  return 1;
}
