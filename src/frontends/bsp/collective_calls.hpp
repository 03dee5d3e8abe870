// SPDX-License-Identifier: Apache-2.0
//
// The collectives that a process has scheduled, and the sets of processes that make them. They are calls of
// tutti, on groups that are made without a message, and are carried out by the sync: one at once, several
// side by side.
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

/// A set of processes, as one of its members has made it.
struct member_set {
  members number = 0;
  int first = 0, last = 0, stride = 1;
  std::uint64_t ordinal = 0;                // among those of all processes, in which all have made them
  detail::communicator_handle own;          // none: all processes
  detail::communicator_impl* on = nullptr;  // its ranks are the members
  abi::limits most{};
  std::size_t calls = 0;  // in this superstep
  std::uint64_t since = 0;

  int size() const noexcept { return detail::size_of(*on); }
  int place() const noexcept { return detail::rank_of(*on); }
};

/// The first exception of a superstep that a function of the program has thrown within a collective. It is
/// kept here, and the collective goes on with wrong values: the other processes wait for this one in it, and
/// MPI, whose frames may lie between, lets no exception through. The sync throws it at its end, and fails on
/// the other processes too.
struct thrown_in_call {
  std::exception_ptr what;  // null: nothing was thrown
  const char* operation = nullptr;
  const char* parameter = nullptr;
  call_site site;
  bool in_c = false;  // by a function of C
};

/// How elements are combined: by an operator of tutti, or by a function of C, which knows no types.
struct combining {
  element type;
  operation op{};              // whose state stays until the sync
  abi::combiner by = nullptr;  // not null: instead of it
  const char* name = nullptr;  // of the call: "allreduce"
  call_site site{};
  thrown_in_call* thrown = nullptr;  // where what it throws is kept

  /// Whether it is a function of the program's.
  bool may_throw() const noexcept { return by != nullptr || op.which == builtin_op::user; }
  const char* parameter() const noexcept;
  void keep_exception() const noexcept;
};

/// `into = into (+) other`; keeps what the operator throws.
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
  /// For one call of the set. `blocks`: a vector form whose blocks have this many bytes each, but the own
  /// one. `turn`: its place among the calls of the set, where that is not behind all.
  void schedule(member_set& s, const call& c, const combining& how, std::size_t blocks, std::size_t turn = 0);
  /// What the last call that was scheduled gives is read elsewhere than where it stands, since it stands
  /// where the result goes.
  void give_a_copy(std::size_t bytes);
  /// All of them; `many`: some process makes several.
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
    std::vector<std::byte> given;                            // a copy of what is given, as the call begins
  };
  void complete(scheduled& s, bool side_by_side);

  detail::communicator_impl& all_;
  detail::communicator_handle
      beside_;  // where calls on all processes go side by side, from the first time on
  // A number holds the place in this list below, so that it leads there at once, and above how many sets were
  // made before, so that numbers grow.
  static constexpr unsigned place_bits = 32;
  static std::size_t place_of(members number) noexcept { return number & ((members{1} << place_bits) - 1); }
  std::vector<std::unique_ptr<member_set>> sets_;  // null: free
  std::vector<scheduled> calls_;                   // the first size_ are in use; the others keep their memory
  std::size_t size_ = 0;
  std::vector<detail::pending_call> under_way_;
  members next_ = 1;
  std::uint64_t of_all_ = 0;  // sets
};

/// The operation of a call of tutti. It refers to `how`, unless the operator is one that the library knows.
/// It throws nothing. A function of C is commutative.
operation operation_of(const combining& how) noexcept;

}  // namespace tutti::bsp
