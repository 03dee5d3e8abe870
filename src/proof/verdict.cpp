// SPDX-License-Identifier: Apache-2.0
//
// The checks after the run: which ranks are deadlocked, whether a barrier held all ranks, and
// whether every result matches the definition of the collective.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {
namespace {

std::uint64_t max_of(const std::vector<std::uint64_t>& of_ranks) noexcept {
  return of_ranks.empty() ? 0 : *std::max_element(of_ranks.begin(), of_ranks.end());
}

}  // namespace

std::uint64_t costs::max_bytes() const noexcept { return std::max(max_of(sent), max_of(received)); }
std::uint64_t costs::max_scratch() const noexcept { return max_of(scratch); }

void abstract_machine::state::report_deadlock() {
  std::string waits;
  int waiting = 0, first = -1;
  for (int r = 0; r < call_->ranks; ++r) {
    const rank_state& me = of(r);
    if (me.finished) continue;
    if (first < 0) first = r;
    if (++waiting > 6) continue;
    const transfer* open = nullptr;
    for (const auto* list : {&me.recvs, &me.sends})
      for (const transfer& t : *list)
        if (!t.matched && open == nullptr) open = &t;
    if (open == nullptr) continue;
    const step_kind kind = open->what->kind;
    const bool sends = kind == step_kind::send || kind == step_kind::put || kind == step_kind::signal;
    waits += (waits.empty() ? "" : "; ") + ("rank " + std::to_string(r)) + " waits in its round " +
             std::to_string(me.round) + (sends ? " to be received by " : " for ") +
             (kind == step_kind::await_signal ? "a signal from " : "") + std::to_string(open->peer) +
             (of(open->peer).finished ? ", which is done" : "");
  }
  if (waiting > 6) waits += "; and " + std::to_string(waiting - 6) + " more";
  fail(first, "no rank can continue: " + waits);
}

void abstract_machine::state::prove_barrier() {
  for (int r = 0; r < call_->ranks; ++r)
    for (int other = call_->remote_group(r).first; other < call_->remote_group(r).last; ++other)
      if (other != r && of(r).clock[static_cast<std::size_t>(other)] == 0)
        fail(r, "it may leave the barrier before rank " + std::to_string(other) + " has arrived");
}

void abstract_machine::state::compare_results() {
  for (int r = 0; r < call_->ranks; ++r) {
    const std::vector<symbol> expected = oracle_->expected(r);
    const auto& cells = of(r).cells[1];
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] == uninitialized || symbols_.same(expected[i], cells[i], call_->ordered)) continue;
      end_.faults.push_back({r, -1,
                             "element " + std::to_string(i) + " of the result is " + symbols_.text(cells[i]) +
                                 ", not " + symbols_.text(expected[i])});
      break;
    }
    if (end_.faults.size() == 8) return;
  }
}

}  // namespace tutti::proof
