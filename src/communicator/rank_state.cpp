// SPDX-License-Identifier: Apache-2.0
#include "communicator/rank_state.hpp"

#include <string>

namespace tutti::detail {

void rank_state::begin_trace() {
  if (set.trace.calls && ep->rank() == 0)
    trace = std::make_unique<call_trace>(set.trace.file, std::string(ep->engine()), ep->size());
}

void rank_state::finish(progressable& one) {
  std::uint64_t moves = one.moves();
  while (!one.go_on(false)) {
    progress_others(&one, true);
    if (one.moves() != moves) {
      moves = one.moves();
      ep->progressed();
    }
    ep->pause(one.site("messages"));
  }
  ep->progressed();
}

void rank_state::progress_others(const progressable* except, bool waits) {
  for (std::size_t i = 0; i < active.size();) {
    progressable* one = active[i];
    if (one == except) {
      ++i;
      continue;
    }
    const std::uint64_t before = one->moves();
    const bool over = one->go_on(false);
    if ((over || one->moves() != before) && ep != nullptr) ep->progressed();
    if (over) {
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (!waits) return;
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] != except) active[i]->work();
}

}  // namespace tutti::detail
