// SPDX-License-Identifier: Apache-2.0
//
// Tests that calls with LPF_CHECKED are still valid C++: qualified, in conditions, as arguments.
#include "lpf/collectives.h"
#include "lpf/core.h"

bool broadcast_and_sync(lpf_t ctx, lpf_coll_t coll, lpf_memslot_t slot) {
  if (::lpf_broadcast(coll, slot, slot, 8, 0) != LPF_SUCCESS) return false;
  return ::lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS;
}
