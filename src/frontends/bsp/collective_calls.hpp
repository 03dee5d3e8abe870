// SPDX-License-Identifier: Apache-2.0
//
// The collectives that a process has scheduled, and the sets of processes that take part in them.
// They are calls of tutti on groups that are made without a message. The sync carries them out: one
// at once, several side by side.
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

/// A set of processes, as made by one of its members.
struct member_set {
  members number = 0;
  int first = 0, last = 0, stride = 1;
  // Among the sets of all processes, in the order in which all make them.
  std::uint64_t ordinal = 0;
  detail::communicator_handle own;          // null: all processes
  detail::communicator_impl* on = nullptr;  // its ranks are the members
  abi::limits most{};
  std::size_t calls = 0;  // in this superstep
  std::uint64_t since = 0;

  int size() const noexcept { return detail::size_of(*on); }
  int place() const noexcept { return detail::rank_of(*on); }
};

/// The first exception in a superstep that a function of the program threw within a collective. It
/// is kept here, and the collective continues with wrong values. The other processes wait for this
/// one in the collective. Frames of MPI may lie in between, which let no exception through. The
/// sync throws it at its end, and fails on the other processes too.
struct thrown_in_call {
  std::exception_ptr what;  // null: none was thrown
  const char* operation = nullptr;
  const char* parameter = nullptr;
  call_site site;
  bool in_c = false;  // thrown by a C function
};

/// How elements are combined: by an operator of tutti, or by a C function, which knows no types.
struct combining {
  element type;
  operation op{};              // its state stays valid until the sync
  abi::combiner by = nullptr;  // if not null, it is used instead of op
  const char* name = nullptr;  // of the call: "allreduce"
  call_site site{};
  thrown_in_call* thrown = nullptr;  // where its exception is kept

  /// Whether the operator is a function of the program.
  bool may_throw() const noexcept { return by != nullptr || op.which == builtin_op::user; }
  const char* parameter() const noexcept;
  void keep_exception() const noexcept;
};

/// Computes `into = into (+) other`. Keeps an exception of the operator.
inline void combine_into(const combining& how, std::size_t count, const void* other, void* into) noexcept {
  try {
    if (how.by != nullptr) return how.by(count, other, into);
    how.op.combine(into, other, into, count, how.op.state);
  } catch (...) {
    how.keep_exception();
  }
}

class collective_calls {
 public:
  explicit collective_calls(detail::communicator_impl& all) : all_(all) {}

  member_set& make(int first, int last, int stride, const abi::limits& most, std::uint64_t superstep);
  /// Null: there is no such set.
  member_set* find(members number) noexcept {
    const std::size_t place = place_of(number);
    member_set* const s = place < sets_.size() ? sets_[place].get() : nullptr;
    return s != nullptr && s->number == number ? s : nullptr;
  }
  void end(members number);

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  /// Schedules one call of the set. `blocks` != 0: a vector form whose blocks have this many bytes
  /// each, without the own block. `turn`: the position among the calls of the set; 0: last.
  void schedule(member_set& s, const call& c, const combining& how, std::size_t blocks, std::size_t turn = 0);
  /// Lets the call scheduled last read its input from a copy, because the input lies where the
  /// result goes.
  void give_a_copy(std::size_t bytes);
  /// Runs all scheduled calls. `many`: some process has several.
  void carry_out(bool many);
  void forget() noexcept;

 private:
  struct scheduled {
    const member_set* of;
    std::size_t turn;
    detail::communicator_impl* on;
    call what;
    combining how;
    std::vector<std::size_t> counts, in_displs, out_displs;  // of vector forms
    // A copy of the input, taken when the call begins.
    std::vector<std::byte> given;
  };
  void complete(scheduled& s, bool side_by_side);

  detail::communicator_impl& all_;
  // For calls on all processes side by side. Made on first use.
  detail::communicator_handle beside_;
  // The low bits of a number are the index into sets_, for direct access. The high bits count the
  // sets made before, so numbers grow.
  static constexpr unsigned place_bits = 32;
  static std::size_t place_of(members number) noexcept { return number & ((members{1} << place_bits) - 1); }
  std::vector<std::unique_ptr<member_set>> sets_;  // null: free
  // The first size_ are in use; the others keep their memory.
  std::vector<scheduled> calls_;
  std::size_t size_ = 0;
  std::vector<detail::pending_call> under_way_;
  members next_ = 1;
  std::uint64_t of_all_ = 0;  // number of sets of all processes
};

/// The operation of a call of tutti. It refers to `how`, unless the operator is one that the
/// library knows. It does not throw. A C function counts as commutative.
operation operation_of(const combining& how) noexcept;

}  // namespace tutti::bsp
