// SPDX-License-Identifier: Apache-2.0
//
// Builds documents from documents: overlays, and the built-in documents.
#include <bit>
#include <stdexcept>

#include "base/report_text.hpp"
#include "selection/tree_image.hpp"
#include "selection/truth_set.hpp"

namespace tutti::detail {
namespace {

std::vector<tree_region> overlaid(const std::vector<tree_region>& base, const std::vector<tree_region>& over,
                                  collective what) {
  if (over.empty()) return base;
  condition_bits mentioned = 0;
  for (const tree_region& r : over) mentioned |= r.when.mask;
  for (const tree_region& r : base) mentioned |= r.when.mask;
  std::vector<tree_region> all;
  // too many to compute which regions are reachable
  if (std::popcount(mentioned) > truth_set::max_conditions) {
    all = over;
    all.insert(all.end(), base.begin(), base.end());
    return all;
  }
  truth_set remaining(mentioned, what);
  for (const auto* regions : {&over, &base})
    for (const tree_region& r : *regions) {
      if (!remaining.intersects(r.when)) continue;
      remaining.subtract(r.when);
      all.push_back(r);
    }
  return all;
}

}  // namespace

void declare(document& d, const std::vector<declared_condition>& first) {
  std::vector<declared_condition> all = first;
  std::vector<condition> renumbered;  // the new number of each condition that the document declares
  for (const declared_condition& one : d.conditions) {
    std::size_t i = 0;
    while (i < all.size() && all[i].name != one.name) ++i;
    if (i == all.size()) all.push_back(one);
    if (all.size() > max_declared) throw std::length_error("too many conditions of engines");
    renumbered.push_back(declared(i));
  }
  for (document::tree* half : {&d.composition, &d.pure})
    for (std::vector<tree_region>& regions : *half)
      for (tree_region& r : regions) {
        literals moved;
        for_each_condition(r.when.mask, [&](condition c) {
          const bool value = (r.when.values & bit(c)) != 0;
          const auto i = static_cast<std::size_t>(c) - static_cast<std::size_t>(declared(0));
          moved.demand(is_declared(c) ? renumbered[i] : c, value);
        });
        r.when = moved;
      }
  d.conditions = std::move(all);
}

document overlay(const document& base, const document& over) {
  document upper = over;
  declare(upper, base.conditions);
  document made;
  for (std::size_t c = 0; c < collective_names.size(); ++c) {
    const auto what = static_cast<collective>(c);
    made.composition[c] = overlaid(base.composition[c], upper.composition[c], what);
    made.pure[c] = overlaid(base.pure[c], upper.pure[c], what);
  }
  made.conditions = std::move(upper.conditions);
  made.machine = over.machine.empty() ? base.machine : over.machine;
  return made;
}

document builtin_document(std::string_view engine) {
  if (const std::string_view image = builtin_image(engine); !image.empty()) return read_image(image);
  const std::string_view text = builtin_tree(engine);
  if (text.empty()) throw std::invalid_argument("there is no built-in tree \"" + echoed(engine) + "\"");
  read_result read = read_tree(text, "trees/" + std::string(engine) + ".json", extent::whole, true);
  if (!read.good()) throw std::logic_error(read.faults.front().text());
  return std::move(read.made);
}

}  // namespace tutti::detail
