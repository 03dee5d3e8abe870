// SPDX-License-Identifier: Apache-2.0
//
// Mutations of places: the next block in place of the right one, or a scratch buffer that is one
// block short.
#include "unit/check_mutations/subject.hpp"

namespace tutti::proof {
namespace {

void mutate_places(const subject& s, int rank, tally& t) {
  mutation_checker checker(s, t);
  const schedule& good = s.schedules[static_cast<std::size_t>(rank)];
  const auto& rounds = s.unmodified.recorded[static_cast<std::size_t>(rank)];
  const auto used = executed(rounds);
  for (std::uint32_t i = 0; i < good.steps.size(); ++i) {
    const bool never = !used.contains(i) || used.at(i) == 0;
    for (place step::*which : {&step::source, &step::other, &step::target}) {
      const step_kind kind = good.steps[i].kind;
      const bool has = which == &step::target  ? kind != step_kind::send && kind <= step_kind::reduce
                       : which == &step::other ? kind == step_kind::reduce
                                               : kind != step_kind::recv && kind <= step_kind::reduce;
      if (!has || kind == step_kind::signal || kind == step_kind::await_signal) continue;
      schedule bad = good;
      ++(bad.steps[i].*which).first.base;
      const schedule less = kind == step_kind::copy ? without(good, i) : good;
      checker.expect_found(rank, bad, "the next block at step " + std::to_string(i), never,
                           kind == step_kind::copy ? &less : nullptr);
    }
  }
  for (int n = 0; n < scratch_count; ++n) {
    if (good.scratch[n].blocks == 0) continue;
    schedule bad = good;
    --bad.scratch[n].blocks;
    const auto which = static_cast<buffer>(static_cast<int>(buffer::scratch0) + n);
    std::size_t block = s.call.counts[static_cast<std::size_t>(rank)];
    if (good.scratch[n].how == partition::split)
      block = (block + static_cast<std::size_t>(good.parts) - 1) / good.parts;
    const block_table& l = good.scratch[n].how == partition::input_counts
                               ? s.call.in[static_cast<std::size_t>(rank)]
                               : s.call.out[static_cast<std::size_t>(rank)];
    if (good.scratch[n].how == partition::input_counts || good.scratch[n].how == partition::output_counts)
      block = *std::max_element(l.counts.begin(), l.counts.end());
    const bool larger_than_needed =
        reach(rounds, which) <= static_cast<std::size_t>(bad.scratch[n].blocks) * block;
    checker.expect_found(rank, bad, "scratch too small", larger_than_needed);
  }
}

TEST_P(mutations, of_places_are_found) { everywhere(mutate_places); }

}  // namespace
}  // namespace tutti::proof
