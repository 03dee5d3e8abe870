// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf/bsplib.h. The functions here validate the arguments and report errors.
// bsplib_object.hpp does the work.
#include "lpf/bsplib.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "frontends/lpf/bsplib_object.hpp"
#include "frontends/lpf/report_error.hpp"

namespace {

using tutti::lpf::report_error;

bsplib_err_t fail(bsplib_err_t code, const bsplib_object* b, const char* operation, const char* argument,
                  const std::string& problem, const char* remedy) noexcept {
  report_error(operation, b != nullptr ? static_cast<int>(b->pid) : -1, argument, problem, remedy);
  return code;
}

bsplib_err_t no_object(const char* operation) noexcept {
  return fail(BSPLIB_ERR_NULL_POINTER, nullptr, operation, "bsplib", "is null",
              "pass an object that bsplib_create() created");
}

template <class Call>
bsplib_err_t guarded(bsplib_t b, const char* operation, Call&& call) noexcept {
  if (b == nullptr) return no_object(operation);
  if (b->failed) return BSPLIB_ERR_FATAL;
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return BSPLIB_ERR_OUT_OF_MEMORY;
  } catch (const std::length_error&) {
    return BSPLIB_ERR_OUT_OF_MEMORY;
  } catch (...) {  // LPF's core has reported it
    b->failed = true;
    return BSPLIB_ERR_FATAL;
  }
}

// The names of the arguments of a call, for reports.
struct access {
  const char* operation;
  const char* process;
  const char* local;
  const char* remote;
};
constexpr access of_put = {"bsplib_put", "dst_pid", "src", "dst"};
constexpr access of_hpput = {"bsplib_hpput", "dst_pid", "src", "dst"};
constexpr access of_get = {"bsplib_get", "src_pid", "dst", "src"};
constexpr access of_hpget = {"bsplib_hpget", "src_pid", "dst", "src"};
constexpr access of_send = {"bsplib_send", "dst_pid", "payload", nullptr};
constexpr access of_hpsend = {"bsplib_hpsend", "dst_pid", "payload", nullptr};

bsplib_err_t validate_process(const bsplib_object& b, const access& a, lpf_pid_t peer) {
  if (peer < b.nprocs) [[likely]]
    return BSPLIB_SUCCESS;
  return fail(BSPLIB_ERR_PID_OUT_OF_RANGE, &b, a.operation, a.process,
              "is " + std::to_string(peer) + ", but there are " + std::to_string(b.nprocs) + " processes",
              "pass 0 to nprocs - 1");
}

bsplib_err_t validate_local(const bsplib_object& b, const access& a, const void* local, std::size_t bytes) {
  if (local == nullptr && bytes > 0) [[unlikely]]
    return fail(BSPLIB_ERR_NULL_POINTER, &b, a.operation, a.local,
                "is null, for " + std::to_string(bytes) + " bytes", "pass memory of that size");
  return BSPLIB_SUCCESS;
}

bsplib_err_t validate_remote(const bsplib_object& b, const access& a, lpf_pid_t peer,
                             const tutti::lpf::registration* r, const void* remote, std::size_t offset,
                             std::size_t bytes) {
  if (remote == nullptr) [[unlikely]]
    return fail(BSPLIB_ERR_NULL_POINTER, &b, a.operation, a.remote, "is null",
                "pass a registered address; null names no memory, even if it is registered");
  if (r == nullptr) [[unlikely]]
    return fail(BSPLIB_ERR_MEMORY_NOT_REGISTERED, &b, a.operation, a.remote, "is not a registered address",
                "register it with bsplib_push_reg() in an earlier superstep, and pass the address itself");
  if (!b.safe) return BSPLIB_SUCCESS;
  const std::size_t size = r->sizes[peer];
  if (size == tutti::lpf::size_of_null) [[unlikely]]
    return fail(BSPLIB_ERR_NULL_POINTER, &b, a.operation, a.remote,
                "is registered as null on process " + std::to_string(peer),
                "register memory on that process");
  if (bytes > size || offset > size - bytes) [[unlikely]]
    return fail(BSPLIB_ERR_MEMORY_ACCESS_OUT_OF_RANGE, &b, a.operation, "offset",
                std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " exceed the " +
                    std::to_string(size) + " bytes that process " + std::to_string(peer) + " has registered",
                "register more memory, or pass fewer bytes");
  return BSPLIB_SUCCESS;
}

// Calls `act` with the slot. With 0 bytes only the process is validated.
template <class Act>
bsplib_err_t schedule_transfer(bsplib_t b, const access& a, lpf_pid_t peer, const void* local,
                               const void* remote, std::size_t offset, std::size_t bytes,
                               Act&& act) noexcept {
  return guarded(b, a.operation, [&] {
    bsplib_err_t code = validate_process(*b, a, peer);
    if (code != BSPLIB_SUCCESS || bytes == 0) return code;
    code = validate_local(*b, a, local, bytes);
    if (code != BSPLIB_SUCCESS) return code;
    const tutti::lpf::registration* const r = b->registered.find(remote);
    code = validate_remote(*b, a, peer, r, remote, offset, bytes);
    if (code == BSPLIB_SUCCESS) act(r->slot);
    return code;
  });
}

bsplib_err_t send(bsplib_t b, const access& a, lpf_pid_t to, const void* tag, const void* payload,
                  std::size_t bytes, bool deferred) noexcept {
  return guarded(b, a.operation, [&] {
    bsplib_err_t code = validate_process(*b, a, to);
    if (code == BSPLIB_SUCCESS) code = validate_local(*b, a, payload, bytes);
    if (code != BSPLIB_SUCCESS) return code;
    if (tag == nullptr && b->tag_bytes > 0)
      return fail(BSPLIB_ERR_NULL_POINTER, b, a.operation, "tag",
                  "is null, with a tag size of " + std::to_string(b->tag_bytes), "pass a tag of that size");
    b->send(to, tag, payload, bytes, deferred);
    return BSPLIB_SUCCESS;
  });
}

}  // namespace

extern "C" {

bsplib_err_t bsplib_create(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, int safemode, size_t max_hp_regs,
                           bsplib_t* bsplib) {
  if (bsplib == nullptr)
    return fail(BSPLIB_ERR_NULL_POINTER, nullptr, "bsplib_create", "bsplib", "is null",
                "pass a place for the object");
  *bsplib = nullptr;
  if (pid >= nprocs)
    return fail(BSPLIB_ERR_PID_OUT_OF_RANGE, nullptr, "bsplib_create", "pid",
                "is " + std::to_string(pid) + ", but nprocs is " + std::to_string(nprocs),
                "pass the number of this process and the number of processes");
  try {
    *bsplib = new bsplib_object(ctx, pid, nprocs, safemode != 0, max_hp_regs);
    return BSPLIB_SUCCESS;
  } catch (const std::bad_alloc&) {
    return BSPLIB_ERR_OUT_OF_MEMORY;
  } catch (...) {  // LPF's core has reported it
    return BSPLIB_ERR_FATAL;
  }
}

bsplib_err_t bsplib_destroy(bsplib_t bsplib) {
  if (bsplib == nullptr) return no_object("bsplib_destroy");
  bsplib_err_t code = BSPLIB_SUCCESS;  // for a failed object, another call has returned the error
  if (!bsplib->failed)
    code = guarded(bsplib, "bsplib_destroy", [&] {
      bsplib->end();
      return BSPLIB_SUCCESS;
    });
  delete bsplib;
  return code;
}

double bsplib_time(bsplib_t bsplib) {
  if (bsplib == nullptr) return no_object("bsplib_time"), 0.0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - bsplib->begin).count();
}

lpf_pid_t bsplib_nprocs(bsplib_t bsplib) {
  if (bsplib == nullptr) return no_object("bsplib_nprocs"), 0;
  return bsplib->nprocs;
}

lpf_pid_t bsplib_pid(bsplib_t bsplib) {
  if (bsplib == nullptr) return no_object("bsplib_pid"), 0;
  return bsplib->pid;
}

bsplib_err_t bsplib_sync(bsplib_t bsplib) {
  return guarded(bsplib, "bsplib_sync", [&] { return bsplib->sync(); });
}

bsplib_err_t bsplib_push_reg(bsplib_t bsplib, const void* ident, size_t size) {
  return guarded(bsplib, "bsplib_push_reg", [&] {
    if (ident == nullptr && size > 0)
      return fail(BSPLIB_ERR_NULL_POINTER, bsplib, "bsplib_push_reg", "ident",
                  "is null, with a size of " + std::to_string(size), "pass memory, or a size of 0");
    bsplib->push(ident, size);
    return BSPLIB_SUCCESS;
  });
}

bsplib_err_t bsplib_pop_reg(bsplib_t bsplib, const void* ident) {
  return guarded(bsplib, "bsplib_pop_reg", [&] {
    if (!bsplib->registered.pop(ident))
      return fail(BSPLIB_ERR_MEMORY_NOT_REGISTERED, bsplib, "bsplib_pop_reg", "ident",
                  "is not, or is no longer, a registered address",
                  "pop each registration once, with the address with which it was pushed");
    return BSPLIB_SUCCESS;
  });
}

bsplib_err_t bsplib_put(bsplib_t bsplib, lpf_pid_t dst_pid, const void* src, void* dst, size_t offset,
                        size_t nbytes) {
  return schedule_transfer(bsplib, of_put, dst_pid, src, dst, offset, nbytes,
                           [&](lpf_memslot_t slot) { bsplib->put(dst_pid, src, slot, offset, nbytes); });
}

bsplib_err_t bsplib_hpput(bsplib_t bsplib, lpf_pid_t dst_pid, const void* src, void* dst, size_t offset,
                          size_t nbytes) {
  return schedule_transfer(bsplib, of_hpput, dst_pid, src, dst, offset, nbytes, [&](lpf_memslot_t slot) {
    auto* const from = static_cast<std::byte*>(const_cast<void*>(src));  // only read
    if (!bsplib->direct({dst_pid, true, slot, offset, nbytes, from, 0}))
      bsplib->put(dst_pid, src, slot, offset, nbytes);
  });
}

bsplib_err_t bsplib_get(bsplib_t bsplib, lpf_pid_t src_pid, const void* src, size_t offset, void* dst,
                        size_t nbytes) {
  return schedule_transfer(bsplib, of_get, src_pid, dst, src, offset, nbytes,
                           [&](lpf_memslot_t slot) { bsplib->get(src_pid, slot, offset, dst, nbytes); });
}

bsplib_err_t bsplib_hpget(bsplib_t bsplib, lpf_pid_t src_pid, const void* src, size_t offset, void* dst,
                          size_t nbytes) {
  return schedule_transfer(bsplib, of_hpget, src_pid, dst, src, offset, nbytes, [&](lpf_memslot_t slot) {
    if (!bsplib->direct({src_pid, false, slot, offset, nbytes, static_cast<std::byte*>(dst), 0}))
      bsplib->get(src_pid, slot, offset, dst, nbytes);
  });
}

size_t bsplib_set_tagsize(bsplib_t bsplib, size_t tag_nbytes) {
  if (bsplib == nullptr) return no_object("bsplib_set_tagsize"), 0;
  bsplib->next_tag_bytes = tag_nbytes;
  return bsplib->tag_bytes;
}

bsplib_err_t bsplib_send(bsplib_t bsplib, lpf_pid_t dst_pid, const void* tag, const void* payload,
                         size_t nbytes) {
  return send(bsplib, of_send, dst_pid, tag, payload, nbytes, false);
}

bsplib_err_t bsplib_hpsend(bsplib_t bsplib, lpf_pid_t dst_pid, const void* tag, const void* payload,
                           size_t nbytes) {
  return send(bsplib, of_hpsend, dst_pid, tag, payload, nbytes, true);
}

bsplib_err_t bsplib_qsize(bsplib_t bsplib, size_t* nmessages, size_t* accum_nbytes) {
  return guarded(bsplib, "bsplib_qsize", [&] {
    if (nmessages != nullptr) *nmessages = bsplib->received.remaining();
    if (accum_nbytes != nullptr) *accum_nbytes = bsplib->received.payload_bytes();
    return BSPLIB_SUCCESS;
  });
}

bsplib_err_t bsplib_get_tag(bsplib_t bsplib, size_t* status, void* tag) {
  return guarded(bsplib, "bsplib_get_tag", [&] {
    const tutti::lpf::incoming& all = bsplib->received;
    if (status == nullptr || (tag == nullptr && all.remaining() > 0 && all.tag_bytes() > 0))
      return fail(BSPLIB_ERR_NULL_POINTER, bsplib, "bsplib_get_tag", status == nullptr ? "status" : "tag",
                  "is null", "pass a place for it");
    *status = SIZE_MAX;
    if (all.remaining() == 0) return BSPLIB_SUCCESS;
    const tutti::lpf::received_message m = all.front();
    *status = m.bytes;
    if (all.tag_bytes() > 0) std::memcpy(tag, m.tag, all.tag_bytes());
    return BSPLIB_SUCCESS;
  });
}

bsplib_err_t bsplib_move(bsplib_t bsplib, void* payload, size_t reception_nbytes) {
  return guarded(bsplib, "bsplib_move", [&] {
    if (bsplib->received.remaining() == 0) return BSPLIB_ERR_EMPTY_MESSAGE_QUEUE;
    const tutti::lpf::received_message m = bsplib->received.front();
    const std::size_t bytes = std::min(reception_nbytes, m.bytes);
    if (payload == nullptr && bytes > 0)
      return fail(BSPLIB_ERR_NULL_POINTER, bsplib, "bsplib_move", "payload",
                  "is null, for " + std::to_string(bytes) + " bytes", "pass memory of that size");
    if (bytes > 0) std::memcpy(payload, m.payload, bytes);
    bsplib->received.drop_front();
    return BSPLIB_SUCCESS;
  });
}

size_t bsplib_hpmove(bsplib_t bsplib, const void** tag, const void** payload) {
  tutti::lpf::received_message m{nullptr, nullptr, SIZE_MAX};
  guarded(bsplib, "bsplib_hpmove", [&] {
    if (bsplib->received.remaining() == 0) return BSPLIB_SUCCESS;
    m = bsplib->received.front();
    bsplib->received.drop_front();
    return BSPLIB_SUCCESS;
  });
  if (tag != nullptr) *tag = m.tag;
  if (payload != nullptr) *payload = m.payload;
  return m.bytes;
}

}  // extern "C"
