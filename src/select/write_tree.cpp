// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "select/tree.hpp"

namespace tutti {
namespace {

std::string quoted(std::string_view text) {
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

// The members of a region or step that say what it chooses.
void write(const tree_node& n, const std::string& indent, std::string& text) {
  if (n.is_leaf()) {
    const leaf& l = n.use;
    text += "\"use\": " + quoted(l.what == leaf::kind::native ? "native"
                                 : l.what == leaf::kind::pure ? "@pure"
                                                              : l.chosen.pure->short_name());
    if (l.what != leaf::kind::algorithm || l.chosen.pure->parameters.empty()) return;
    text += ", \"with\": {";
    const char* comma = "";
    for (const knob_range& p : l.chosen.pure->parameters) {
      text += comma + quoted(name_of(p.which)) + ": " +
              std::to_string(l.chosen.knobs[static_cast<std::size_t>(p.which)]);
      comma = ", ";
    }
    text += "}";
    return;
  }
  text += "\"by\": " + quoted(name_of(n.by)) + ", \"steps\": [";
  const char* comma = "";
  for (const tree_step& s : n.steps) {
    text += comma + ("\n" + indent) + "  {";
    if (s.upto != tree_step::open) text += "\"upto\": " + std::to_string(s.upto) + ", ";
    write(s.then, indent + "  ", text);
    text += "}";
    comma = ",";
  }
  text += "]";
}

void write(const document::tree& t, std::string& text) {
  text += "{";
  const char* comma = "";
  for (std::size_t c = 0; c < t.size(); ++c) {
    if (t[c].empty()) continue;
    text += comma + ("\n    " + quoted(collective_names[c])) + ": [";
    comma = ",";
    const char* next = "";
    for (const tree_region& r : t[c]) {
      text += next + std::string("\n      {");
      next = ",";
      if (r.when.mask != 0) {
        text += "\"when\": {";
        const char* between = "";
        for (const condition_entry& e : conditions()) {
          if (!(r.when.mask & bit(e.which))) continue;
          text += between + quoted(e.name) + (r.when.values & bit(e.which) ? ": true" : ": false");
          between = ", ";
        }
        text += "}, ";
      }
      write(r.then, "      ", text);
      text += "}";
    }
    text += "]";
  }
  text += "\n  }";
}

bool says_nothing(const document::tree& t) {
  for (const auto& regions : t)
    if (!regions.empty()) return false;
  return true;
}

}  // namespace

std::string write_tree(const document& d) {
  std::string text = "{\n  \"schema\": \"tutti/tree/1\"";
  if (!d.machine.empty()) {
    text += ",\n  \"machine\": {";
    const char* comma = "";
    for (const auto& [key, value] : d.machine) {
      text += comma + ("\n    " + quoted(key)) + ": " + quoted(value);
      comma = ",";
    }
    text += "\n  }";
  }
  if (!says_nothing(d.composition)) {
    text += ",\n  \"composition\": ";
    write(d.composition, text);
  }
  text += ",\n  \"pure\": ";
  write(d.pure, text);
  return text + "\n}\n";
}

}  // namespace tutti
