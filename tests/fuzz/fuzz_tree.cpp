// SPDX-License-Identifier: Apache-2.0
//
// Feeds random texts to the reader of decision trees. For every text the reader reports errors or
// returns a document. A document, on top of the common one, must serve every call legally, and
// survive writing and reading.
//
// With libFuzzer (built by Clang):  fuzz_tree CORPUS...
// Otherwise with its own loop:      fuzz_tree SECONDS FILE-OR-FOLDER...
#include "selection/tree.hpp"

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
#include "support/selection_contexts.hpp"
#include "support/tree_cases.hpp"

using namespace tutti;

using namespace tutti::detail;

namespace {

struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect(bool holds, const char* what) {
  if (!holds) throw broken(what);
}

std::vector<selection_context> some_situations() {
  std::vector<selection_context> all;
  for (std::size_t c = 0; c < collective_names.size(); ++c)
    for (const int ranks : {1, 2, 6, 7, 8})
      for (int bits = 0; bits < 32; ++bits) {
        all.push_back(make_selection_context(static_cast<collective>(c), ranks, bits & 1 ? 3 : 100000, 8,
                                             (bits & 2) != 0, bits & 4 ? builtin_op::sum : builtin_op::user,
                                             (bits & 8) == 0, (bits & 24) == 24, (bits & 16) != 0,
                                             (bits & 1) != 0));
        all.back() = varied(all.back(), static_cast<unsigned>(all.size()) * 37u);
      }
  return all;
}

bool try_text(std::string_view text) {
  static const document common = builtin_document("common");
  static const std::vector<selection_context> selection_contexts = some_situations();
  const read_result whole = read_tree(text, "whole", extent::whole);
  const read_result r = read_tree(text, "fuzz");
  expect(!whole.good() || r.good(), "whole, but at fault");
  for (const fault& f : r.faults)
    expect(!f.reason.empty() && f.line >= 1 && !f.text().empty(), "an empty fault");
  if (!r.good()) return false;
  const std::string written = write_tree(r.made);
  const read_result again = read_tree(written, "written");
  expect(again.good() && write_tree(again.made) == written, "cannot be read again");
  const document both = overlay(common, r.made);
  for (const selection_context& s : selection_contexts) {
    expect(serves(decide(both, s), s), "an illegal choice");
    if (whole.good()) expect(serves(decide(whole.made, s), s), "an illegal choice of a whole one");
    expect(serves(decide(both, s, tree_half::composition), s, tree_half::composition),
           "an illegal composition");
  }
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    expect(!explain(both, selection_contexts[text.size() % selection_contexts.size()], half).path.empty(),
           "no explanation");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_text({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef TUTTI_LIBFUZZER
namespace {

using text_list = std::vector<std::string>;

// Words of the vocabulary reach more code than letters do.
text_list words() {
  text_list all = {"\"use\": ",
                   "\"when\": {",
                   "\"by\": ",
                   "\"steps\": [",
                   "\"upto\": ",
                   "\"with\": {",
                   "true",
                   "false",
                   "native",
                   "@pure",
                   "\"extends\": \"common\", ",
                   "\"conditions\": {\"open_mpi\": \"\"}, ",
                   "composition",
                   "common",
                   "threads",
                   "mpi",
                   "open_mpi",
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
  for (const condition_entry& e : conditions()) all.emplace_back(e.name);
  for (const quantity_entry& e : quantities()) all.emplace_back(e.name);
  for (const std::string_view name : collective_names) all.emplace_back(name);
  for (const pure_algorithm* a : catalogue()) all.emplace_back(a->short_name());
  for (const composed_algorithm* a : composition_catalogue()) all.emplace_back(a->short_name());
  return all;
}

std::string mutated(const text_list& corpus, const text_list& known, std::mt19937& random) {
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

}  // namespace

int main(int argc, char** argv) {
  const tests::program_start start(argc, argv);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  text_list corpus;
  for (const char* name : {"common", "threads", "mpi"}) corpus.emplace_back(builtin_tree(name));
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i]))
      corpus.push_back(tests::contents(argv[i]));
    else
      for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
        if (const std::string text = tests::contents(entry.path()); entry.path().extension() == ".cases")
          for (const tests::tree_case& one : tests::tree_cases(text)) corpus.push_back(one.text);
        else if (entry.path().extension() == ".json")
          corpus.push_back(text);
  }
  const std::uint64_t seed = tests::selected_seed().value_or(std::random_device()());
  std::printf("%zu texts, TUTTI_TEST_SEED=%ju\n", corpus.size(), static_cast<std::uintmax_t>(seed));
  std::fflush(stdout);
  std::mt19937 random(static_cast<unsigned>(seed));
  const text_list known = words();
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
  for (const std::string& text : corpus) try_and_keep(text);
  std::size_t tried = 0, good = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = mutated(corpus, known, random);
    ++tried;
    if (!try_and_keep(text)) continue;
    ++good;
    if (corpus.size() < 2000) corpus.push_back(text);  // a valid text is a good starting point
  }
  std::printf("%zu texts tried, of which %zu are documents\n", tried, good);
}
#endif
