// SPDX-License-Identifier: Apache-2.0
//
// The reader of machine files: it checks names, units, ranges and the connections of the network,
// and reports faults with their position. read_machine.cpp reads the parts of a machine,
// machine_values.cpp their values.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "selection/tree_reader.hpp"
#include "simulation/quantity_text.hpp"
#include "simulation/read_machine.hpp"

namespace tutti::simulation {

class machine_reader {
 public:
  explicit machine_reader(std::string_view file) : file_(file) {}

  void read(std::string_view text);
  machine_result finish() &&;

 private:
  void read_document(const json::value& v);
  void read_links(const json::value& v);
  void read_node(const json::value& v);
  void read_memory(const json::value& node, std::string_view key, memory_path& path);
  void read_messages(const json::value& v, const std::string& pointer, protocol& made);
  void read_network(const json::value& v);
  void read_flat(const json::value& v);
  void read_fat_tree(const json::value& v);
  void read_dragonfly(const json::value& v);
  void read_switches(const json::value& v);
  using switch_names = std::map<std::string, int, std::less<>>;
  bool read_switch(const json::value& v, const std::string& pointer, int number, switch_names& known);
  /// Sets the switches above others. `good`: the names and nodes of all switches are known.
  void connect(const json::value& list, const switch_names& known, bool good);
  void validate_tree(const json::value& list);

  /// By their place in the file. The tool reports the first one.
  void sort_faults(const json::value& root);
  void report(std::string pointer, int line, std::string reason, std::string suggestion = "");
  bool expect(const json::value& v, json::value::type is, const std::string& pointer, std::string_view what);
  /// Reports the first text or key with a control character, which messages and terminals would
  /// execute or lose.
  bool validate_texts(const json::value& v, const std::string& pointer);
  /// Reports members that are not in `known` (empty: any name is allowed), and duplicate members.
  void validate_keys(const json::value& object, const std::string& pointer,
                     std::span<const std::string_view> known);
  static const json::value* member(const json::value& object, std::string_view key) {
    for (std::size_t i = 0; i < object.keys.size(); ++i)
      if (object.keys[i].name == key) return &object.items[i];
    return nullptr;
  }
  /// The member, or null. Reports a missing member, unless the object has an unknown one, which may
  /// be a misspelt one.
  const json::value* require(const json::value& object, std::string_view key, const std::string& pointer,
                             std::string suggestion);
  bool read_quantity(const json::value& v, const std::string& pointer, quantity_kind kind, double& made);
  /// These keep the value of `made` if there is no such member.
  void read_quantity_member(const json::value& object, std::string_view key, const std::string& pointer,
                            quantity_kind kind, double& made);
  bool read_number_member(const json::value& object, std::string_view key, const std::string& pointer,
                          std::uint64_t min, std::uint64_t max, int& made);
  void read_required(const json::value& object, std::string_view key, const std::string& pointer,
                     quantity_kind kind, double& made);
  /// The name of a link of "links".
  void read_link(const json::value& object, std::string_view key, const std::string& pointer,
                 link_class& made);

  std::string file_;
  machine made_;
  std::map<std::string, link_class, std::less<>> links_;
  bool links_are_known_ = true;               // false: "links" could not be read
  std::vector<const json::value*> misspelt_;  // objects with unknown members
  std::vector<fault> faults_;
};

}  // namespace tutti::simulation
