// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "selection/tree.hpp"

namespace tutti::detail {
namespace {

std::string json_string(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      made += code;
    } else {
      made += c;
    }
  }
  return made + "\"";
}

// Writes the members of a region or step that state its choice.
void write(const tree_node& n, const std::string& indent, std::string& text) {
  if (n.is_leaf()) {
    const leaf& l = n.use;
    text += "\"use\": " + json_string(name_of(l));
    const catalogue_entry* const entry = l.named();
    if (entry == nullptr || entry->parameters.empty()) return;
    text += ", \"with\": {";
    const char* comma = "";
    for (const algorithm_parameter_range& p : entry->parameters) {
      text += comma + json_string(name_of(p.which)) + ": " +
              std::to_string(l.parameter_values()[static_cast<std::size_t>(p.which)]);
      comma = ", ";
    }
    text += "}";
    return;
  }
  text += "\"by\": " + json_string(name_of(n.by)) + ", \"steps\": [";
  const char* comma = "";
  for (const tree_step& s : n.steps) {
    text += comma + ("\n" + indent) + "  {";
    if (s.upper_bound != tree_step::open) text += "\"upto\": " + std::to_string(s.upper_bound) + ", ";
    write(s.then, indent + "  ", text);
    text += "}";
    comma = ",";
  }
  text += "]";
}

void write(const document::tree& t, const document& d, std::string& text) {
  text += "{";
  const char* comma = "";
  for (std::size_t c = 0; c < t.size(); ++c) {
    if (t[c].empty()) continue;
    text += comma + ("\n    " + json_string(collective_names[c])) + ": [";
    comma = ",";
    const char* next = "";
    for (const tree_region& r : t[c]) {
      text += next + std::string("\n      {");
      next = ",";
      if (r.when.mask != 0) {
        text += "\"when\": {";
        const char* between = "";
        for_each_condition(r.when.mask, [&](condition c) {
          text += between + json_string(name_of(c, d.conditions)) +
                  (r.when.values & bit(c) ? ": true" : ": false");
          between = ", ";
        });
        text += "}, ";
      }
      write(r.then, "      ", text);
      text += "}";
    }
    text += "]";
  }
  text += "\n  }";
}

bool is_empty(const document::tree& t) {
  for (const auto& regions : t)
    if (!regions.empty()) return false;
  return true;
}

}  // namespace

std::string write_tree(const document& d) {
  std::string text = "{\n  \"schema\": \"tutti/tree/1\"";
  const auto write_texts = [&](const char* name, const auto& pairs) {
    if (pairs.empty()) return;
    text += std::string(",\n  \"") + name + "\": {";
    const char* comma = "";
    for (const auto& [key, value] : pairs) {
      text += comma + ("\n    " + json_string(key)) + ": " + json_string(value);
      comma = ",";
    }
    text += "\n  }";
  };
  write_texts("machine", d.machine);
  write_texts("conditions", d.conditions);
  if (!is_empty(d.composition)) {
    text += ",\n  \"composition\": ";
    write(d.composition, d, text);
  }
  text += ",\n  \"pure\": ";
  write(d.pure, d, text);
  return text + "\n}\n";
}

}  // namespace tutti::detail
