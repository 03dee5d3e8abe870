// SPDX-License-Identifier: Apache-2.0
//
// Stores the collectives that a process schedules, and runs them at the sync. On all processes they
// run in the same order.
#include "frontends/bsp/collective_calls.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

namespace tutti::bsp {

// The functions that combine arrays are combine and allcombine.
const char* reduction_operator::operator_parameter_name() const noexcept {
  if (combiner == nullptr) return "op";
  return std::strstr(name, "combine") != nullptr ? "combiner" : "reducer";
}

void reduction_operator::store_exception() const noexcept {
  if (thrown->what == nullptr)
    *thrown = {std::current_exception(), name, operator_parameter_name(), site, combiner != nullptr};
}

operation operation_of(const reduction_operator& how) noexcept {
  operation op = how.op;
  if (how.combiner == nullptr) {
    if (op.which != builtin_op::user) return op;
    op.combine = [](const void* left, const void* right, void* result, std::size_t n, void* state) {
      const auto& c = *static_cast<const reduction_operator*>(state);
      try {
        c.op.combine(left, right, result, n, c.op.state);
      } catch (...) {
        c.store_exception();
      }
    };
    op.state = const_cast<reduction_operator*>(&how);
    return op;
  }
  op.combine = [](const void* left, const void* right, void* result, std::size_t n, void* state) {
    if (n == 0) return;  // combiners are never called with 0 elements
    const auto& c = *static_cast<const reduction_operator*>(state);
    if (result == right) return combine_into(c, n, left, result);
    if (result != left) std::memcpy(result, left, n * c.type.size);
    combine_into(c, n, right, result);
  };
  op.state = const_cast<reduction_operator*>(&how);
  op.commutative = true;  // LPF permits any order of the operands
  return op;
}

member_set& collective_calls::make_set(int first, int last, int stride, const abi::limits& capacity,
                                       std::uint64_t superstep) {
  auto s = std::make_unique<member_set>();
  const auto free_slot = std::find(sets_.begin(), sets_.end(), nullptr);
  s->id = (next_serial_++ << index_bits) | static_cast<process_set_id>(free_slot - sets_.begin());
  s->first = first;
  s->last = last;
  s->stride = stride;
  s->capacity = capacity;
  s->created_in = superstep;
  if (first == 0 && stride == 1 && last == detail::size_of(all_) - 1) {
    s->comm = &all_;
    s->ordinal = ++sets_of_all_;
  } else {
    s->subset_comm = detail::range(all_, first, last, stride);
    s->comm = &*s->subset_comm;
  }
  member_set& result = *s;
  if (free_slot != sets_.end())
    *free_slot = std::move(s);
  else
    sets_.push_back(std::move(s));
  return result;
}

void collective_calls::free_set(process_set_id id) {
  if (find(id) != nullptr) sets_[index_of(id)].reset();
}

void collective_calls::enqueue(member_set& s, const call& c, const reduction_operator& how,
                               std::size_t block_bytes, std::size_t position) {
  ++s.calls;
  if (size_ == calls_.size()) calls_.emplace_back();
  scheduled& one = calls_[size_++];
  one.set = &s;
  one.position = position != 0 ? position : s.calls;
  one.comm = s.comm;
  one.what = c;
  one.how = how;
  one.input_copy.clear();
  one.counts.clear();
  if (block_bytes == 0) return;
  const auto n = static_cast<std::size_t>(s.size());
  one.counts.assign(n, block_bytes);
  one.counts[static_cast<std::size_t>(s.rank())] = 0;
  one.in_displs.assign(n, 0);
  if (c.what == collective::alltoallv && c.count != 0)
    for (std::size_t i = 0; i < n; ++i) one.in_displs[i] = i * block_bytes;
  // The input may be the local block of the output. Open MPI's nonblocking calls take equal
  // addresses of input and output for MPI_IN_PLACE. So that the addresses differ, the output begins
  // after the local block if that block is the first.
  const std::size_t skipped = s.rank() == 0 ? block_bytes : 0;
  one.what.output = static_cast<std::byte*>(c.output) + skipped;
  one.out_displs.resize(n);
  for (std::size_t i = 0; i < n; ++i) one.out_displs[i] = i * block_bytes - (i > 0 ? skipped : 0);
}

void collective_calls::reserve_input_copy(std::size_t bytes) { calls_[size_ - 1].input_copy.resize(bytes); }

// Sets the pointers of the call to the arrays of `s`, and copies its input. Afterwards calls_ must
// not grow, because that would move `s`.
void collective_calls::resolve_pointers(scheduled& s, bool concurrent) {
  call& c = s.what;
  if (combines(c.what)) c.op = operation_of(s.how);
  if (!s.counts.empty()) {
    const std::size_t n = s.counts.size();
    c.in_counts = c.out_counts = counts_view(s.counts.data(), n);
    c.in_displs = counts_view(s.in_displs.data(), n);
    c.out_displs = counts_view(s.out_displs.data(), n);
    c.count = 0;
  }
  if (!s.input_copy.empty()) {
    std::memcpy(s.input_copy.data(), c.input, s.input_copy.size());
    c.input = s.input_copy.data();
  }
  // A subset has a group that is made without a message. It has no MPI communicator, so its calls
  // may be blocking and nonblocking in turn.
  if (concurrent && s.comm == &all_) s.comm = &*concurrent_comm_;
}

void collective_calls::run_all(bool concurrent) {
  // In tutti's mpi engine, a communicator uses only blocking or only nonblocking native calls. So
  // concurrent calls have a separate communicator, and single calls stay blocking. `concurrent` is
  // the same on all processes, so they make this communicator at the same time.
  if (concurrent && !concurrent_comm_) concurrent_comm_ = detail::duplicate(all_);
  // The program may make and use sets in any order. All processes run their calls in one order, so
  // that no cycle of waits arises. Sets of the same processes have the same order of ids on all of
  // them.
  const std::span<scheduled> all(calls_.data(), size_);
  if (size_ > 1)
    std::sort(all.begin(), all.end(), [](const scheduled& a, const scheduled& b) {
      const auto key = [](const scheduled& s) {
        return std::tuple(s.set->first, s.set->last, s.set->stride, s.set->id, s.position);
      };
      return key(a) < key(b);
    });
  for (scheduled& s : all) resolve_pointers(s, concurrent);
  if (!concurrent) {
    for (const scheduled& s : all) detail::run_call(*s.comm, s.what);
  } else {
    for (const scheduled& s : all) pending_.push_back(detail::start_call(*s.comm, s.what));
    for (auto& pending : pending_) pending->wait();
  }
}

void collective_calls::clear() noexcept {
  pending_.clear();
  size_ = 0;
  for (auto& s : sets_)
    if (s != nullptr) s->calls = 0;
}

}  // namespace tutti::bsp
