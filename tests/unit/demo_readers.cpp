// SPDX-License-Identifier: Apache-2.0
//
// Tests the readers of the demo: edge lists, package lists, words, and the errors for malformed
// input.
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include "../../examples/graph/packages.hpp"
#include "../../examples/graph/serial_graph.hpp"
#include "../../examples/sort/serial_sort.hpp"
#include "support/scratch_folder.hpp"

namespace {

class scratch_file {
  tests::scratch_folder where_;

 public:
  explicit scratch_file(std::string_view text) : path(where_.file("input", text)) {}
  const std::string path;
};

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const input_error& e) {
    return e.what();
  }
  return "no refusal";
}

using names = std::vector<std::string>;
using edges = std::vector<graph::edge>;

TEST(edge_lists, numbers_names_and_comments) {
  const scratch_file file("# a graph\n10 20\n\n  20\tlib-c # why\r\n10 20\n");
  const auto graph = graph::read_edges(file.path);
  EXPECT_EQ(graph.names, (names{"10", "20", "lib-c"}));
  EXPECT_EQ(graph.edges, (edges{{0, 1}, {1, 2}}));
}

TEST(edge_lists, refusals_name_file_and_line) {
  const scratch_file one("a b\nc\n"), three("a b\n# x\nc d e\n"), empty("# nothing\n"),
      binary({"a b\n\0\n", 6});
  const auto error_for = [](const std::string& path) { return refusal([&] { graph::read_edges(path); }); };
  EXPECT_EQ(error_for(one.path), one.path + ":2: an edge is two vertices, here is one: \"c\"");
  EXPECT_EQ(error_for(three.path), three.path + ":3: an edge is two vertices, here are 3: \"c d e\"");
  EXPECT_EQ(error_for(empty.path), empty.path + ": no edge in it");
  EXPECT_EQ(error_for(binary.path), binary.path + ":2: a NUL byte: this is not text");
  EXPECT_EQ(error_for("/no/such/file"), "/no/such/file: cannot be read: No such file or directory");
  EXPECT_NE(error_for("/tmp").find("cannot be read"), std::string::npos);
}

TEST(packages, fields_alternatives_versions_and_virtual_ones) {
  const scratch_file file(
      "Package: app\nVersion: 1:2\nPre-Depends: libc (>= 2.36)\nDepends: shell | mta, python:any [amd64],\n "
      "missing\n"
      "Description: x\n Depends: not this\n\n"
      "Package: libc\nProvides: libc-dev (= 2), shell\n\nPackage: python\nRecommends: libc\nConflicts: "
      "app\n\n"
      "Package: postfix\nProvides: mta\nSuggests: app, postfix\n\nPackage: exim\nProvides: mta");
  const auto graph = graph::read_packages({file.path}, "test");
  EXPECT_EQ(graph.names, (names{"app", "libc", "python", "postfix", "exim"}));
  EXPECT_EQ(graph.edges, (edges{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {2, 1}, {3, 0}}));
}

TEST(packages, refusals_name_file_and_line) {
  const scratch_file text("Package: a\nnonsense\n"), headless("Package: a\n\nDepends: b\n"), broken("no lz4");
  const auto error_for = [](const std::string& path) {
    return refusal([&] { graph::read_packages({path}, ""); });
  };
  EXPECT_EQ(error_for(text.path), text.path + ":2: \"Field: value\" expected: \"nonsense\"");
  EXPECT_EQ(error_for(headless.path), headless.path + ":3: \"Depends\" precedes its \"Package\"");
  EXPECT_EQ(error_for("/no/such/file"), "/no/such/file: cannot be read: No such file or directory");
}

TEST(oracles, a_small_graph) {
  const scratch_file file("a b\nb c\nd e\n");
  const auto graph = graph::read_edges(file.path);
  EXPECT_EQ(graph.names[graph::busiest(graph)], "b");
  EXPECT_EQ(graph::oracle_distances(graph, 0),
            (std::vector<std::uint32_t>{0, 1, 2, graph::unreached, graph::unreached}));
  EXPECT_EQ(graph::oracle_components(graph), (std::vector<graph::vertex>{0, 0, 0, 3, 3}));
}

TEST(words, are_runs_of_letters_digits_and_bytes_beyond_ascii) {
  sort::string_array words;
  sort::split_words("It's caf\xc3\xa9 no. 7!\n--", words);
  EXPECT_EQ(words.views(), (std::vector<std::string_view>{"It", "s", "caf\xc3\xa9", "no", "7"}));
  EXPECT_EQ(sort::oracle_sorted(words).views(),
            (std::vector<std::string_view>{"7", "It", "caf\xc3\xa9", "no", "s"}));
  EXPECT_EQ(sort::pack(words.views()), words);
}

TEST(words, refusals_name_file_and_line) {
  const scratch_file good("the cat\nthe hat"), binary({"a\nb\n\0", 5}), empty("...");
  const auto error_for = [](const std::string& path) { return refusal([&] { sort::read_words({path}); }); };
  EXPECT_EQ(sort::read_words({good.path, good.path}).words.size(), 8u);
  EXPECT_EQ(error_for(binary.path), binary.path + ":3: a NUL byte: this is not text");
  EXPECT_EQ(error_for(empty.path), empty.path + ": no word in it");
  EXPECT_EQ(error_for("/no/such/file"), "/no/such/file: cannot be read: No such file or directory");
}

TEST(children, are_read_by_line_and_end_in_time) {
  child counts({"sh", "-c", "printf 'one\\n\\nthree'; exit 7"});
  std::vector<std::string> lines;
  for (std::string line; counts.line(line);) lines.push_back(line);
  EXPECT_EQ(lines, (names{"one", "", "three"}));
  EXPECT_EQ(counts.finish(), 7);
  child slow({"sleep", "100"}, std::chrono::seconds(0));
  std::string line;
  EXPECT_THROW(slow.line(line), std::runtime_error);
  EXPECT_EQ(slow.finish(), 128 + SIGTERM);
  EXPECT_THROW(child({"/no/such/program"}), std::runtime_error);
}

}  // namespace
