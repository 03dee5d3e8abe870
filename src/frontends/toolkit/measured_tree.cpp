// SPDX-License-Identifier: Apache-2.0
#include "frontends/toolkit/measured_tree.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::detail {
namespace {

// A node of an outline. Its name follows.
struct outline_entry {
  std::uint64_t each, name;
  std::int32_t depth;
  std::uint32_t is_timer;
};

}  // namespace

// Programs use the same names in the same order, so the search begins with the last child found and
// those after it.
int measured_tree::find(int parent, bool is_timer, std::string_view name) const noexcept {
  const node& p = at(parent);
  const auto fits = [&](int i) { return at(i).is_timer == is_timer && at(i).name == name; };
  if (p.last_found != none) {
    if (fits(p.last_found)) return p.last_found;
    for (int i = at(p.last_found).next; i != none; i = at(i).next)
      if (fits(i)) return i;
  }
  for (int i = p.first_child; i != p.last_found; i = at(i).next)
    if (fits(i)) return i;
  return none;
}

int measured_tree::child(int parent, bool is_timer, std::string_view name) {
  int i = find(parent, is_timer, name);
  if (i == none) {
    i = static_cast<int>(nodes_.size());
    node made;
    made.name = name;
    made.is_timer = is_timer;
    made.parent = parent;
    made.depth = at(parent).depth + 1;
    nodes_.push_back(std::move(made));
    int* end = &nodes_[static_cast<std::size_t>(parent)].first_child;
    while (*end != none) end = &nodes_[static_cast<std::size_t>(*end)].next;
    *end = i;
  }
  nodes_[static_cast<std::size_t>(parent)].last_found = i;
  return i;
}

std::vector<int> measured_tree::in_order() const {
  std::vector<int> all;
  for (int i = at(top).first_child; i != none;) {
    all.push_back(i);
    if (at(i).first_child != none) {
      i = at(i).first_child;
      continue;
    }
    while (i != top && at(i).next == none) i = at(i).parent;
    i = i == top ? none : at(i).next;
  }
  return all;
}

std::vector<char> measured_tree::outline() const {
  std::vector<char> text;
  for (const int i : in_order()) {
    const node& n = at(i);
    const outline_entry entry{n.each.size(), n.name.size(), n.depth, n.is_timer};
    const char* bytes = reinterpret_cast<const char*>(&entry);
    text.insert(text.end(), bytes, bytes + sizeof entry);
    text.insert(text.end(), n.name.begin(), n.name.end());
  }
  return text;
}

void measured_tree::merge(const char* outline, std::size_t length) {
  std::vector<int> above{top};  // the last node of each depth
  for (const char* end = outline + length; outline != end;) {
    outline_entry entry;
    std::memcpy(&entry, outline, sizeof entry);
    outline += sizeof entry;
    above.resize(static_cast<std::size_t>(entry.depth) + 1);
    above.push_back(child(above.back(), entry.is_timer != 0, {outline, entry.name}));
    std::vector<double>& each = nodes_[static_cast<std::size_t>(above.back())].each;
    each.resize(std::max<std::size_t>(each.size(), entry.each));
    outline += entry.name;
  }
}

}  // namespace tutti::detail
