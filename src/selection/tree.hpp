// SPDX-License-Identifier: Apache-2.0
//
// Decision trees: for each collective a list of regions, of which the first that fits a call is taken, and
// within it thresholds on ordered quantities down to a leaf, which names an algorithm or the engine's own
// collective. A document holds two of them, one that chooses compositions and one that chooses pure
// algorithms. It may extend a built-in one and say only what differs, and declare conditions that an engine
// registers by name.
//
// A document that was read without faults is legal: no call reaches a leaf whose restrictions it violates.
// One that is total besides serves every call. Overlaying keeps both.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "selection/choose.hpp"
#include "selection/conditions.hpp"
#include "selection/restrictions.hpp"

namespace tutti {

/// Where a part of a tree was written.
struct tree_file {
  std::string name;
  bool builtin = false;
};
struct origin {
  std::shared_ptr<const tree_file> file;
  int line = 0;
};

struct leaf {
  enum class kind : std::uint8_t {
    native,     ///< the engine's own collective
    algorithm,  ///< `chosen`
    pure,       ///< of the composition tree only: no composition, the pure tree chooses
    composed    ///< of the composition tree only: `composed`
  };
  kind what = kind::native;
  choice chosen;
  composed_choice composed;
  origin from;

  /// The algorithm or composition; null for the others.
  const catalogue_entry* named() const noexcept;
  const algorithm_parameter_values& parameter_values() const noexcept {
    return what == kind::composed ? composed.parameter_values : chosen.parameter_values;
  }
  /// True where both choose the same, wherever they are written.
  bool chooses_as(const leaf& other) const noexcept {
    return what == other.what && chosen == other.chosen && composed == other.composed;
  }
};
/// "ring", "native", "@pure": as it is written in a document.
std::string_view name_of(const leaf&) noexcept;
/// With its parameters, as an override names it: "chain:segment=65536".
std::string to_string(const leaf&);

struct tree_step;
/// A leaf, or steps in ascending order, the last of which is open.
struct tree_node {
  leaf use;  ///< where there are no steps
  quantity by = quantity::bytes;
  std::vector<tree_step> steps;

  bool is_leaf() const noexcept { return steps.empty(); }
};
struct tree_step {
  static constexpr std::uint64_t open = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t upper_bound = open;  ///< the greatest value that it serves
  tree_node then;
  origin from;
};

struct tree_region {
  literals when;
  tree_node then;
  origin from;
};

enum class tree_half : std::uint8_t { composition, pure };

struct document {
  /// By collective.
  using tree = std::array<std::vector<tree_region>, collective_names.size()>;
  tree composition, pure;
  /// Of the engine, by the bits of selection_context::engine.
  std::vector<declared_condition> conditions;
  std::map<std::string, std::string> machine;

  const tree& of(tree_half h) const noexcept { return h == tree_half::pure ? pure : composition; }
};

/// A fault of a tree, as told to its author.
struct fault {
  std::string file;
  std::string pointer;  ///< JSON pointer; "" is the whole text
  int line = 0;
  std::string reason;
  std::string suggestion;  ///< may be empty

  /// "FILE:LINE: POINTER: reason (suggestion)"
  std::string text() const;
};

struct read_result {
  document made;              ///< of use where there is no fault
  std::vector<fault> faults;  ///< all of them, by line
  /// By tree_half: whether the text itself has trees of it, besides those of what it extends.
  std::array<bool, 2> holds{};

  bool good() const noexcept { return faults.empty(); }
};

/// What a text must be: a whole document has a total pure tree (and, where it says anything of a collective's
/// compositions, a total one of these), of its own or with the template that it extends; a partial one is to
/// be overlaid on a whole one.
enum class extent : std::uint8_t { partial, whole };

/// The built-in trees: "common" and one for each engine, the common one where the engine has none of its own.
/// Empty where there is none of this name.
std::string_view builtin_tree(std::string_view name) noexcept;
std::span<const std::string_view> builtin_tree_names() noexcept;

/// Where "extends" finds a text by its name, empty for none.
using template_source = std::string_view (*)(std::string_view name) noexcept;

/// Reads a document; what it extends is under it in the result. Never throws, whatever the text is.
read_result read_tree(std::string_view text, std::string_view file, extent = extent::partial,
                      bool builtin = false, template_source = builtin_tree) noexcept;

/// A text that read_tree() makes the same document of. The machine is written too.
std::string write_tree(const document&);

/// `over` on `base`: for each collective the regions of `over` come first; regions that no call reaches any
/// more are dropped. The conditions that they declare are united, those of `base` first. Throws
/// std::length_error where these are more than max_declared.
document overlay(const document& base, const document& over);

/// The leaf of a call in a half of the document. Where no region fits (the document is not total) the leaf is
/// native if the engine offers that, and else the pure tree of compositions or a null algorithm. Where the
/// engine offers native by name only, a document that chooses it decides again as if there were none.
const leaf& decide(const document&, const selection_context&, tree_half = tree_half::pure) noexcept;

/// True if a tree of the document divides the calls of the collective by this quantity.
bool asks(const document&, collective, quantity) noexcept;

/// How a call is decided.
struct explanation {
  struct line {
    std::string text;  ///< "when native = true", "by bytes = 512: upto 1024"
    origin from;
  };
  struct rejection {
    std::string algorithm, reason;
  };
  std::vector<line> path;
  leaf chosen;
  std::string algorithm;  ///< "allreduce/ring", "allreduce/native", "@pure"
  std::string source;     ///< "default" or "file"
  std::vector<rejection> rejected;
};
explanation explain(const document&, const selection_context&, tree_half = tree_half::pure);

/// What a leaf demands of the calls that reach it.
/// `reach_too`: in a region that asks what kind of group it is; else groups can send to any of their ranks.
demand demands_of(const leaf&, bool reach_too = false);
/// True where the call may run what the leaf chooses; and why not, in words.
bool permits(const leaf&, const selection_context&) noexcept;
std::string why_not(const leaf&, const selection_context&);

/// Makes the list of declared conditions begin with `first`, followed by the document's own others. Throws
/// std::length_error where these are more than max_declared.
void declare(document&, const std::vector<declared_condition>& first);

/// The tree of an engine: whole. Throws std::invalid_argument where there is none, and std::logic_error where
/// the tree is at fault.
document builtin_document(std::string_view engine);

/// selection_context::engine for a document: which of the conditions that it declares hold. `registered` are
/// those of the running engine, a range of what has a `name` and `holds`; what is not among them does not
/// hold.
template <class Registered>
std::uint32_t engine_bits(const document& d, const Registered& registered) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < d.conditions.size(); ++i)
    for (const auto& one : registered)
      if (one.holds && std::string_view(one.name) == d.conditions[i].name) bits |= std::uint32_t{1} << i;
  return bits;
}

/// The conditions that a document declares and the running engine does not register.
template <class Registered>
std::vector<std::string> unregistered(const document& d, const Registered& registered) {
  std::vector<std::string> names;
  for (const declared_condition& c : d.conditions) {
    bool found = false;
    for (const auto& one : registered) found = found || std::string_view(one.name) == c.name;
    if (!found) names.push_back(c.name);
  }
  return names;
}

}  // namespace tutti
