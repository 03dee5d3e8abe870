// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf/core.h, except the making of sections (exec.cpp, hook.cpp) and their costs
// (probe.cpp). Puts, gets and syncs, the most frequent calls, call the process directly instead of
// the internal ABI.
#include "frontends/bsp/bsp_process.hpp"
#include "frontends/lpf/section.hpp"
#include "lpf/checked.h"
#include "lpf/core.h"

using namespace tutti::bsp;
using tutti::lpf::call_process;

namespace {

lpf_err_t register_memory(lpf_t ctx, const char* operation, bool global, void* pointer, size_t size,
                          lpf_memslot_t* memslot) noexcept {
  return call_process(ctx, operation, [&](process& p) {
    if (memslot == nullptr) [[unlikely]]
      abi::reject(p, operation + 4, "memslot", "is null", "pass a place for the slot");
    return abi::register_memory(p, global, pointer, size, *memslot);
  });
}

}  // namespace

extern "C" {

lpf_err_t lpf_register_global(lpf_t ctx, void* pointer, size_t size, lpf_memslot_t* memslot) {
  return register_memory(ctx, "lpf_register_global", true, pointer, size, memslot);
}

lpf_err_t lpf_register_local(lpf_t ctx, void* pointer, size_t size, lpf_memslot_t* memslot) {
  return register_memory(ctx, "lpf_register_local", false, pointer, size, memslot);
}

lpf_err_t lpf_deregister(lpf_t ctx, lpf_memslot_t memslot) {
  return call_process(ctx, "lpf_deregister", [&](process& p) {
    abi::deregister(p, memslot);
    return true;
  });
}

lpf_err_t lpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t) {
  return call_process(ctx, "lpf_put", [&](process& p) {
    return p.put(src_slot, src_offset, static_cast<int>(dst_pid), dst_slot, dst_offset, size);
  });
}

lpf_err_t lpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t) {
  return call_process(ctx, "lpf_get", [&](process& p) {
    return p.get(static_cast<int>(src_pid), src_slot, src_offset, dst_slot, dst_offset, size);
  });
}

lpf_err_t lpf_sync(lpf_t ctx, lpf_sync_attr_t) {
  return call_process(ctx, "lpf_sync", [](process& p) {
    p.sync();
    return true;
  });
}

lpf_err_t lpf_resize_memory_register(lpf_t ctx, size_t max_regs) {
  return call_process(ctx, "lpf_resize_memory_register",
                      [&](process& p) { return abi::resize_memory_register(p, max_regs); });
}

lpf_err_t lpf_resize_message_queue(lpf_t ctx, size_t max_msgs) {
  return call_process(ctx, "lpf_resize_message_queue",
                      [&](process& p) { return abi::resize_queue(p, max_msgs); });
}

lpf_t lpf_checked_ctx(lpf_t ctx, const char* file, int line) {
  if (auto* const c = tutti::lpf::live_context(ctx)) {
    abi::set_call_site(*c->process, {file, line});
    c->has_call_site = true;
  }
  return ctx;
}

}  // extern "C"
