// SPDX-License-Identifier: Apache-2.0
//
// The use of overrides: how many calls followed each, and the report of those that no call used.
#include <cstdio>

#include "communicator/rank_state.hpp"

namespace tutti::detail {

namespace {

std::size_t index_of(collective what, override_kind kind) noexcept {
  return 3 * static_cast<std::size_t>(what) + static_cast<std::size_t>(kind);
}

}  // namespace

override_use& rank_state::use_of(collective what, override_kind kind) {
  uses.resize(3 * collective_names.size());
  return uses[index_of(what, kind)];
}

override_use rank_state::use_of(collective what, override_kind kind) const {
  return uses.empty() ? override_use{} : uses[index_of(what, kind)];
}

// For an adopted communicator and its duplicates, this is the end of the run.
rank_state::~rank_state() {
  other_jobs.leave(*this);
  if (owned) owned->receive_rejections(nullptr);
  if (ep != nullptr) ep->clear_current_call(&current);
  if (owned && by && owned->rank() == 0) report_unused_overrides(*this);
  for (void* one : spare_memory) ::operator delete(one);
}

// A user who sets a variable must learn that it changed nothing.
void report_unused_overrides(const rank_state& state) {
  const bool silent = state.config.when_unfit == fallback::silent;
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    const forced_choice& forced = state.by->of(what);
    const auto report = [&](override_kind kind, const std::string& value) {
      const override_use use = state.use_of(what, kind);
      if (use.unfit > 1 && !silent)
        std::fprintf(stderr, "tutti: %s: %zu choices fell back to the trees\n",
                     value.empty() ? name_of(what).data() : override_variable(what, kind).c_str(), use.unfit);
      if (value.empty() || use.obeyed != 0 || use.reported || (silent && use.unfit != 0)) return;
      std::fprintf(stderr, "tutti: %s=%s was never used: %s\n", override_variable(what, kind).c_str(),
                   value.c_str(),
                   use.unfit != 0 ? "no call met its restrictions"
                                  : "the program made no such call whose algorithm was free to choose");
    };
    report(override_kind::algorithm, forced.algorithm);
    report(override_kind::inter_algorithm, forced.inter_algorithm);
    report(override_kind::composition, forced.composition);
  }
}

}  // namespace tutti::detail
