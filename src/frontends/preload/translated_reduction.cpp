// SPDX-License-Identifier: Apache-2.0
//
// The part of a translated call that concerns operators: reductions and scans.
#include <algorithm>

#include "base/compute/kernels.hpp"
#include "frontends/preload/translated_call.hpp"

namespace tutti::preload {
namespace {

std::size_t to_size(int n) { return static_cast<std::size_t>(n); }

}  // namespace

// Chooses a loop of tutti for the elements, or MPI_Reduce_local.
bool translated_call::choose_loop(const operator_info& op, const datatype& t) {
  const bool supported = op.builtin != builtin_op::user && t.kind != element_kind::opaque;
  if (const combine_function loop = supported ? compute::kernel(op.builtin, t.kind) : nullptr) {
    call_.type = {t.size, t.kind, {}};
    call_.op.combine = loop;
    call_.op.which = op.builtin;
    call_.op.commutative = true;
    return true;
  }
  if (t.size != 0) {
    // Elements that are interleaved cannot be copied to a buffer.
    if (t.extent <= 0 || (!t.combinable && static_cast<std::size_t>(t.extent) < t.true_extent)) return false;
    reduction_.set(op, t);
    combined_type_ = &t;
    combining_op_ = &op;
    call_.type = {static_cast<std::size_t>(t.extent), element_kind::opaque, {}};
  }
  call_.op = reduction_.as_operation();
  call_.op.commutative = op.commutative;
  return true;
}

bool translated_call::translate_combining(const arguments& a) {
  const datatype* t = usable_type(a.out_count, a.out_type);
  const operator_info& op = ops_.of(a.op);
  if (t == nullptr || !op.usable || !ops_.is_allowed(op, *t)) return false;
  const bool uneven = a.what == collective::reduce_scatter;
  const bool block_wise = uneven || a.what == collective::reduce_scatter_block;
  const bool receives = a.what != collective::reduce || rank_ == a.root;
  call_.in_place = a.in_place();
  if (call_.in_place && !receives) return false;

  std::size_t operand_items = to_size(a.out_count), result_items = operand_items;
  call_.count = operand_items;
  if (uneven) {
    if (a.out_counts == nullptr) return false;
    operand_items = 0;
    for (int i = 0; i < size_; ++i) {
      if (a.out_counts[i] < 0) return false;
      out_.counts.push_back(t->size == 0 ? 0 : to_size(a.out_counts[i]));
      operand_items += to_size(a.out_counts[i]);
    }
    call_.count = result_items = out_.counts[to_size(rank_)];
    call_.out_counts = {out_.counts.data(), out_.counts.size()};
  } else if (block_wise) {
    operand_items *= to_size(size_);
  }
  if (t->size == 0) call_.count = operand_items = result_items = 0;

  if (!choose_loop(op, *t)) return false;

  // In place, the result's memory holds all of the operand.
  const std::size_t capacity = call_.in_place ? std::max(operand_items, result_items) : result_items;
  if (t->combinable || t->size == 0) {
    call_.input = call_.in_place ? a.out : a.in;
    call_.output = receives ? a.out : nullptr;
    return operand_items == 0 ||
           (call_.input != nullptr && (!receives || result_items == 0 || call_.output != nullptr));
  }
  if (receives) {
    stage(out_, a.out, capacity, *t, true);
    if (call_.in_place) fill(out_);
    call_.output = out_.staging.data();
    out_.parts.front().items = result_items;
    if (a.what == collective::exscan && rank_ == 0) out_.parts.clear();
  }
  if (call_.in_place) {
    call_.input = call_.output;
    return true;
  }
  stage(in_, const_cast<void*>(a.in), operand_items, *t, true);
  fill(in_);
  call_.input = in_.staging.data();
  return true;
}

}  // namespace tutti::preload
