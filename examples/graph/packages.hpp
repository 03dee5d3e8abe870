// SPDX-License-Identifier: Apache-2.0
//
// Reads the dependency graph of Debian's packages from this machine. A vertex is a package. An edge
// leads to each package that it depends on, recommends or suggests, including all alternatives. A
// virtual package stands for all packages that provide it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/child.hpp"
#include "../support/input_error.hpp"
#include "edge_list.hpp"

namespace graph {

/// Parses package lists line by line ("Package: a", "Depends: b (>= 1), c | d"). An empty line
/// follows each package.
class package_reader {
 public:
  void line(const std::string& file, std::size_t number, std::string_view text) {
    if (text.empty()) {
      package_ = none;
      field_ = field::other;
      return;
    }
    if (text[0] == ' ' || text[0] == '\t') return value(text);
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0)
      throw input_error(file, number,
                        "\"Field: value\" expected: \"" + std::string(text.substr(0, 60)) + "\"");
    const std::string_view name = text.substr(0, colon);
    field_ = name == "Package"    ? field::package
             : name == "Provides" ? field::provides
             : name == "Depends" || name == "Pre-Depends" || name == "Recommends" || name == "Suggests"
                 ? field::needs
                 : field::other;
    if (field_ != field::package && field_ != field::other && package_ == none)
      throw input_error(file, number, "\"" + std::string(name) + "\" precedes its \"Package\"");
    value(text.substr(colon + 1));
  }

  /// Returns the graph of the packages read so far. Omits names that no package has or provides.
  edge_list finish(std::string origin) && {
    std::vector<std::string> names = number_.names();
    providers_.resize(names.size());
    real_.resize(names.size());
    edge_list graph{std::move(origin), {}, {}};
    std::vector<vertex> new_index(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!real_[i]) continue;
      new_index[i] = static_cast<vertex>(graph.names.size());
      graph.names.push_back(std::move(names[i]));
    }
    for (const auto& [from, to] : needs_) {
      if (real_[to])
        graph.edges.push_back({new_index[from], new_index[to]});
      else
        for (vertex provider : providers_[to]) graph.edges.push_back({new_index[from], new_index[provider]});
    }
    std::erase_if(graph.edges, [](const edge& e) { return e.from == e.to; });
    graph.remove_duplicates();
    return graph;
  }

 private:
  enum class field { other, package, provides, needs };
  static constexpr vertex none = ~vertex{0};

  void value(std::string_view text) {
    if (field_ == field::other) return;
    while (!text.empty()) {
      const auto end = std::min(text.find_first_of(",|"), text.size());
      std::string_view name = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
      // Drops version, architecture and profile.
      name = name.substr(0, name.find_first_of(" \t(:[<"));
      if (!name.empty()) mention(number_[name]);
    }
  }

  void mention(vertex name) {
    if (name >= real_.size()) {
      real_.resize(name + 1);
      providers_.resize(name + 1);
    }
    switch (field_) {
      case field::package:
        real_[package_ = name] = true;
        break;
      case field::provides:
        providers_[name].push_back(package_);
        break;
      case field::needs:
        needs_.emplace_back(package_, name);
        break;
      case field::other:
        break;
    }
  }

  numbering number_;
  std::vector<bool> real_;
  std::vector<std::vector<vertex>> providers_;
  std::vector<std::pair<vertex, vertex>> needs_;
  vertex package_ = none;
  field field_ = field::other;
};

/// Reads package lists, plain or compressed in any format that apt supports.
inline edge_list read_packages(const std::vector<std::string>& files, std::string origin) {
  package_reader reader;
  for (const std::string& file : files) {
    std::string text;
    std::size_t number = 0;
    const std::string ending = std::filesystem::path(file).extension();
    if (ending == ".lz4" || ending == ".gz" || ending == ".xz" || ending == ".bz2" || ending == ".zst") {
      child apt({"/usr/lib/apt/apt-helper", "cat-file", file});
      while (apt.line(text)) reader.line(file, ++number, text);
      if (apt.finish() != 0) throw input_error(file, "apt-helper cannot read it");
    } else {
      std::ifstream in(file);
      if (!in) throw input_error(file, std::string("cannot be read: ") + std::strerror(errno));
      while (std::getline(in, text)) reader.line(file, ++number, text);
      if (in.bad()) throw input_error(file, "cannot be read: is it a directory?");
    }
    reader.line(file, number, "");
  }
  return std::move(reader).finish(std::move(origin));
}

/// Reads the packages that apt lists on this machine, or, if there are none, those of dpkg.
inline edge_list read_packages() {
  namespace fs = std::filesystem;
  std::vector<std::string> lists;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/var/lib/apt/lists", ignored)) {
    const std::string name = entry.path().filename();
    if (name.ends_with("_Packages") || name.find("_Packages.") != std::string::npos)
      lists.push_back(entry.path());
  }
  std::sort(lists.begin(), lists.end());
  edge_list graph = read_packages(lists, "the packages that apt knows here");
  if (!graph.edges.empty()) return graph;
  lists.clear();
  for (const char* file : {"/var/lib/dpkg/available", "/var/lib/dpkg/status"})
    if (fs::exists(file, ignored)) lists.push_back(file);
  graph = read_packages(lists, "the packages that dpkg knows here");
  if (graph.edges.empty())
    throw input_error("/var/lib/apt/lists",
                      "no package lists: run \"apt-get update\", or pass an edge list (--edges FILE)");
  return graph;
}

}  // namespace graph
