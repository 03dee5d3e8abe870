// SPDX-License-Identifier: Apache-2.0
//
// The loop of fuzz tests for readers of JSON files: it changes known texts at random. A program
// that Clang builds with libFuzzer does not need it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/failure_report.hpp"
#include "support/scratch_folder.hpp"
#include "support/tree_cases.hpp"

namespace tests {

using text_list = std::vector<std::string>;

/// Thrown for a text that the reader treats wrongly.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void expect(bool holds, const char* what) {
  if (!holds) throw broken(what);
}

/// Parts of any JSON text. Texts made of them execute more code of a reader than random characters.
inline text_list json_words() {
  return {"true",
          "false",
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "0",
          "-1",
          "1e400",
          "64K",
          "null",
          "\"",
          "\\u",
          "\n",
          "18446744073709551615",
          "4611686018427387904"};
}

inline std::string mutated(const text_list& corpus, const text_list& known, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  std::string text = corpus[below(corpus.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1),
                      length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    // Replaces a word of the text by another one.
    std::size_t first = at, last = at;
    const auto is_letter = [&](std::size_t i) {
      return text[i] == '_' || (text[i] >= 'a' && text[i] <= 'z');
    };
    while (first > 0 && is_letter(first - 1)) --first;
    while (last < text.size() && is_letter(last)) ++last;
    switch (below(7)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        text.insert(at, known[below(known.size())]);
        break;
      case 4: {
        const std::string& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size());
        text.insert(at, other, from, below(200));
        break;
      }
      default:
        text.replace(first, last - first, known[below(known.size())]);
    }
  }
  return text;
}

/// The main program: PROGRAM SECONDS FILE-OR-FOLDER... `corpus` has further texts. `try_text`
/// returns whether a text is valid, and throws `broken`.
template <class Try>
int fuzz(int argc, char** argv, text_list corpus, const text_list& known, const Try& try_text) {
  const program_start start(argc, argv);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i]))
      corpus.push_back(contents(argv[i]));
    else
      for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
        if (const std::string text = contents(entry.path()); entry.path().extension() == ".cases")
          for (const tree_case& one : tree_cases(text)) corpus.push_back(one.text);
        else if (entry.path().extension() == ".json")
          corpus.push_back(text);
  }
  const std::uint64_t seed = selected_seed().value_or(std::random_device()());
  std::printf("%zu texts, TUTTI_TEST_SEED=%ju\n", corpus.size(), static_cast<std::uintmax_t>(seed));
  std::fflush(stdout);
  std::mt19937 random(static_cast<unsigned>(seed));
  // Keeps the text that fails, because a run with it alone is faster than a repetition of all texts
  // before it.
  const auto try_and_keep = [&](const std::string& text) {
    try {
      return try_text(text);
    } catch (const broken& e) {
      const std::string kept =
          (std::filesystem::temp_directory_path() / "tutti_fuzz_").string() + std::to_string(seed) + ".json";
      std::ofstream(kept, std::ios::binary) << text;
      std::printf("FAILED (seed %ju): %s: %s\n%s\n", static_cast<std::uintmax_t>(seed), e.what(),
                  text.c_str(), start.repeat_command({}, {"0", kept}).c_str());
      std::exit(1);
    }
  };
  for (const std::string& text : text_list(corpus)) try_and_keep(text);
  std::size_t tried = 0, good = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = mutated(corpus, known, random);
    ++tried;
    if (!try_and_keep(text)) continue;
    ++good;
    if (corpus.size() < 2000) corpus.push_back(text);  // a valid text is a good starting point
  }
  std::printf("%zu texts tried, of which %zu are valid\n", tried, good);
  return 0;
}

}  // namespace tests
