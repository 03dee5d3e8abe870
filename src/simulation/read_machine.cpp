// SPDX-License-Identifier: Apache-2.0
#include "simulation/read_machine.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "selection/suggestion.hpp"
#include "simulation/machine_reader.hpp"
#include "simulation/network.hpp"

namespace tutti::simulation {
namespace {

constexpr std::string_view schema_name = "tutti/machine/1";
constexpr std::size_t max_text_bytes = std::size_t{1} << 20;
constexpr std::uint64_t max_machine_nodes = std::uint64_t{1} << 20, max_links = std::uint64_t{1} << 26;
constexpr std::size_t max_switches = 4096, max_levels = max_hops / 2;

}  // namespace

void machine_reader::read(std::string_view text) {
  if (text.size() > max_text_bytes) return report("", 1, "the text is longer than 1 MiB");
  if (const auto zero = text.find('\0'); zero != text.npos)
    return report(
        "", 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n')),
        "the text contains a zero byte");
  const json::parsed parsed = json::parse(text);
  if (!parsed.good) return report("", parsed.line, parsed.problem);
  if (!expect(parsed.root, json::value::type::object, "", "a machine")) return;
  if (!validate_texts(parsed.root, "")) return;
  read_document(parsed.root);
  sort_faults(parsed.root);
}

machine_result machine_reader::finish() && { return {std::move(made_), std::move(faults_)}; }

void machine_reader::read_document(const json::value& v) {
  static constexpr std::string_view keys[] = {"schema", "about", "node", "links", "network"};
  validate_keys(v, "", keys);
  const json::value* schema = require(v, "schema", "", "\"schema\": \"tutti/machine/1\"");
  if (schema != nullptr && expect(*schema, json::value::type::text, "/schema", "the schema") &&
      schema->text != schema_name)
    report("/schema", schema->line, "the schema " + quoted(schema->text) + " is unknown",
           "write " + quoted(schema_name));
  if (const json::value* about = member(v, "about"))
    if (expect(*about, json::value::type::text, "/about", "\"about\"")) made_.about = about->text;
  if (const json::value* links = member(v, "links")) read_links(*links);
  if (const json::value* node = require(v, "node", "", "the ranks of a node and its memory"))
    read_node(*node);
  if (const json::value* network = member(v, "network")) read_network(*network);
}

void machine_reader::read_links(const json::value& v) {
  if (!expect(v, json::value::type::object, "/links", "\"links\"")) {
    links_are_known_ = false;
    return;
  }
  validate_keys(v, "/links", {});
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const std::string here = child_pointer("/links", v.keys[i].name);
    static constexpr std::string_view keys[] = {"latency", "bandwidth"};
    link_class& l = links_[v.keys[i].name];  // it exists, whatever its faults
    if (!expect(v.items[i], json::value::type::object, here, "a link")) continue;
    validate_keys(v.items[i], here, keys);
    read_required(v.items[i], "latency", here, quantity_kind::time, l.latency);
    read_required(v.items[i], "bandwidth", here, quantity_kind::bandwidth, l.bandwidth);
  }
}

void machine_reader::read_node(const json::value& v) {
  static constexpr std::string_view keys[] = {"ranks",    "sockets", "memory", "between_sockets",
                                              "messages", "copy",    "reduce"};
  if (!expect(v, json::value::type::object, "/node", "\"node\"")) return;
  validate_keys(v, "/node", keys);
  const bool ranks_are_known = require(v, "ranks", "/node", "\"ranks\": 8") != nullptr &&
                               read_number_member(v, "ranks", "/node", 1, 4096, made_.ranks_per_node);
  const bool sockets_are_known = read_number_member(v, "sockets", "/node", 1, 64, made_.sockets);
  if (ranks_are_known && sockets_are_known && made_.ranks_per_node % made_.sockets != 0)
    report("/node/sockets", member(v, "sockets")->line,
           std::to_string(made_.sockets) + " sockets do not divide " + std::to_string(made_.ranks_per_node) +
               " ranks");
  read_memory(v, "memory", made_.within_socket);
  made_.between_sockets = made_.within_socket;
  if (const json::value* between = member(v, "between_sockets")) {
    if (sockets_are_known && made_.sockets == 1)
      report("/node/between_sockets", between->line, "the node has one socket", "add \"sockets\": 2");
    read_memory(v, "between_sockets", made_.between_sockets);
  }
  if (const json::value* messages = member(v, "messages"))
    read_messages(*messages, "/node/messages", made_.within_node);
  read_quantity_member(v, "copy", "/node", quantity_kind::bandwidth, made_.copy_speed);
  read_quantity_member(v, "reduce", "/node", quantity_kind::bandwidth, made_.reduce_speed);
}

void machine_reader::read_memory(const json::value& node, std::string_view key, memory_path& path) {
  const json::value* v = member(node, key);
  if (v == nullptr) {
    if (made_.ranks_per_node > 1 && key == "memory")
      require(node, key, "/node", "ranks of one node exchange messages in memory");
    return;
  }
  const std::string here = child_pointer("/node", key);
  static constexpr std::string_view keys[] = {"latency", "bandwidth", "total"};
  if (!expect(*v, json::value::type::object, here, quoted(key))) return;
  validate_keys(*v, here, keys);
  path = {};
  read_required(*v, "latency", here, quantity_kind::time, path.latency);
  read_required(*v, "bandwidth", here, quantity_kind::bandwidth, path.bandwidth);
  read_quantity_member(*v, "total", here, quantity_kind::bandwidth, path.total);
}

void machine_reader::read_messages(const json::value& v, const std::string& pointer, protocol& made) {
  static constexpr std::string_view keys[] = {
      "eager_limit",         "envelope",  "send_overhead", "receive_overhead",
      "rendezvous_overhead", "handshake", "bandwidth"};
  if (!expect(v, json::value::type::object, pointer, "\"messages\"")) return;
  validate_keys(v, pointer, keys);
  double limit = static_cast<double>(made.eager_limit), envelope = 0;
  read_quantity_member(v, "eager_limit", pointer, quantity_kind::size, limit);
  read_quantity_member(v, "envelope", pointer, quantity_kind::size, envelope);
  made.eager_limit = static_cast<std::uint64_t>(limit);
  made.envelope = static_cast<std::uint64_t>(envelope);
  read_quantity_member(v, "send_overhead", pointer, quantity_kind::time, made.send_overhead);
  read_quantity_member(v, "receive_overhead", pointer, quantity_kind::time, made.receive_overhead);
  read_quantity_member(v, "rendezvous_overhead", pointer, quantity_kind::time, made.rendezvous_overhead);
  read_quantity_member(v, "handshake", pointer, quantity_kind::time, made.handshake);
  read_quantity_member(v, "bandwidth", pointer, quantity_kind::bandwidth, made.message_bandwidth);
}

void machine_reader::read_network(const json::value& v) {
  if (!expect(v, json::value::type::object, "/network", "\"network\"")) return;
  static constexpr std::string_view names[] = {"flat", "fat_tree", "dragonfly", "tree"};
  const json::value* kind = require(v, "topology", "/network", "flat, fat_tree, dragonfly or tree");
  if (kind == nullptr || !expect(*kind, json::value::type::text, "/network/topology", "the topology")) return;
  if (const json::value* messages = member(v, "messages"))
    read_messages(*messages, "/network/messages", made_.between_nodes);
  if (kind->text == "flat") return read_flat(v);
  if (kind->text == "fat_tree") return read_fat_tree(v);
  if (kind->text == "dragonfly") return read_dragonfly(v);
  if (kind->text == "tree") return read_switches(v);
  report("/network/topology", kind->line, "there is no topology " + quoted(kind->text),
         suggest(kind->text, names));
}

void machine_reader::read_flat(const json::value& v) {
  static constexpr std::string_view keys[] = {"topology", "messages", "link"};
  validate_keys(v, "/network", keys);
  made_.network = machine::topology::fat_tree;
  made_.levels.assign(1, {});
  read_link(v, "link", "/network", made_.levels[0].link);
}

void machine_reader::read_fat_tree(const json::value& v) {
  static constexpr std::string_view keys[] = {"topology", "messages", "levels"};
  validate_keys(v, "/network", keys);
  made_.network = machine::topology::fat_tree;
  const std::string here = "/network/levels";
  const json::value* levels = require(v, "levels", "/network", "a list of levels, from the nodes up");
  if (levels == nullptr || !expect(*levels, json::value::type::list, here, "\"levels\"")) return;
  if (levels->items.empty() || levels->items.size() > max_levels)
    return report(here, levels->line, "there are " + std::to_string(levels->items.size()) + " levels",
                  "a fat tree has 1 to " + std::to_string(max_levels));
  std::uint64_t nodes = 1, width = 1;
  for (std::size_t i = 0; i < levels->items.size(); ++i) {
    const json::value& one = levels->items[i];
    const std::string place = child_pointer(here, i);
    static constexpr std::string_view level_keys[] = {"children", "parents", "link"};
    if (!expect(one, json::value::type::object, place, "a level")) continue;
    validate_keys(one, place, level_keys);
    fat_tree_level l;
    const bool top = i + 1 == levels->items.size();
    if (!top) require(one, "children", place, "only the level at the top may have any number");
    read_number_member(one, "children", place, 1, 65536, l.children);
    read_number_member(one, "parents", place, 1, 1024, l.parents);
    read_link(one, "link", place, l.link);
    nodes *= static_cast<std::uint64_t>(std::max(1, l.children));
    width *= static_cast<std::uint64_t>(l.parents);
    if (nodes > max_machine_nodes)
      return report(place, one.line,
                    "the machine has more than " + std::to_string(max_machine_nodes) + " nodes");
    if (width > 4096)
      return report(place, one.line, "the machine has more than 4096 switches above each node");
    made_.levels.push_back(l);
  }
}

void machine_reader::read_dragonfly(const json::value& v) {
  static constexpr std::string_view keys[] = {"topology", "messages",  "groups",     "routers",
                                              "nodes",    "node_link", "local_link", "global_link"};
  validate_keys(v, "/network", keys);
  made_.network = machine::topology::dragonfly;
  dragonfly& d = made_.groups;
  const struct {
    std::string_view key;
    int* value;
  } numbers[] = {{"groups", &d.groups}, {"routers", &d.routers}, {"nodes", &d.nodes}};
  for (const auto& n : numbers)
    if (require(v, n.key, "/network", quoted(n.key) + ": 8") != nullptr)
      read_number_member(v, n.key, "/network", 1, 4096, *n.value);
  const auto size = [](int n) { return static_cast<std::uint64_t>(n); };
  if (size(d.groups) * size(d.routers) * size(d.nodes) > max_machine_nodes)
    report("/network", v.line, "the machine has more than " + std::to_string(max_machine_nodes) + " nodes");
  if (size(d.groups) * (size(d.routers) * size(d.routers) + size(d.groups)) > max_links)
    report("/network", v.line, "the machine has more than " + std::to_string(max_links) + " links");
  read_link(v, "node_link", "/network", d.node_link);
  read_link(v, "local_link", "/network", d.local_link);
  read_link(v, "global_link", "/network", d.global_link);
}

void machine_reader::read_switches(const json::value& v) {
  static constexpr std::string_view keys[] = {"topology", "messages", "node_link", "switches"};
  validate_keys(v, "/network", keys);
  made_.network = machine::topology::tree;
  read_link(v, "node_link", "/network", made_.node_link);
  const std::string here = "/network/switches";
  const json::value* list = require(v, "switches", "/network", "a list of switches");
  if (list == nullptr || !expect(*list, json::value::type::list, here, "\"switches\"")) return;
  if (list->items.empty() || list->items.size() > max_switches)
    return report(here, list->line, "there are " + std::to_string(list->items.size()) + " switches",
                  "a tree has 1 to " + std::to_string(max_switches));
  std::map<std::string, int, std::less<>> known;
  made_.switches.resize(list->items.size());
  bool good = true;
  for (std::size_t i = 0; i < list->items.size(); ++i)
    good = read_switch(list->items[i], child_pointer(here, i), static_cast<int>(i), known) && good;
  connect(*list, known, good);
}

// Returns whether its name and its nodes are known.
bool machine_reader::read_switch(const json::value& v, const std::string& pointer, int number,
                                 switch_names& known) {
  static constexpr std::string_view keys[] = {"name", "above", "link", "nodes"};
  if (!expect(v, json::value::type::object, pointer, "a switch")) return false;
  validate_keys(v, pointer, keys);
  tree_switch& s = made_.switches[static_cast<std::size_t>(number)];
  const bool has_nodes = read_number_member(v, "nodes", pointer, 0, 65536, s.nodes);
  const std::string here = child_pointer(pointer, "name");
  const json::value* name = require(v, "name", pointer, "a name for \"above\"");
  if (name == nullptr || !expect(*name, json::value::type::text, here, "a name")) return false;
  s.name = echoed(name->text);
  const bool is_new = known.emplace(name->text, number).second;
  if (!is_new) report(here, name->line, "there are two switches " + quoted(name->text));
  return has_nodes && is_new;
}

// The switches above others, once all names are known.
void machine_reader::connect(const json::value& list, const switch_names& known, bool good) {
  const std::string here = "/network/switches";
  int roots = 0;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const json::value& one = list.items[i];
    const std::string place = child_pointer(here, i);
    tree_switch& s = made_.switches[i];
    if (one.is != json::value::type::object) continue;
    const json::value* above = member(one, "above");
    if (above == nullptr) {
      if (good && ++roots == 2)
        report(place, one.line, "the switch " + quoted(s.name) + " has no link to the rest of the network",
               "only one switch is the root; name the switch above this one");
      if (const json::value* link = member(one, "link"))
        report(child_pointer(place, "link"), link->line, "the root has no link upwards", "remove it");
      continue;
    }
    read_link(one, "link", place, s.link);
    if (!expect(*above, json::value::type::text, child_pointer(place, "above"), "\"above\"")) {
      good = false;
      continue;
    }
    const auto found = known.find(above->text);
    if (found != known.end()) {
      s.above = found->second;
      continue;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, index] : known) names.push_back(name);
    if (good || names.size() == list.items.size())
      report(child_pointer(place, "above"), above->line, "there is no switch " + quoted(above->text),
             suggest(above->text, std::span(names).first(std::min<std::size_t>(names.size(), 10))));
    good = false;
  }
  if (good) validate_tree(list);
}

// No cycle, no route that is too long, and some nodes.
void machine_reader::validate_tree(const json::value& list) {
  const std::string here = "/network/switches";
  for (std::size_t i = 0; i < made_.switches.size(); ++i) {
    std::size_t depth = 1;
    for (int s = made_.switches[i].above; s >= 0 && depth <= made_.switches.size(); ++depth)
      s = made_.switches[static_cast<std::size_t>(s)].above;
    if (depth > made_.switches.size())
      return report(child_pointer(here, i), list.items[i].line,
                    "the switches form a cycle: going up from " + quoted(made_.switches[i].name) +
                        " leads back to a switch that was passed",
                    "one switch is the root and has no \"above\"");
    if (2 * depth > max_hops)
      return report(
          child_pointer(here, i), list.items[i].line,
          "the switch " + quoted(made_.switches[i].name) + " is " + std::to_string(depth) + " levels deep",
          "a tree has at most " + std::to_string(max_hops / 2));
  }
  std::int64_t nodes = 0;
  for (const tree_switch& s : made_.switches) nodes += s.nodes;
  if (nodes == 0) report(here, list.line, "no switch has nodes", "add \"nodes\": 16 to one of them");
  if (nodes > static_cast<std::int64_t>(max_machine_nodes))
    report(here, list.line, "the machine has more than " + std::to_string(max_machine_nodes) + " nodes");
}

machine_result read_machine(std::string_view text, std::string_view file) noexcept {
  try {
    machine_reader r(file);
    r.read(text);
    return std::move(r).finish();
  } catch (...) {  // only std::bad_alloc is possible
    machine_result failed;
    failed.faults.push_back({std::string(file), "", 1, "not enough memory", ""});
    return failed;
  }
}

}  // namespace tutti::simulation
