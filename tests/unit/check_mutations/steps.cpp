// SPDX-License-Identifier: Apache-2.0
//
// Mutations of steps: operands swapped, steps removed, with another peer, or executed twice.
#include "unit/check_mutations/subject.hpp"

namespace tutti::proof {
namespace {

// Adds a local step after those of the round that contains `at`.
schedule with_local(schedule s, std::uint32_t at, const step& more) {
  std::uint32_t end = 0;
  for (item& i : s.items) {
    if (i.kind != item_kind::round) continue;
    const std::uint32_t size = i.sends + i.recvs + i.locals;
    if (at >= i.first && at < i.first + size) {
      end = i.first + size;
      ++i.locals;
    } else if (at < i.first) {
      ++i.first;
    }
  }
  s.steps.insert(s.steps.begin() + end, more);
  return s;
}

void mutate_steps(const subject& s, int rank, tally& t) {
  mutation_checker checker(s, t);
  const schedule& good = s.schedules[static_cast<std::size_t>(rank)];
  const auto& rounds = s.unmodified.recorded[static_cast<std::size_t>(rank)];
  const auto used = executed(rounds);
  for (std::uint32_t i = 0; i < good.steps.size(); ++i) {
    const step& one = good.steps[i];
    const bool never = !used.contains(i);         // for example in a loop without iterations
    const bool empty = never || used.at(i) == 0;  // or it moves no elements
    const auto mutated = [&](auto&& change) {
      schedule bad = good;
      change(bad.steps[i]);
      return bad;
    };
    const std::string at = " of step " + std::to_string(i);
    switch (one.kind) {
      case step_kind::recv_reduce:
        checker.expect_found(rank, mutated([](step& b) { b.received_left = !b.received_left; }),
                             "operands swapped" + at, empty || !s.call.ordered);
        break;
      case step_kind::reduce:
        checker.expect_found(rank, mutated([](step& b) { std::swap(b.source, b.other); }),
                             "operands swapped" + at, empty || !s.call.ordered);
        break;
      default:
        break;
    }
    if (!is_local(one.kind)) {
      checker.expect_found(rank, without(good, i), "dropped" + at, never);
      checker.expect_found(rank, mutated([&](step& b) {
                             ++b.peer.base;
                             if (b.peer.is_constant()) b.peer.base %= s.call.ranks;
                           }),
                           "another peer" + at, never);
    }
    if (one.kind == step_kind::recv_reduce || one.kind == step_kind::reduce) {
      step twice{step_kind::reduce, false, {}, one.target, one.target, one.target};
      checker.expect_found(rank, with_local(good, i, twice), "counted twice" + at, empty);
    }
  }
}

TEST_P(mutations, of_steps_are_found) { everywhere(mutate_steps); }

}  // namespace
}  // namespace tutti::proof
