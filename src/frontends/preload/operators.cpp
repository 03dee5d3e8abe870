// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/operators.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::preload {
namespace {

struct named_operator {
  MPI_Op op;
  builtin_op builtin;
};

// Tutti has no loop for MPI_MINLOC and MPI_MAXLOC.
std::vector<named_operator> named_operators() {
  return {{MPI_SUM, builtin_op::sum},        {MPI_PROD, builtin_op::product},
          {MPI_MIN, builtin_op::min},        {MPI_MAX, builtin_op::max},
          {MPI_BAND, builtin_op::bit_and},   {MPI_BOR, builtin_op::bit_or},
          {MPI_BXOR, builtin_op::bit_xor},   {MPI_LAND, builtin_op::logical_and},
          {MPI_LOR, builtin_op::logical_or}, {MPI_LXOR, builtin_op::logical_xor},
          {MPI_MINLOC, builtin_op::user},    {MPI_MAXLOC, builtin_op::user}};
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

const operator_info& operators::of(MPI_Op handle) {
  static const operator_info none;
  if (handle == MPI_OP_NULL || handle == MPI_REPLACE || handle == MPI_NO_OP) return none;
  {
    const auto held = mutex_.lock();
    const auto at = entries_.find(handle);
    if (at != entries_.end()) return *at->second;
  }
  auto made = std::make_unique<operator_info>();
  made->handle = handle;
  for (const named_operator& n : named_operators())
    if (n.op == handle) {
      made->named = made->commutative = made->usable = true;
      made->builtin = n.builtin;
    }
  if (!made->named) {
    const quiet_errors guard(handlers_);
    int commutes = 0;
    if (PMPI_Op_commutative(handle, &commutes) != MPI_SUCCESS) return none;
    made->commutative = commutes != 0;
    made->usable = true;
  }
  const auto held = mutex_.lock();
  return *entries_.try_emplace(handle, std::move(made)).first->second;
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

bool operators::defer_free(MPI_Op handle) {
  const auto held = mutex_.lock();
  const auto at = entries_.find(handle);
  if (at == entries_.end() || at->second->named) return false;
  if (at->second->users != 0) return at->second->freed = true;
  entries_.erase(at);
  return false;
}

void operators::retain(const operator_info& op) {
  const auto held = mutex_.lock();
  ++entries_.at(op.handle)->users;
}

void operators::release(const operator_info& op) {
  MPI_Op last = op.handle;
  {
    const auto held = mutex_.lock();
    const auto at = entries_.find(op.handle);
    if (--at->second->users != 0 || !at->second->freed) return;
    entries_.erase(at);
  }
  real<MPI_Op_free>(&last);
}

}  // namespace tutti::preload
