// SPDX-License-Identifier: Apache-2.0
//
// Feeds random texts to the reader of decision trees. For every text the reader reports errors or
// returns a document. A document, on top of the common one, must serve every call legally, and
// survive writing and reading.
//
// With libFuzzer (built by Clang):  fuzz_tree CORPUS...
// Otherwise with its own loop:      fuzz_tree SECONDS FILE-OR-FOLDER...
#include <cstdint>
#include <string>
#include <vector>

#include "selection/tree.hpp"
#include "support/selection_contexts.hpp"
#include "support/text_fuzzing.hpp"

using namespace tutti;

using namespace tutti::detail;

namespace {

using tests::expect;

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

// Words of the vocabulary reach more code than letters do.
tests::text_list words() {
  tests::text_list all = tests::json_words();
  for (const char* word :
       {"\"use\": ", "\"when\": {", "\"by\": ", "\"steps\": [", "\"upto\": ", "\"with\": {", "native",
        "@pure", "\"extends\": \"common\", ", "\"conditions\": {\"open_mpi\": \"\"}, ", "composition",
        "common", "threads", "mpi", "open_mpi"})
    all.emplace_back(word);
  for (const condition_entry& e : conditions()) all.emplace_back(e.name);
  for (const quantity_entry& e : quantities()) all.emplace_back(e.name);
  for (const std::string_view name : collective_names) all.emplace_back(name);
  for (const pure_algorithm* a : catalogue()) all.emplace_back(a->short_name());
  for (const composed_algorithm* a : composition_catalogue()) all.emplace_back(a->short_name());
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  tests::text_list corpus;
  for (const char* name : {"common", "threads", "mpi"}) corpus.emplace_back(builtin_tree(name));
  return tests::fuzz(argc, argv, std::move(corpus), words(), try_text);
}
#endif
