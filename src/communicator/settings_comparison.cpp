// SPDX-License-Identifier: Apache-2.0
//
// Whether all ranks of a job have the same decision trees and overrides (checked_mode.hpp).
#include <algorithm>
#include <array>
#include <string>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "communicator/checked_mode.hpp"
#include "selection/tree_image.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

using text = std::array<char, 1024>;

// The variables that are set and decide something: "TUTTI_ALLREDUCE_ALGORITHM=ring".
text variables_that_decide(const selection& by) {
  std::string all;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) all += (all.empty() ? "" : ", ") + name + "=" + echoed(value);
  };
  for (const char* name : {"TUTTI_TREES", "TUTTI_COLL_SELECTION_JSON_FILE",
                           "TUTTI_COLL_COMPOSITION_JSON_FILE", "TUTTI_COLL_FALLBACK", "TUTTI_CHECK"})
    add(name, setting(name).value_or(""));
  for (std::size_t i = 0; i < by.forced.size(); ++i) {
    const auto what = static_cast<collective>(i);
    add(override_variable(what, override_kind::algorithm), by.forced[i].algorithm);
    add(override_variable(what, override_kind::inter_algorithm), by.forced[i].inter_algorithm);
    add(override_variable(what, override_kind::composition), by.forced[i].composition);
  }
  if (const trees_file file = user_trees(); file.is_default)
    all += (all.empty() ? "the trees of " : ", the trees of ") + echoed(file.path);
  if (all.empty()) all = "no variable set";
  text cut{};
  std::copy_n(all.begin(), std::min(all.size(), cut.size() - 1), cut.begin());
  return cut;
}

std::uint64_t hash_of_settings(const rank_state& rank) {
  const selection& by = *rank.by;
  std::uint64_t hash = by.trees ? hash_of(*by.trees) : 0;
  for (const forced_choice& f : by.forced)
    for (const std::string* one : {&f.algorithm, &f.inter_algorithm, &f.composition})
      hash = mix(hash, hash_of(one->c_str()));
  return mix(hash, static_cast<std::uint64_t>(rank.config.when_unfit) * 2 + (rank.config.check ? 1 : 0));
}

}  // namespace

// The exchanges name an algorithm, since ranks with other settings would select different ones.
void compare_settings(const communicator_state& where, control_calls& control) {
  const std::uint64_t mine = hash_of_settings(where.this_rank());
  std::vector<std::uint64_t> all(static_cast<std::size_t>(where.size()));
  control.exchange(collective::allgather, &mine, all.data(), sizeof mine, nullptr, "ring");
  std::string differing;
  std::size_t first = 0;
  for (std::size_t r = all.size(); r-- > 1;)
    if (all[r] != all[0]) {
      first = r;
      differing = std::to_string(r) + (differing.empty() ? "" : ", ") + differing;
    }
  if (differing.empty()) return;
  // All ranks have found the difference. Each sends its settings to the others.
  const text mine_text = variables_that_decide(*where.this_rank().by);
  std::vector<text> of_all(all.size());
  control.exchange(collective::allgather, mine_text.data(), of_all.data(), sizeof mine_text, nullptr, "ring");
  throw mismatch_error("run", where.rank(), "TUTTI_*",
                       "rank " + differing + " would choose differently from rank 0: rank " +
                           std::to_string(first) + " has " + of_all[first].data() + "; rank 0 has " +
                           of_all[0].data(),
                       "set the same variables and the same files on all ranks");
}

}  // namespace tutti::detail
