// SPDX-License-Identifier: Apache-2.0
//
// Resolves a symbolic place to bytes: the inline part, which every step of a run uses.
#pragma once

#include "base/compute/kernels.hpp"
#include "runtime/executor/executor.hpp"

namespace tutti::detail {

inline int schedule_run::resolve(const index& i) const noexcept {
  int value = i.base;
  if (depth_ > 0) {
    value += i.inner * loops_[depth_ - 1].i;
    if (depth_ > 1) value += i.outer * loops_[0].i;
  }
  if (i.modulus > 0) {
    value %= i.modulus;
    if (value < 0) value += i.modulus;
  }
  return value;
}

inline schedule_run::range schedule_run::locate(const place& p) const noexcept {
  if (p.plain) [[likely]]
    return {base_[static_cast<int>(p.where)] + static_cast<std::size_t>(p.first.base) * unit_,
            static_cast<std::size_t>(p.blocks) * unit_, true};
  return locate_indexed(p);
}

inline void schedule_run::deliver(const step& s, const range& to, const std::byte* data, std::size_t bytes) {
  if (s.kind == step_kind::recv) {
    compute::copy(to.data, data, bytes);
    return;
  }
  const range operand = locate(s.source);
  const operation& op = call_->op;
  const std::size_t n = bytes == unit_ ? call_->count : bytes / call_->type.size;
  if (s.received_left)
    op.combine(data, operand.data, to.data, n, op.state);
  else
    op.combine(operand.data, data, to.data, n, op.state);
}

}  // namespace tutti::detail
