// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/operators.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "frontends/preload/imports.hpp"

namespace tutti::preload {
namespace {

struct named_operator {
  MPI_Op op;
  builtin_op builtin;
};

// Tutti has no loop for MPI_MINLOC and MPI_MAXLOC.
constexpr std::size_t named_count = 12;
std::array<named_operator, named_count> named_operators() {
  return {{{MPI_SUM, builtin_op::sum},
           {MPI_PROD, builtin_op::product},
           {MPI_MIN, builtin_op::min},
           {MPI_MAX, builtin_op::max},
           {MPI_BAND, builtin_op::bit_and},
           {MPI_BOR, builtin_op::bit_or},
           {MPI_BXOR, builtin_op::bit_xor},
           {MPI_LAND, builtin_op::logical_and},
           {MPI_LOR, builtin_op::logical_or},
           {MPI_LXOR, builtin_op::logical_xor},
           {MPI_MINLOC, builtin_op::user},
           {MPI_MAXLOC, builtin_op::user}}};
}

}  // namespace

// --- MPI_Reduce_local

void local_reduction::set(const operator_info& op, const datatype& type) {
  op_ = op.handle;
  type_ = type.handle;
  commutative_ = op.commutative;
  bytes_ = static_cast<std::size_t>(type.extent);
  true_lower_ = type.true_lower;
  if (!commutative_) buffer_.resize(std::max<std::size_t>(bytes_, 8192) / bytes_ * bytes_);
}

operation local_reduction::as_operation() noexcept {
  operation o;
  o.combine = &combine;
  o.state = this;
  o.which = builtin_op::user;
  o.commutative = commutative_;
  return o;
}

void local_reduction::apply(const std::byte* in, std::byte* inout, std::size_t n) const {
  constexpr std::size_t max_count = 0x40000000;
  for (std::size_t done = 0; done < n; done += max_count)
    PMPI_Reduce_local(in + done * bytes_ - true_lower_, inout + done * bytes_ - true_lower_,
                      static_cast<int>(std::min(max_count, n - done)), type_, op_);
}

// MPI combines into its second operand.
void local_reduction::combine(const void* left, const void* right, void* result, std::size_t n, void* self) {
  if (n == 0) return;
  auto& me = *static_cast<local_reduction*>(self);
  const auto *l = static_cast<const std::byte*>(left), *r = static_cast<const std::byte*>(right);
  auto* to = static_cast<std::byte*>(result);
  if (to != l || me.commutative_) {
    if (to == l) std::swap(l, r);
    if (to != r) std::memcpy(to, r, n * me.bytes_);
    me.apply(l, to, n);
    return;
  }
  const std::size_t chunk = me.buffer_.size() / me.bytes_;
  for (std::size_t done = 0; done < n; done += chunk) {
    const std::size_t part = std::min(chunk, n - done), at = done * me.bytes_;
    std::memcpy(me.buffer_.data(), r + at, part * me.bytes_);
    me.apply(l + at, me.buffer_.data(), part);
    std::memcpy(to + at, me.buffer_.data(), part * me.bytes_);
  }
}

// --- the known operators

operators::operators(error_handlers& handlers, datatypes& types, bool multithreaded)
    : handlers_(handlers), types_(types), mutex_(multithreaded) {
  for (const named_operator& n : named_operators())
    entries_[n.op] = {
        .handle = n.op, .usable = true, .named = true, .commutative = true, .builtin = n.builtin};
}

operators::~operators() {
  for (MPI_Op one = kept_.give_up(); one != MPI_OP_NULL; one = kept_.give_up()) real<MPI_Op_free>(&one);
}

MPI_Op operators::take(MPI_User_function* function, bool commutative) {
  const auto held = mutex_.lock();
  const MPI_Op kept = kept_.take(function, commutative);
  if (kept != MPI_OP_NULL)
    insert({.handle = kept, .usable = true, .commutative = commutative, .function = function});
  return kept;
}

// The mutex is held. There is no entry of this operator.
void operators::insert(const operator_info& made) {
  if (spare_.empty()) {
    entries_.try_emplace(made.handle, made);
    return;
  }
  spare_.key() = made.handle;
  spare_.mapped() = made;
  spare_ = entries_.insert(std::move(spare_)).node;
}

// Bindings of MPI to other languages pass a function of their own, and change the operator
// afterwards.
void operators::add(MPI_Op handle, MPI_User_function* function, bool commutative) {
  const bool is_known = function != nullptr && !is_in_mpi(reinterpret_cast<const void*>(function));
  const auto held = mutex_.lock();
  const operator_info made{.handle = handle,
                           .usable = true,
                           .commutative = commutative,
                           .function = is_known ? function : nullptr};
  // Then it was freed by a call that was not seen.
  if (const auto at = entries_.find(handle); at != entries_.end()) {
    if (at->second.has_decisions) types_.invalidate();
    at->second = made;
    return;
  }
  insert(made);
}

const operator_info& operators::of(MPI_Op handle) {
  static const operator_info none;
  if (handle == MPI_OP_NULL || handle == MPI_REPLACE || handle == MPI_NO_OP) return none;
  {
    const auto held = mutex_.lock();
    const auto at = entries_.find(handle);
    if (at != entries_.end()) return at->second;
  }
  // Made by a function that this library does not replace.
  int commutes = 0;
  {
    const quiet_errors guard(handlers_);
    if (PMPI_Op_commutative(handle, &commutes) != MPI_SUCCESS) return none;
  }
  const auto held = mutex_.lock();
  const operator_info found{.handle = handle, .usable = true, .commutative = commutes != 0};
  return entries_.try_emplace(handle, found).first->second;
}

// Tests it by a call of MPI with one element of zeros.
bool operators::is_allowed(const operator_info& op, const datatype& type) {
  if (!op.named) return true;
  if (!type.named) return false;
  const std::pair key(op.handle, type.handle);
  {
    const auto held = mutex_.lock();
    const auto at = allowed_.find(key);
    if (at != allowed_.end()) return at->second;
  }
  const std::size_t bytes = std::max(static_cast<std::size_t>(type.extent), type.true_extent);
  const std::vector<std::max_align_t> a(bytes / sizeof(std::max_align_t) + 1);
  auto b = a;
  bool fits = false;
  {
    const quiet_errors guard(handlers_);
    fits = PMPI_Reduce_local(a.data(), b.data(), 1, type.handle, op.handle) == MPI_SUCCESS;
  }
  const auto held = mutex_.lock();
  return allowed_[key] = fits;
}

bool operators::use_again(MPI_Op handle) {
  const auto held = mutex_.lock();
  const auto at = entries_.find(handle);
  if (at == entries_.end()) return false;  // another thread has freed it
  return at->second.named || std::exchange(at->second.used_before, true);
}

void operators::note_decision(MPI_Op handle) {
  const auto held = mutex_.lock();
  if (const auto at = entries_.find(handle); at != entries_.end()) at->second.has_decisions = true;
}

bool operators::is_of_program(MPI_Op handle) {
  const auto held = mutex_.lock();
  const auto at = entries_.find(handle);
  return at != entries_.end() && !at->second.named;
}

MPI_Op operators::begin_free(MPI_Op handle) {
  const auto held = mutex_.lock();
  const auto at = entries_.find(handle);
  if (at == entries_.end() || at->second.named) return handle;
  operator_info& op = at->second;
  if (op.has_decisions) types_.invalidate();
  if (op.users != 0) {
    op.freed = true;
    return MPI_OP_NULL;
  }
  const MPI_Op last = op.function != nullptr ? kept_.keep(handle, op.function, op.commutative) : handle;
  spare_ = entries_.extract(at);
  return last;
}

void operators::retain(const operator_info& op) {
  const auto held = mutex_.lock();
  ++entries_.at(op.handle).users;
}

void operators::release(const operator_info& op) {
  MPI_Op last = op.handle;
  {
    const auto held = mutex_.lock();
    const auto at = entries_.find(op.handle);
    if (--at->second.users != 0 || !at->second.freed) return;
    entries_.erase(at);
  }
  real<MPI_Op_free>(&last);
}

}  // namespace tutti::preload
