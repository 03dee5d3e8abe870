// SPDX-License-Identifier: Apache-2.0
//
// Declares decision trees. A tree has a list of regions for each collective; the first region that
// matches a call applies. Within a region, thresholds on ordered quantities lead to a leaf, which
// names an algorithm or the native collective.
//
// A document contains two trees: one chooses compositions, the other pure algorithms. It may extend
// a built-in document and state only the differences. It may declare conditions that an engine
// registers by name.
//
// A document that was read without faults is legal: no call reaches a leaf whose restrictions it
// violates. A total document also serves every call. Overlaying preserves both properties.
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

namespace tutti::detail {

/// The source of a part of a tree.
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
    native,     ///< the native collective
    algorithm,  ///< `chosen`
    pure,       ///< composition tree only: no composition, the pure tree decides
    composed    ///< composition tree only: `composed`
  };
  kind what = kind::native;
  choice chosen;
  composed_choice composed;
  origin from;

  /// The choice of the native collective.
  static leaf native() { return {}; }
  /// The algorithm or composition; null for the other kinds.
  const catalogue_entry* named() const noexcept;
  const algorithm_parameter_values& parameter_values() const noexcept {
    return what == kind::composed ? composed.parameter_values : chosen.parameter_values;
  }
  /// Returns whether both leaves choose the same, independent of their origin.
  bool same_choice(const leaf& other) const noexcept {
    return what == other.what && chosen == other.chosen && composed == other.composed;
  }
};
/// "ring", "native" or "@pure", as in a document.
std::string_view name_of(const leaf&) noexcept;
/// The name with parameters, as an override gives it: "chain:segment=65536".
std::string to_string(const leaf&);

struct tree_step;
/// A leaf, or steps in ascending order; the last step has no upper bound.
struct tree_node {
  leaf use;  ///< valid if there are no steps
  quantity by = quantity::bytes;
  std::vector<tree_step> steps;

  bool is_leaf() const noexcept { return steps.empty(); }
};
struct tree_step {
  static constexpr std::uint64_t open = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t upper_bound = open;  ///< the largest value that it serves
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
  /// Indexed by collective.
  using tree = std::array<std::vector<tree_region>, collective_names.size()>;
  tree composition, pure;
  /// The engine's conditions, in the order of the bits of selection_context::engine.
  std::vector<declared_condition> conditions;
  std::map<std::string, std::string> machine;

  const tree& of(tree_half h) const noexcept { return h == tree_half::pure ? pure : composition; }
};

/// A fault of a document, as reported to its author.
struct fault {
  std::string file;
  std::string pointer;  ///< JSON pointer; "" means the whole text
  int line = 0;
  std::string reason;
  std::string suggestion;  ///< may be empty

  /// "FILE:LINE: POINTER: reason (suggestion)"
  std::string text() const;
};

struct read_result {
  document made;              ///< valid only if there is no fault
  std::vector<fault> faults;  ///< all faults, by line
  /// Indexed by tree_half: whether the text itself contains that tree, not only the document that
  /// it extends.
  std::array<bool, 2> has_half{};

  bool good() const noexcept { return faults.empty(); }
};

/// Requirements on a text. A whole document has a total pure tree, itself or through the document
/// that it extends. Its composition tree must be total for each collective that it mentions. A
/// partial document is meant as an overlay on a whole one.
enum class extent : std::uint8_t { partial, whole };

/// The built-in trees: "common", one for each engine (default: the common one), and "peers/..." for
/// other MPIs, which builtin_tree_names() does not list. Empty if there is no such name.
std::string_view builtin_tree(std::string_view name) noexcept;
std::span<const std::string_view> builtin_tree_names() noexcept;

/// Maps a name in "extends" to a text; empty if there is none.
using template_source = std::string_view (*)(std::string_view name) noexcept;

/// Reads a document. If it extends another, the result is the overlay of both. It never throws,
/// whatever the text contains.
read_result read_tree(std::string_view text, std::string_view file, extent = extent::partial,
                      bool builtin = false, template_source = builtin_tree) noexcept;

/// Writes a text from which read_tree() yields the same document, including `machine`.
std::string write_tree(const document&);

/// Overlays `over` on `base`: for each collective the regions of `over` come first. Regions that no
/// call can reach any more are dropped. The result declares the conditions of both, those of `base`
/// first. Throws std::length_error if they are more than max_declared.
document overlay(const document& base, const document& over);

/// Returns the leaf for a call in one half of the document. If no region matches (the document is
/// not total), the pure half yields native if the engine offers it, otherwise a null algorithm. The
/// composition half yields "pure". If the document chooses native, but the engine offers it by name
/// only, the function decides again as if native were not offered.
const leaf& decide(const document&, const selection_context&, tree_half = tree_half::pure) noexcept;

/// Returns whether a tree of the document compares this quantity for calls of the collective.
bool tests_quantity(const document&, collective, quantity) noexcept;

/// The decision for a call, with its reasons.
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

/// The requirements of a leaf on the calls that reach it. `reach_too` includes conditions on the
/// reach of the group: it is set for leaves of regions that test these. Other regions assume groups
/// that can send to any of their ranks.
demand demands_of(const leaf&, bool reach_too = false);
/// Returns whether the call may run the choice of the leaf. why_not describes the reason if it may
/// not.
bool permits(const leaf&, const selection_context&) noexcept;
std::string why_not(const leaf&, const selection_context&);

/// Reorders the declared conditions: `first`, then the document's other conditions. Throws
/// std::length_error if these are more than max_declared.
void declare(document&, const std::vector<declared_condition>& first);

/// The tree of an engine, a whole document. Throws std::invalid_argument if there is none, and
/// std::logic_error if the tree has a fault.
document builtin_document(std::string_view engine);

/// Computes selection_context::engine for a document: which of its declared conditions hold.
/// `registered` is a range of the running engine's conditions, whose elements have `name` and
/// `holds`. A condition that is not registered does not hold.
template <class Registered>
std::uint32_t engine_bits(const document& d, const Registered& registered) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < d.conditions.size(); ++i)
    for (const auto& one : registered)
      if (one.holds && std::string_view(one.name) == d.conditions[i].name) bits |= std::uint32_t{1} << i;
  return bits;
}

/// The conditions that a document declares but the running engine does not register.
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

}  // namespace tutti::detail
