// SPDX-License-Identifier: Apache-2.0
//
// Stores many short strings as two arrays, characters and lengths, so that they can be sent. Reads
// the words of text files into this form. A word is a maximal run of letters, digits and bytes
// beyond ASCII.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/input_error.hpp"

namespace sort {

struct string_array {
  std::vector<char> chars;
  std::vector<std::uint32_t> lengths;

  std::size_t size() const { return lengths.size(); }
  void push_back(std::string_view word) {
    chars.resize(chars.size() + word.size());
    std::copy(word.begin(), word.end(), chars.end() - static_cast<std::ptrdiff_t>(word.size()));
    lengths.push_back(static_cast<std::uint32_t>(word.size()));
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> all;
    all.reserve(size());
    const char* next = chars.data();
    for (std::uint32_t length : lengths) {
      all.emplace_back(next, length);
      next += length;
    }
    return all;
  }
  friend bool operator==(const string_array&, const string_array&) = default;
};

/// Copies the words in the given order. `text_of(x)` returns the word of an element.
template <class Words, class Text = std::identity>
string_array pack(const Words& words, Text text_of = {}) {
  string_array all;
  all.lengths.reserve(words.size());
  std::size_t chars = 0;
  for (const auto& word : words) {
    const std::string_view text = std::invoke(text_of, word);
    all.lengths.push_back(static_cast<std::uint32_t>(text.size()));
    chars += text.size();
  }
  all.chars.resize(chars);
  char* end = all.chars.data();
  for (const auto& word : words) {
    const std::string_view text = std::invoke(text_of, word);
    end = std::copy(text.begin(), text.end(), end);
  }
  return all;
}

/// Appends the words of a text.
inline void split_words(std::string_view text, string_array& words) {
  static constexpr auto belongs = [] {
    std::array<bool, 256> table{};
    for (int c = 0; c < 256; ++c)
      table[c] = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 128;
    return table;
  }();
  const auto in_word = [&](char c) { return belongs[static_cast<unsigned char>(c)]; };
  for (auto at = text.begin();;) {
    at = std::find_if(at, text.end(), in_word);
    if (at == text.end()) return;
    const auto end = std::find_if_not(at, text.end(), in_word);
    words.push_back({at, end});
    at = end;
  }
}

struct word_list {
  std::string origin;  ///< for messages: where the words were read
  std::size_t files = 0;
  string_array words;
};

/// Appends the words of one file. Throws input_error if it cannot be read, or, with the line, if it
/// is not text.
inline void read_text(const std::filesystem::path& file, word_list& list) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw input_error(file, std::string("cannot be read: ") + std::strerror(errno));
  std::error_code ignored;
  const auto size = std::filesystem::file_size(file, ignored);
  std::string text(ignored ? 0 : size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.good()) text.append(std::istreambuf_iterator<char>(in), {});  // a pipe or a growing file
  if (in.bad()) throw input_error(file, "cannot be read");
  if (const auto nul = text.find('\0'); nul != std::string::npos) {
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n') + 1;
    throw input_error(file, static_cast<std::size_t>(line), "a NUL byte: this is not text");
  }
  split_words(text, list.words);
  ++list.files;
}

/// Returns all files below a folder, ordered by name.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::error_code problem, none;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, problem);
  for (; !problem && at != fs::recursive_directory_iterator(); at.increment(problem))
    if (!at->is_symlink(none) && at->is_regular_file(none)) files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The same as read_text() for a file that the user has not named: skips it if it is not text.
inline void try_text(const std::filesystem::path& file, word_list& list) {
  try {
    read_text(file, list);
  } catch (const input_error&) {
  }
}

/// Reads every word of the named files. A folder stands for all texts in it.
inline word_list read_words(const std::vector<std::string>& named) {
  word_list list;
  for (const std::string& name : named) {
    std::error_code none;
    if (!std::filesystem::is_directory(name, none))
      read_text(name, list);
    else
      for (const auto& file : files_below(name)) try_text(file, list);
  }
  list.origin = named.size() == 1 ? named[0] : std::to_string(list.files) + " files";
  if (list.words.size() == 0) throw input_error(named.empty() ? "--text" : named[0], "no word in it");
  return list;
}

/// Reads every word of the licenses and the documentation on this machine, up to about 8 MiB.
inline word_list read_words() {
  word_list list;
  const std::size_t enough = std::size_t{8} << 20;
  list.origin = "the licenses and documentation on this machine";
  for (const auto& file : files_below("/usr/share/common-licenses")) try_text(file, list);
  for (const auto& file : files_below("/usr/share/doc")) {
    if (list.words.chars.size() > enough) break;
    const std::string name = file.filename();
    if (name == "copyright" || name == "changelog" || name == "NEWS" || file.extension() == ".txt" ||
        (name.starts_with("README") && file.extension() != ".gz"))
      try_text(file, list);
  }
  if (list.words.size() == 0) throw input_error("/usr/share/doc", "no texts: pass some (--text FILE...)");
  return list;
}

}  // namespace sort
