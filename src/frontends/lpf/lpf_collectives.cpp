// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf/collectives.h.
#include <algorithm>
#include <string>

#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "lpf/checked.h"
#include "lpf/collectives.h"

using namespace tutti::bsp;
using tutti::lpf::call_process;

namespace {

template <class Call>
lpf_err_t schedule(lpf_coll_t coll, const char* operation, Call&& call) noexcept {
  if (coll.ctx == nullptr || coll.number == 0) [[unlikely]] {
    tutti::lpf::report_error(operation, -1, "coll", "is LPF_INVALID_COLL",
                             "pass an object that lpf_collectives_init() created");
    return LPF_ERR_FATAL;
  }
  return call_process(coll.ctx, operation, call);
}

lpf_err_t schedule_reduction(lpf_coll_t coll, const char* operation, void* data, lpf_memslot_t slot,
                             size_t num, size_t size, abi::combiner by, int root, bool single_element) {
  return schedule(coll, operation, [&](process& p) {
    return abi::reduce(p, coll.number, data, slot, num, size, by, root, single_element);
  });
}

// A member may gather a block from each member, so the memory of one process must hold all of them.
// Linux lets a process address at most 2^47 bytes.
bool is_addressable(size_t members, size_t element_bytes, size_t bytes) {
  constexpr size_t addressable = size_t{1} << 47;
  return std::max(element_bytes, bytes) <= addressable / std::max<size_t>(members, 1);
}

// Converts an invalid root to another invalid one, because negative values mean that there is no
// root.
int root_of(lpf_pid_t root) { return static_cast<int>(std::min<lpf_pid_t>(root, 0x7fffffff)); }

}  // namespace

extern "C" {

lpf_err_t lpf_collectives_init(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, size_t max_calls, size_t max_elem_size,
                               size_t max_byte_size, lpf_coll_t* coll) {
  return lpf_collectives_init_strided(ctx, s, p, 0, p, 1, max_calls, max_elem_size, max_byte_size, coll);
}

lpf_err_t lpf_collectives_init_strided(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_pid_t lo, lpf_pid_t hi,
                                       lpf_pid_t str, size_t max_calls, size_t max_elem_size,
                                       size_t max_byte_size, lpf_coll_t* coll) {
  return call_process(ctx, "lpf_collectives_init", [&](process& self) {
    process_set_id made = 0;
    if (coll == nullptr)
      abi::reject(self, "collectives_init", "coll", "is null", "pass a place for the object");
    abi::validate_collectives_init(self, s, p, hi);
    // Wrong values are rejected below.
    const lpf_pid_t members = str > 0 && lo < hi ? (hi - lo - 1) / str + 1 : 1;
    if (!is_addressable(members, max_elem_size, max_byte_size)) return false;
    if (!abi::make_process_set(self, root_of(lo), root_of(hi) - 1, root_of(str),
                               {max_calls, max_elem_size, max_byte_size}, made))
      return false;
    *coll = {ctx, members, (s - lo) / str, made};
    return true;
  });
}

lpf_t lpf_collectives_get_context(lpf_coll_t coll) { return coll.ctx; }

lpf_err_t lpf_collectives_destroy(lpf_coll_t coll) {
  return schedule(coll, "lpf_collectives_destroy", [&](process& p) {
    abi::free_process_set(p, coll.number);
    return true;
  });
}

lpf_err_t lpf_broadcast(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root) {
  return schedule(coll, "lpf_broadcast",
                  [&](process& p) { return abi::broadcast(p, coll.number, src, dst, size, root_of(root)); });
}

lpf_err_t lpf_gather(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root) {
  return schedule(coll, "lpf_gather",
                  [&](process& p) { return abi::gather(p, coll.number, src, dst, size, root_of(root)); });
}

lpf_err_t lpf_scatter(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root) {
  return schedule(coll, "lpf_scatter",
                  [&](process& p) { return abi::scatter(p, coll.number, src, dst, size, root_of(root)); });
}

lpf_err_t lpf_allgather(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size,
                        bool exclude_myself) {
  return schedule(coll, "lpf_allgather",
                  [&](process& p) { return abi::allgather(p, coll.number, src, dst, size, exclude_myself); });
}

lpf_err_t lpf_alltoall(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size) {
  return schedule(coll, "lpf_alltoall",
                  [&](process& p) { return abi::alltoall(p, coll.number, src, dst, size); });
}

lpf_err_t lpf_reduce(lpf_coll_t coll, void* __restrict element, lpf_memslot_t element_slot, size_t size,
                     lpf_reducer_t reducer, lpf_pid_t root) {
  return schedule_reduction(coll, "lpf_reduce", element, element_slot, 1, size, reducer, root_of(root), true);
}

lpf_err_t lpf_allreduce(lpf_coll_t coll, void* __restrict element, lpf_memslot_t element_slot, size_t size,
                        lpf_reducer_t reducer) {
  return schedule_reduction(coll, "lpf_allreduce", element, element_slot, 1, size, reducer, -1, true);
}

lpf_err_t lpf_combine(lpf_coll_t coll, void* __restrict array, lpf_memslot_t slot, size_t num, size_t size,
                      lpf_combiner_t combiner, lpf_pid_t root) {
  return schedule_reduction(coll, "lpf_combine", array, slot, num, size, combiner, root_of(root), false);
}

lpf_err_t lpf_allcombine(lpf_coll_t coll, void* __restrict array, lpf_memslot_t slot, size_t num, size_t size,
                         lpf_combiner_t combiner) {
  return schedule_reduction(coll, "lpf_allcombine", array, slot, num, size, combiner, -1, false);
}

lpf_coll_t lpf_checked_coll(lpf_coll_t coll, const char* file, int line) {
  lpf_checked_ctx(coll.ctx, file, line);
  return coll;
}

}  // extern "C"
