// SPDX-License-Identifier: Apache-2.0
//
// The collectives that a process has scheduled, and the sets of processes that take part in them.
// They are calls of tutti on groups that are made without a message. The sync runs them: a single
// one as a blocking call, several concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "frontends/bsp/memory_register.hpp"
#include "tutti/detail/bsp_abi.hpp"

namespace tutti::bsp {

using namespace tutti::detail;

/// A set of processes, as one of its members has made it.
struct member_set {
  process_set_id id = 0;
  int first = 0, last = 0, stride = 1;
  // For sets of all processes: the position in the order in which all processes make them. It is
  // the same on all processes; `id` is not.
  std::uint64_t ordinal = 0;
  detail::communicator_handle subset_comm;    // null: all processes
  detail::communicator_impl* comm = nullptr;  // its ranks are the members
  abi::limits capacity{};
  std::size_t calls = 0;         // in this superstep
  std::uint64_t created_in = 0;  // the superstep

  int size() const noexcept { return detail::size_of(*comm); }
  int rank() const noexcept { return detail::rank_of(*comm); }
};

/// The first exception in a superstep that a function of the program threw within a collective. It
/// is stored here, and the collective continues with wrong values, because the other processes wait
/// in it. An exception could not pass the stack frames of MPI. The sync throws it at its end, and
/// fails on the other processes too.
struct thrown_in_call {
  std::exception_ptr what;  // null: none was thrown
  const char* operation = nullptr;
  const char* parameter = nullptr;
  call_site site;
  bool in_c = false;  // thrown by a C function
};

/// The operator of a reduction: an operator of tutti, or a C function on untyped elements.
struct reduction_operator {
  element type;
  operation op{};                    // its state stays valid until the sync
  abi::combiner combiner = nullptr;  // if not null, it is used instead of op
  const char* name = nullptr;        // of the call: "allreduce"
  call_site site{};
  thrown_in_call* thrown = nullptr;  // stores the exception of the operator

  /// Whether the operator is a function of the program.
  bool may_throw() const noexcept { return combiner != nullptr || op.which == builtin_op::user; }
  /// The name of the operator's parameter in the function that the program called.
  const char* operator_parameter_name() const noexcept;
  void store_exception() const noexcept;
};

/// Computes `into = into (+) other`. Stores an exception of the operator.
inline void combine_into(const reduction_operator& how, std::size_t count, const void* other,
                         void* into) noexcept {
  try {
    if (how.combiner != nullptr) return how.combiner(count, other, into);
    how.op.combine(into, other, into, count, how.op.state);
  } catch (...) {
    how.store_exception();
  }
}

class collective_calls {
 public:
  explicit collective_calls(detail::communicator_impl& all) : all_(all) {}

  member_set& make_set(int first, int last, int stride, const abi::limits& capacity, std::uint64_t superstep);
  /// Returns null if there is no such set.
  member_set* find(process_set_id id) noexcept {
    const std::size_t index = index_of(id);
    member_set* const s = index < sets_.size() ? sets_[index].get() : nullptr;
    return s != nullptr && s->id == id ? s : nullptr;
  }
  void free_set(process_set_id id);

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  /// Adds one call of the set to those that run_all() executes. If `block_bytes` is not 0, `c` is a
  /// vector form: each block has that many bytes, and the local block is skipped. `position`: among
  /// the calls of the set; 0: last.
  void enqueue(member_set& s, const call& c, const reduction_operator& how, std::size_t block_bytes,
               std::size_t position = 0);
  /// Allocates a copy of the input for the last call, because its result overwrites the input.
  /// run_all() copies the input before the call reads it.
  void reserve_input_copy(std::size_t bytes);
  /// Runs all enqueued calls. `concurrent`: some process has more than one.
  void run_all(bool concurrent);
  void clear() noexcept;

 private:
  struct scheduled {
    const member_set* set;
    std::size_t position;
    detail::communicator_impl* comm;
    call what;
    reduction_operator how;
    std::vector<std::size_t> counts, in_displs, out_displs;  // of vector forms
    // The input is copied when the call begins. Empty: no copy.
    std::vector<std::byte> input_copy;
  };
  void resolve_pointers(scheduled& s, bool concurrent);

  detail::communicator_impl& all_;
  // For concurrent calls on all processes. Made on first use.
  detail::communicator_handle concurrent_comm_;
  // The low bits of an id are the index into sets_. The high bits count the sets made before, so
  // ids grow.
  static constexpr unsigned index_bits = 32;
  static std::size_t index_of(process_set_id id) noexcept {
    return id & ((process_set_id{1} << index_bits) - 1);
  }
  std::vector<std::unique_ptr<member_set>> sets_;  // null: free
  // The first size_ elements are in use. The others keep their memory.
  std::vector<scheduled> calls_;
  std::size_t size_ = 0;
  std::vector<detail::pending_call> pending_;
  process_set_id next_serial_ = 1;
  std::uint64_t sets_of_all_ = 0;  // number of sets of all processes
};

/// The operation of a call of tutti. It refers to `how`, unless the operator is built in. It does
/// not throw. A C function counts as commutative.
operation operation_of(const reduction_operator& how) noexcept;

}  // namespace tutti::bsp
