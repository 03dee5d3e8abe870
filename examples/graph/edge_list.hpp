// SPDX-License-Identifier: Apache-2.0
//
// A whole graph as read from a file: the names of its vertices, and its edges by vertex number. An
// edge list is a text with two vertices per line, as numbers or names. '#' begins a comment.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../support/input_error.hpp"

namespace graph {

using vertex = std::uint32_t;

struct edge {
  vertex from, to;
  friend auto operator<=>(const edge&, const edge&) = default;
};

struct edge_list {
  std::string origin;              ///< for messages: where the list was read
  std::vector<std::string> names;  ///< of the vertices
  std::vector<edge> edges;         ///< sorted, without duplicates

  void remove_duplicates() {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    edges.shrink_to_fit();
  }
};

/// Numbers names in the order of their first occurrence.
class numbering {
 public:
  vertex operator[](std::string_view name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    const auto number = static_cast<vertex>(numbers_.size());
    numbers_.emplace(name, number);
    return number;
  }
  std::size_t size() const { return numbers_.size(); }
  std::vector<std::string> names() const {
    std::vector<std::string> all(numbers_.size());
    for (const auto& [name, number] : numbers_) all[number] = name;
    return all;
  }

 private:
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, vertex, hash, std::equal_to<>> numbers_;
};

/// Reads an edge list. Throws input_error, which names the line, if the file is missing or is no
/// edge list.
inline edge_list read_edges(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw input_error(file, std::string("cannot be read: ") + std::strerror(errno));
  edge_list graph{file, {}, {}};
  numbering number;
  std::string text;
  std::size_t line = 0;
  for (; std::getline(in, text);) {
    ++line;
    if (text.find('\0') != std::string::npos) throw input_error(file, line, "a NUL byte: this is not text");
    std::string_view rest = std::string_view(text).substr(0, text.find('#'));
    std::vector<std::string_view> words;
    for (;;) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r"), rest.size()));
      if (rest.empty()) break;
      words.push_back(rest.substr(0, rest.find_first_of(" \t\r")));
      rest.remove_prefix(words.back().size());
    }
    if (words.empty()) continue;
    if (words.size() != 2) {
      throw input_error(file, line,
                        "an edge is two vertices, here " +
                            (words.size() == 1 ? "is one" : "are " + std::to_string(words.size())) + ": \"" +
                            text.substr(0, 60) + "\"");
    }
    const vertex from = number[words[0]];
    graph.edges.push_back({from, number[words[1]]});
  }
  if (in.bad()) throw input_error(file, "cannot be read: is it a directory?");
  if (graph.edges.empty()) throw input_error(file, "no edge in it");
  graph.names = number.names();
  graph.remove_duplicates();
  return graph;
}

}  // namespace graph
