// SPDX-License-Identifier: Apache-2.0
#include "communicator/rank_state.hpp"

#include <optional>
#include <string>

#include "base/report_text.hpp"
#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void rank_state::begin_trace() {
  if (config.trace.calls && ep->rank() == 0)
    trace = std::make_unique<call_trace>(config.trace.file, std::string(ep->engine()), ep->size());
}

namespace {

std::string text_of(const rejection& r) {
  std::string text = "rank " + std::to_string(r.rank) + " rejected its arguments in an earlier call";
  if (!r.text.empty()) text += " (" + std::string(without_prefix(r.text)) + ")";
  return text + ", and this rank received zeros as its data";
}

}  // namespace

void rank_state::throw_rejections(const char* operation, const communicator_state& where,
                                  const std::uint32_t* awaited) {
  const auto state_of = [&](const rejection& r) {
    for (const communicator_impl* one = communicators; one != nullptr; one = one->next_of_rank()) {
      if (!one->state().is_named(r)) continue;
      if (awaited != nullptr && &one->state() == &where && r.call == *awaited) return rejection_state::later;
      return one->calls().state_of(r);
    }
    return r.to_whole_job ? rejection_state::other_group : rejection_state::later;
  };
  const std::optional<rejection> due = rejections.take_due(state_of);
  if (due)
    throw rejection_due(current.name_or(operation), where.rank(), "", text_of(*due),
                        "see the error of that rank; this call has sent nothing", current.location());
}

void rank_state::finish(progressable& one) {
  std::uint64_t moves = one.progress_count();
  while (!one.advance(false)) {
    progress_others(&one, true);
    if (one.progress_count() != moves) {
      moves = one.progress_count();
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
    const std::uint64_t before = one->progress_count();
    const bool over = one->advance(false);
    if ((over || one->progress_count() != before) && ep != nullptr) ep->progressed();
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
