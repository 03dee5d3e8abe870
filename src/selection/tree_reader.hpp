// SPDX-License-Identifier: Apache-2.0
//
// The reader of documents: it checks names, types and order and reports every fault with its
// position. read_tree.cpp reads documents and regions, read_node.cpp the content of a region. If
// the regions of a collective can be parsed, prove_tree.hpp checks that they are legal.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "selection/json.hpp"
#include "selection/prove_tree.hpp"
#include "selection/quantity_values.hpp"
#include "selection/tree.hpp"

namespace tutti::detail {

/// Appends to a JSON pointer.
std::string child_pointer(const std::string& pointer, std::string_view key);
inline std::string child_pointer(const std::string& pointer, std::size_t i) {
  return pointer + "/" + std::to_string(i);
}

class tree_reader {
 public:
  /// `chain`: names of the documents that extend one another down to this one.
  tree_reader(std::string_view file, extent required, bool builtin, template_source templates,
              std::vector<std::string> chain = {})
      : file_(std::make_shared<const tree_file>(tree_file{std::string(file), builtin})),
        required_(required),
        templates_(templates),
        chain_(std::move(chain)) {}

  void read(std::string_view text);
  read_result finish() &&;

 private:
  void report(std::string pointer, int line, std::string reason, std::string suggestion = "");
  bool expect(const json::value& v, json::value::type is, const std::string& pointer, std::string_view what);
  /// Reports members that are not in `known` (empty: any name is allowed), and duplicate members.
  void validate_keys(const json::value& object, const std::string& pointer,
                     std::span<const std::string_view> known, std::string_view noun = "key");
  static const json::value* member(const json::value& object, std::string_view key) {
    for (std::size_t i = 0; i < object.keys.size(); ++i)
      if (object.keys[i].name == key) return &object.items[i];
    return nullptr;
  }

  void read_document(const json::value& v);
  void read_extends(const json::value& v);
  void read_conditions(const json::value& v);
  void read_machine(const json::value& v);
  void read_half(const json::value& v, tree_half half, const std::string& pointer);
  void read_regions(const json::value& v, tree_half half, collective what, const std::string& pointer);
  bool read_when(const json::value& v, const std::string& pointer, literals& when);

  static std::string range_text(const value_range& r);
  tree_node read_node(const json::value& v, tree_half half, collective what, const std::string& pointer,
                      const value_ranges& within, std::vector<leaf_place>& leaves);
  void read_steps(const json::value& v, tree_half half, collective what, const std::string& pointer,
                  std::optional<quantity> by, const value_ranges& within, tree_node& made,
                  std::vector<leaf_place>& leaves);
  /// Reports why no call reaches a step with the values `inner` out of `within`. Returns true if it
  /// reported a fault.
  bool report_unreachable(const std::string& pointer, int line, collective what, quantity by,
                          const value_ranges& within, const value_ranges& inner);
  std::optional<quantity> read_quantity(const json::value& v, const std::string& pointer);
  /// Reads a number, or a text such as "64K".
  std::optional<std::uint64_t> read_value(const json::value& v, const std::string& pointer,
                                          const std::string& name, std::uint64_t min, std::uint64_t max);
  bool read_use(const json::value& v, tree_half half, collective what, const std::string& pointer,
                leaf& made);
  bool use_composition(const json::value& v, collective what, const std::string& pointer, leaf& made);
  bool use_algorithm(const json::value& v, collective what, const std::string& pointer, leaf& made);
  bool read_with(const json::value& v, const std::string& pointer, bool named, leaf& made);

  std::shared_ptr<const tree_file> file_;
  extent required_;
  template_source templates_;
  std::vector<std::string> chain_;
  bool extends_ = false;
  literals when_;  // of the region that is being read
  document base_, made_;
  std::vector<fault> faults_;
};

}  // namespace tutti::detail
