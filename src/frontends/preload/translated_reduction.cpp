// SPDX-License-Identifier: Apache-2.0
//
// The part of a translated call that concerns operators: reductions and scans.
#include <algorithm>

#include "base/compute/kernels.hpp"
#include "frontends/preload/translated_call.hpp"

namespace tutti::preload {
namespace {

std::size_t number(int n) { return static_cast<std::size_t>(n); }

}  // namespace

// Chooses a loop of tutti for the elements, or MPI_Reduce_local.
bool translated_call::choose_loop(const known_operator& op, const datatype& t) {
  const bool known = op.which != builtin_op::user && t.kind != element_kind::opaque;
  if (const combine_function loop = known ? compute::kernel(op.which, t.kind) : nullptr) {
    call_.type = {t.size, t.kind, {}};
    call_.op.combine = loop;
    call_.op.which = op.which;
    call_.op.commutative = true;
    return true;
  }
  if (t.size != 0) {
    // Elements that are interleaved cannot be copied to a buffer.
    if (t.extent <= 0 || (!t.in_rows && static_cast<std::size_t>(t.extent) < t.true_extent)) return false;
    reduction_.set(op, t);
    combined_ = &t;
    combines_ = &op;
    call_.type = {static_cast<std::size_t>(t.extent), element_kind::opaque, {}};
  }
  call_.op = reduction_.made();
  call_.op.commutative = op.commutative;
  return true;
}

bool translated_call::translate_combining(const arguments& a) {
  const datatype* t = usable(a.out_count, a.out_type);
  const known_operator& op = ops_.of(a.op);
  if (t == nullptr || !op.usable || !ops_.allow(op, *t)) return false;
  const bool uneven = a.what == collective::reduce_scatter;
  const bool block_wise = uneven || a.what == collective::reduce_scatter_block;
  const bool takes = a.what != collective::reduce || rank_ == a.root;
  call_.in_place = a.in_place();
  if (call_.in_place && !takes) return false;

  std::size_t given = number(a.out_count), taken = given;
  call_.count = given;
  if (uneven) {
    if (a.out_counts == nullptr) return false;
    given = 0;
    for (int i = 0; i < size_; ++i) {
      if (a.out_counts[i] < 0) return false;
      out_.counts.push_back(t->size == 0 ? 0 : number(a.out_counts[i]));
      given += number(a.out_counts[i]);
    }
    call_.count = taken = out_.counts[number(rank_)];
    call_.out_counts = {out_.counts.data(), out_.counts.size()};
  } else if (block_wise) {
    given *= number(size_);
  }
  if (t->size == 0) call_.count = given = taken = 0;

  if (!choose_loop(op, *t)) return false;

  // In place, the result's memory holds the whole operand.
  const std::size_t room = call_.in_place ? std::max(given, taken) : taken;
  if (t->in_rows || t->size == 0) {
    call_.input = call_.in_place ? a.out : a.in;
    call_.output = takes ? a.out : nullptr;
    return given == 0 || (call_.input != nullptr && (!takes || taken == 0 || call_.output != nullptr));
  }
  if (takes) {
    stage(out_, a.out, room, *t, true);
    if (call_.in_place) fill(out_);
    call_.output = out_.beside.data();
    out_.parts.front().items = taken;
    if (a.what == collective::exscan && rank_ == 0) out_.parts.clear();
  }
  if (call_.in_place) {
    call_.input = call_.output;
    return true;
  }
  stage(in_, const_cast<void*>(a.in), given, *t, true);
  fill(in_);
  call_.input = in_.beside.data();
  return true;
}

}  // namespace tutti::preload
