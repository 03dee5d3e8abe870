// SPDX-License-Identifier: Apache-2.0
//
// Numbers are written in groups of seven bits. The first use of a name or a file writes its text,
// later ones its number.
#include "selection/tree_image.hpp"

#include <algorithm>
#include <stdexcept>

namespace tutti::detail {
namespace {

constexpr std::string_view image_begin = "tutti/tree-image/1";

class image_writer {
 public:
  explicit image_writer(bool with_origins) : with_origins_(with_origins) {}

  void write(const document& d) {
    text(image_begin);
    number(d.conditions.size());
    for (const declared_condition& c : d.conditions) {
      text(c.name);
      text(c.meaning);
    }
    number(d.machine.size());
    for (const auto& [key, value] : d.machine) {
      text(key);
      text(value);
    }
    write(d.composition);
    write(d.pure);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void number(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) bytes_ += static_cast<char>(n | 0x80);
    bytes_ += static_cast<char>(n);
  }
  void text(std::string_view t) {
    number(t.size());
    bytes_ += t;
  }
  // Returns whether the object is new.
  template <class T>
  bool index(std::vector<const T*>& known, const T* one) {
    const auto at = std::find(known.begin(), known.end(), one);
    number(static_cast<std::uint64_t>(at - known.begin()));
    if (at != known.end()) return false;
    known.push_back(one);
    return true;
  }
  void write(const origin& from) {
    if (!with_origins_) return;
    if (index(files_, from.file.get())) {
      number(from.file != nullptr ? 1 + int{from.file->builtin} : 0);
      if (from.file != nullptr) text(from.file->name);
    }
    number(static_cast<std::uint64_t>(from.line));
  }
  void write(const leaf& l) {
    number(static_cast<std::uint64_t>(l.what));
    if (const catalogue_entry* const entry = l.named(); entry != nullptr) {
      if (index(entries_, entry)) text(entry->name);
      for (const algorithm_parameter_range& p : entry->parameters)
        number(l.parameter_values()[static_cast<std::size_t>(p.which)]);
    }
    write(l.from);
  }
  void write(const tree_node& n) {
    number(n.steps.size());
    if (n.is_leaf()) return write(n.use);
    number(static_cast<std::uint64_t>(n.by));
    for (const tree_step& s : n.steps) {
      number(s.upper_bound);
      write(s.from);
      write(s.then);
    }
  }
  void write(const document::tree& t) {
    for (const std::vector<tree_region>& regions : t) {
      number(regions.size());
      for (const tree_region& r : regions) {
        number(r.when.mask);
        number(r.when.values);
        write(r.from);
        write(r.then);
      }
    }
  }

  bool with_origins_;
  std::string bytes_;
  std::vector<const tree_file*> files_;
  std::vector<const catalogue_entry*> entries_;
};

class image_reader {
 public:
  explicit image_reader(std::string_view image) : rest_(image) {}

  document read() {
    if (text() != image_begin) fail();
    document d;
    for (std::uint64_t n = number(); n > 0; --n) {
      const std::string_view name = text();
      d.conditions.push_back({std::string(name), std::string(text())});
    }
    for (std::uint64_t n = number(); n > 0; --n) {
      const std::string_view key = text();
      d.machine.emplace(key, text());
    }
    read(d.composition);
    read(d.pure);
    if (!rest_.empty()) fail();
    return d;
  }

 private:
  [[noreturn]] static void fail() { throw std::logic_error("an image of a built-in tree is damaged"); }

  std::uint64_t number() {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) fail();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      n |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return n;
    }
    fail();
  }
  // The number of elements that follow, each of which takes at least one byte.
  std::size_t count() {
    const std::uint64_t n = number();
    if (n > rest_.size()) fail();
    return static_cast<std::size_t>(n);
  }
  std::string_view text() {
    const std::size_t bytes = count();
    const std::string_view t = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return t;
  }
  origin read_origin() {
    const std::uint64_t at = number();
    if (at > files_.size()) fail();
    if (at == files_.size()) {
      const std::uint64_t kind = number();
      files_.push_back(
          kind == 0 ? nullptr : std::make_shared<const tree_file>(tree_file{std::string(text()), kind == 2}));
    }
    return {files_[at], static_cast<int>(number())};
  }
  const catalogue_entry* read_entry(collective what, bool composed) {
    const std::uint64_t at = number();
    if (at > entries_.size()) fail();
    if (at == entries_.size()) {
      const std::string_view name = text();
      entries_.push_back(composed ? static_cast<const catalogue_entry*>(find_composition(what, name))
                                  : find_algorithm(what, name));
      if (entries_.back() == nullptr) fail();
    }
    return entries_[at];
  }
  leaf read_leaf(collective what) {
    leaf l;
    l.what = static_cast<leaf::kind>(number());
    if (l.what == leaf::kind::algorithm || l.what == leaf::kind::composed) {
      const bool composed = l.what == leaf::kind::composed;
      const catalogue_entry* const entry = read_entry(what, composed);
      if (composed)
        l.composed = composed_choice(static_cast<const composed_algorithm*>(entry));
      else
        l.chosen = choice(static_cast<const pure_algorithm*>(entry));
      auto& values = composed ? l.composed.parameter_values : l.chosen.parameter_values;
      for (const algorithm_parameter_range& p : entry->parameters)
        values[static_cast<std::size_t>(p.which)] = static_cast<std::uint32_t>(number());
    }
    l.from = read_origin();
    return l;
  }
  tree_node read_node(collective what) {
    tree_node n;
    const std::size_t steps = count();
    if (steps == 0) {
      n.use = read_leaf(what);
      return n;
    }
    n.by = static_cast<quantity>(number());
    n.steps.resize(steps);
    for (tree_step& s : n.steps) {
      s.upper_bound = number();
      s.from = read_origin();
      s.then = read_node(what);
    }
    return n;
  }
  void read(document::tree& t) {
    for (std::size_t c = 0; c < t.size(); ++c) {
      t[c].resize(count());
      for (tree_region& r : t[c]) {
        r.when.mask = static_cast<condition_bits>(number());
        r.when.values = static_cast<condition_bits>(number());
        r.from = read_origin();
        r.then = read_node(static_cast<collective>(c));
      }
    }
  }

  std::string_view rest_;
  std::vector<std::shared_ptr<const tree_file>> files_;
  std::vector<const catalogue_entry*> entries_;
};

}  // namespace

std::string write_image(const document& d) {
  image_writer w(true);
  w.write(d);
  return w.take();
}

document read_image(std::string_view image) { return image_reader(image).read(); }

std::uint64_t hash_of(const document& d) {
  image_writer w(false);
  w.write(d);
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : w.take()) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace tutti::detail
