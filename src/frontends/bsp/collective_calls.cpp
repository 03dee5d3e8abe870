// SPDX-License-Identifier: Apache-2.0
#include "frontends/bsp/collective_calls.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

namespace tutti::bsp {

const char* combining::parameter() const noexcept {
  if (by == nullptr) return "op";
  return std::strstr(name, "combine") != nullptr ? "combiner" : "reducer";
}

void combining::keep_exception() const noexcept {
  if (thrown->what == nullptr) *thrown = {std::current_exception(), name, parameter(), site, by != nullptr};
}

operation operation_of(const combining& how) noexcept {
  operation op = how.op;
  if (how.by == nullptr) {
    if (op.which != builtin_op::user) return op;
    op.combine = [](const void* left, const void* right, void* result, std::size_t n, void* state) {
      const auto& c = *static_cast<const combining*>(state);
      try {
        c.op.combine(left, right, result, n, c.op.state);
      } catch (...) {
        c.keep_exception();
      }
    };
    op.state = const_cast<combining*>(&how);
    return op;
  }
  op.combine = [](const void* left, const void* right, void* result, std::size_t n, void* state) {
    if (n == 0) return;  // combiners are never called with 0 elements
    const auto& c = *static_cast<const combining*>(state);
    if (result == right) return combine_into(c, n, left, result);
    if (result != left) std::memcpy(result, left, n * c.type.size);
    combine_into(c, n, right, result);
  };
  op.state = const_cast<combining*>(&how);
  op.commutative = true;
  return op;
}

member_set& collective_calls::make(int first, int last, int stride, const abi::limits& most,
                                   std::uint64_t superstep) {
  auto s = std::make_unique<member_set>();
  const auto free = std::find(sets_.begin(), sets_.end(), nullptr);
  s->number = next_++ << place_bits | static_cast<members>(free - sets_.begin());
  s->first = first;
  s->last = last;
  s->stride = stride;
  s->most = most;
  s->since = superstep;
  if (first == 0 && stride == 1 && last == detail::size_of(all_) - 1) {
    s->on = &all_;
    s->ordinal = ++of_all_;
  } else {
    s->own = detail::range(all_, first, last, stride);
    s->on = &*s->own;
  }
  member_set& made = *s;
  if (free != sets_.end())
    *free = std::move(s);
  else
    sets_.push_back(std::move(s));
  return made;
}

void collective_calls::end(members number) {
  if (find(number) != nullptr) sets_[place_of(number)].reset();
}

void collective_calls::schedule(member_set& s, const call& c, const combining& how, std::size_t blocks,
                                std::size_t turn) {
  ++s.calls;
  if (size_ == calls_.size()) calls_.emplace_back();
  scheduled& one = calls_[size_++];
  one.of = &s;
  one.turn = turn != 0 ? turn : s.calls;
  one.on = s.on;
  one.what = c;
  one.how = how;
  one.given.clear();
  one.counts.clear();
  if (blocks == 0) return;
  const auto n = static_cast<std::size_t>(s.size());
  one.counts.assign(n, blocks);
  one.counts[static_cast<std::size_t>(s.place())] = 0;
  one.in_displs.assign(n, 0);
  if (c.what == collective::alltoallv && c.count != 0)
    for (std::size_t i = 0; i < n; ++i) one.in_displs[i] = i * blocks;
  // If the own block is the first, the received data begin behind it. The sent data may lie in the
  // own block. Open MPI's nonblocking calls take equal addresses on both sides for MPI_IN_PLACE.
  const std::size_t skipped = s.place() == 0 ? blocks : 0;
  one.what.output = static_cast<std::byte*>(c.output) + skipped;
  one.out_displs.resize(n);
  for (std::size_t i = 0; i < n; ++i) one.out_displs[i] = i * blocks - (i > 0 ? skipped : 0);
}

void collective_calls::give_a_copy(std::size_t bytes) { calls_[size_ - 1].given.resize(bytes); }

// Sets the pointers into the call itself, when the list does not grow any more.
void collective_calls::complete(scheduled& s, bool side_by_side) {
  call& c = s.what;
  if (combines(c.what)) c.op = operation_of(s.how);
  if (!s.counts.empty()) {
    const std::size_t n = s.counts.size();
    c.in_counts = c.out_counts = counts_view(s.counts.data(), n);
    c.in_displs = counts_view(s.in_displs.data(), n);
    c.out_displs = counts_view(s.out_displs.data(), n);
    c.count = 0;
  }
  if (!s.given.empty()) {
    std::memcpy(s.given.data(), c.input, s.given.size());
    c.input = s.given.data();
  }
  if (side_by_side && s.on == &all_) s.on = &*beside_;
}

void collective_calls::carry_out(bool many) {
  // Calls side by side use a communicator of their own, so that calls of other supersteps may stay
  // blocking. Over MPI, all calls on one communicator are either blocking or not. All processes
  // know `many`, so they make this communicator at the same time.
  if (many && !beside_) beside_ = detail::duplicate(all_);
  // Sets may be made and used in any order. All processes go through theirs in one order, so that
  // no cycle of waits arises. Sets of the same processes have the same order of numbers on all of
  // them.
  const std::span<scheduled> all(calls_.data(), size_);
  if (size_ > 1)
    std::sort(all.begin(), all.end(), [](const scheduled& a, const scheduled& b) {
      const auto key = [](const scheduled& s) {
        return std::tuple(s.of->first, s.of->last, s.of->stride, s.of->number, s.turn);
      };
      return key(a) < key(b);
    });
  for (scheduled& s : all) complete(s, many);
  if (!many) {
    for (const scheduled& s : all) detail::run_call(*s.on, s.what);
  } else {
    for (const scheduled& s : all) under_way_.push_back(detail::start_call(*s.on, s.what));
    for (auto& one : under_way_) one->wait();
  }
}

void collective_calls::forget() noexcept {
  under_way_.clear();
  size_ = 0;
  for (auto& s : sets_)
    if (s != nullptr) s->calls = 0;
}

}  // namespace tutti::bsp
