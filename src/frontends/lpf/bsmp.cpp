// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf/bsmp.h with calls of lpf/core.h only. An object shares one block of memory with
// the objects of the other processes, under one global slot. The block holds the descriptors from
// all senders and for all receivers. It also holds the messages in the order in which they are
// sent, and the same messages in batches.
// LPF copies tags and payloads into it by puts, because only LPF knows the memory of a slot.
// Received messages go into other memory, under a local slot, which grows when necessary.
#include "lpf/bsmp.h"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "frontends/lpf/batches.hpp"
#include "frontends/lpf/buffer.hpp"
#include "frontends/lpf/report_error.hpp"

using tutti::lpf::batch_descriptor;
using tutti::lpf::buffer;
using tutti::lpf::padded;
using tutti::lpf::report_error;

extern "C" {

const lpf_bsmp_t LPF_INVALID_BSMP = nullptr;
const lpf_err_t LPF_ERR_BSMP_FULL = 101;
const lpf_err_t LPF_ERR_BSMP_INVAL = 102;
const size_t LPF_INVALID_SIZE = std::numeric_limits<size_t>::max();
}

namespace {

// Throws std::bad_alloc if the result exceeds PTRDIFF_MAX, as sum() does.
std::size_t product(std::size_t a, std::size_t b) {
  if (b != 0 && a > PTRDIFF_MAX / b) throw std::bad_alloc();
  return a * b;
}
std::size_t sum(std::size_t a, std::size_t b) {
  if (a > PTRDIFF_MAX || b > PTRDIFF_MAX - a) throw std::bad_alloc();
  return a + b;
}

}  // namespace

struct lpf_bsmp_object {
  lpf_bsmp_object(lpf_t context, lpf_pid_t self, lpf_pid_t processes, std::size_t payload_bytes,
                  std::size_t tag_bytes, std::size_t messages)
      : ctx(context),
        s(self),
        p(processes),
        max_bytes(payload_bytes),
        max_messages(messages),
        format{tag_bytes},
        table_bytes(padded(product(p, sizeof(batch_descriptor)))),
        message_bytes(max_message_bytes()),
        sent(sent_descriptors(block.add(block_bytes())), p) {
    sent.reserve(max_messages);
    std::memset(block.data(), 0, 2 * table_bytes);
  }
  lpf_bsmp_object(const lpf_bsmp_object&) = delete;

  std::size_t max_message_bytes() const {
    const std::size_t tag = sum(format.tag_bytes, 16 + 2 * 15);
    return sum(sum(max_bytes, 16), product(max_messages, tag));
  }
  std::size_t block_bytes() const { return sum(2 * table_bytes, product(2, padded(message_bytes))); }
  batch_descriptor* sent_descriptors(std::byte* base) const noexcept {
    return reinterpret_cast<batch_descriptor*>(base + table_bytes);
  }
  batch_descriptor* received_descriptors() const noexcept {
    return reinterpret_cast<batch_descriptor*>(block.data());
  }
  std::size_t sent_offset() const noexcept { return 2 * table_bytes; }
  std::size_t batches_offset() const noexcept { return sent_offset() + padded(message_bytes); }

  lpf_err_t put_descriptors();
  lpf_err_t fetch();

  const lpf_t ctx;
  const lpf_pid_t s, p;
  const std::size_t max_bytes, max_messages;
  const tutti::lpf::message_format format;
  const std::size_t table_bytes, message_bytes;
  buffer block;
  lpf_memslot_t block_slot = LPF_INVALID_MEMSLOT;
  tutti::lpf::outgoing sent;
  std::size_t sent_bytes = 0;  // of payload
  bool queue_is_full = false;  // the last message is scheduled only in part, so no other may follow
  buffer arrived;
  std::size_t arrived_registered = 0;
  lpf_memslot_t arrived_slot = LPF_INVALID_MEMSLOT;
  tutti::lpf::incoming received;
  bool is_marked = false;  // by have_one_context()
  bool failed = false;     // its context has failed, so no sync will follow
};

// Called before the first lpf_sync.
lpf_err_t lpf_bsmp_object::put_descriptors() {
  sent.assign_offsets(sent.in_batches() ? sent_offset() : batches_offset());
  for (const lpf_pid_t receiver : sent.receivers()) {
    constexpr std::size_t bytes = sizeof(batch_descriptor);
    const lpf_err_t code = lpf_put(ctx, block_slot, table_bytes + receiver * bytes, receiver, block_slot,
                                   s * bytes, bytes, LPF_MSG_DEFAULT);
    if (code != LPF_SUCCESS) return code;
  }
  return LPF_SUCCESS;
}

// Called between the two lpf_syncs.
lpf_err_t lpf_bsmp_object::fetch() {
  if (!sent.in_batches())
    sent.copy_into_batches(block.data() + sent_offset(), block.data() + batches_offset());
  std::size_t bytes = 0, messages = 0;
  batch_descriptor* const descriptors = received_descriptors();
  for (lpf_pid_t q = 0; q < p; ++q) {
    bytes += descriptors[q].bytes;
    messages += descriptors[q].messages;
  }
  received.begin(nullptr, 0, format);
  if (messages == 0) return LPF_SUCCESS;
  lpf_err_t code = LPF_SUCCESS;
  if (bytes > arrived_registered) {
    try {
      arrived.reserve(bytes);
    } catch (const std::bad_alloc&) {
      code = LPF_ERR_OUT_OF_MEMORY;
    }
    if (code == LPF_SUCCESS) code = lpf_deregister(ctx, arrived_slot);
    if (code == LPF_SUCCESS) code = lpf_register_local(ctx, arrived.data(), bytes, &arrived_slot);
    if (code == LPF_SUCCESS) arrived_registered = bytes;
  }
  std::size_t at = 0;
  for (lpf_pid_t q = 0; q < p && code == LPF_SUCCESS; ++q) {
    if (descriptors[q].messages == 0) continue;
    code = lpf_get(ctx, q, block_slot, descriptors[q].offset, arrived_slot, at, descriptors[q].bytes,
                   LPF_MSG_DEFAULT);
    at += descriptors[q].bytes;
  }
  std::memset(descriptors, 0, table_bytes);
  if (code == LPF_SUCCESS) received.begin(arrived.data(), messages, format);
  return code;
}

namespace {

lpf_err_t invalid(const char* operation, const char* argument, const std::string& problem, const char* remedy,
                  int process = -1) noexcept {
  report_error(operation, process, argument, problem, remedy);
  return LPF_ERR_BSMP_INVAL;
}
lpf_err_t no_object(const char* operation) noexcept {
  return invalid(operation, "bsmp", "is LPF_INVALID_BSMP", "pass an object that lpf_bsmp_create() created");
}

// If memory is missing, sent or received messages are lost. The sync continues, because the other
// processes must not wait.
lpf_err_t merge_codes(lpf_err_t previous, lpf_err_t current, const lpf_bsmp_object& o,
                      const char* what) noexcept {
  if (current == LPF_ERR_OUT_OF_MEMORY)
    report_error(
        "lpf_bsmp_sync", static_cast<int>(o.s), "", what,
        "add 4 max_messages + 2 p entries to the context's message queue, or give the process more memory");
  return previous == LPF_SUCCESS || current == LPF_ERR_FATAL ? current : previous;
}

// Returns whether all objects are different and of one context. It reports no error.
bool have_one_context(lpf_bsmp_t* objects, std::size_t n) noexcept {
  bool valid = true;
  std::size_t marked = 0;
  for (; marked < n && valid; ++marked) {
    valid =
        objects[marked] != nullptr && !objects[marked]->is_marked && objects[marked]->ctx == objects[0]->ctx;
    if (!valid) break;
    objects[marked]->is_marked = true;
  }
  for (std::size_t i = 0; i < marked; ++i) objects[i]->is_marked = false;
  return valid;
}

lpf_err_t sync_context(lpf_bsmp_t* objects, std::size_t n, lpf_sync_attr_t attr) {
  const lpf_err_t code = lpf_sync(objects[0]->ctx, attr);
  for (std::size_t i = 0; i < n && code != LPF_SUCCESS; ++i) objects[i]->failed = true;
  return code;
}

lpf_err_t sync(lpf_bsmp_t* objects, std::size_t n, lpf_sync_attr_t attr) {
  lpf_err_t result = LPF_SUCCESS;
  for (std::size_t i = 0; i < n; ++i)
    result = merge_codes(result, objects[i]->put_descriptors(), *objects[i], "sent messages are lost");
  lpf_err_t synced = sync_context(objects, n, attr);
  if (synced != LPF_SUCCESS) return synced;
  for (std::size_t i = 0; i < n; ++i)
    result = merge_codes(result, objects[i]->fetch(), *objects[i], "received messages are lost");
  synced = sync_context(objects, n, attr);
  if (synced != LPF_SUCCESS) return synced;
  for (std::size_t i = 0; i < n; ++i) {
    objects[i]->sent.clear();
    objects[i]->sent_bytes = 0;
    objects[i]->queue_is_full = false;
  }
  return result;
}

}  // namespace

extern "C" {

lpf_err_t lpf_bsmp_create(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, size_t buffer_size, size_t tag_size,
                          size_t max_messages, lpf_bsmp_t* bsmp) {
  if (bsmp == nullptr) return invalid("lpf_bsmp_create", "bsmp", "is null", "pass a place for the object");
  *bsmp = LPF_INVALID_BSMP;
  if (s >= p)
    return invalid("lpf_bsmp_create", "s", "is " + std::to_string(s) + ", but p is " + std::to_string(p),
                   "pass the number of this process and the number of processes");
  lpf_bsmp_object* made = nullptr;
  try {
    made = new lpf_bsmp_object(ctx, s, p, buffer_size, tag_size, max_messages);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  if (made == nullptr) return LPF_ERR_OUT_OF_MEMORY;
  lpf_err_t code = lpf_register_global(ctx, made->block.data(), made->block.size(), &made->block_slot);
  if (code == LPF_SUCCESS) {
    code = lpf_register_local(ctx, nullptr, 0, &made->arrived_slot);
    if (code != LPF_SUCCESS) lpf_deregister(ctx, made->block_slot);
  }
  if (code == LPF_SUCCESS)
    *bsmp = made;
  else
    delete made;
  return code;
}

lpf_err_t lpf_bsmp_destroy(lpf_bsmp_t* bsmp) {
  if (bsmp == nullptr || *bsmp == nullptr) return no_object("lpf_bsmp_destroy");
  lpf_bsmp_object* const o = *bsmp;
  if (!o->failed && (o->sent.messages() > 0 || o->queue_is_full))
    return invalid("lpf_bsmp_destroy", "bsmp", "has undelivered messages", "sync first",
                   static_cast<int>(o->s));
  const lpf_err_t first = lpf_deregister(o->ctx, o->block_slot);
  const lpf_err_t second = lpf_deregister(o->ctx, o->arrived_slot);
  delete o;
  *bsmp = LPF_INVALID_BSMP;
  return first != LPF_SUCCESS ? first : second;
}

lpf_err_t lpf_send(lpf_bsmp_t bsmp, lpf_pid_t pid, lpf_memslot_t tag, size_t tag_offset,
                   lpf_memslot_t payload, size_t payload_offset, size_t payload_size) {
  if (bsmp == nullptr) return no_object("lpf_send");
  lpf_bsmp_object& o = *bsmp;
  if (pid >= o.p)
    return invalid("lpf_send", "pid", "is " + std::to_string(pid) + ", but p is " + std::to_string(o.p),
                   "pass 0 to p - 1", static_cast<int>(o.s));
  if (o.sent.messages() == o.max_messages || payload_size > o.max_bytes - o.sent_bytes)
    return LPF_ERR_BSMP_FULL;
  if (o.queue_is_full) return LPF_ERR_OUT_OF_MEMORY;
  const std::size_t at = o.sent_offset() + o.sent.bytes();
  // No other operation writes there, so these local puts conflict with nothing.
  lpf_err_t code = LPF_SUCCESS;
  if (o.format.tag_bytes > 0)
    code = lpf_put(o.ctx, tag, tag_offset, o.s, o.block_slot, at + o.format.tag_begin(), o.format.tag_bytes,
                   LPF_MSG_DEFAULT);
  if (code == LPF_SUCCESS && payload_size > 0)
    code = lpf_put(o.ctx, payload, payload_offset, o.s, o.block_slot, at + o.format.payload_begin(),
                   payload_size, LPF_MSG_DEFAULT);
  o.queue_is_full = code != LPF_SUCCESS;
  o.failed = code == LPF_ERR_FATAL;
  if (code != LPF_SUCCESS) return code;
  tutti::lpf::write_header(o.block.data() + at, payload_size);
  o.sent.add(pid, o.format.bytes(payload_size));
  o.sent_bytes += payload_size;
  return LPF_SUCCESS;
}

lpf_err_t lpf_bsmp_sync(lpf_bsmp_t bsmp, lpf_sync_attr_t attr) {
  if (bsmp == nullptr) return no_object("lpf_bsmp_sync");
  return sync(&bsmp, 1, attr);
}

lpf_err_t lpf_bsmp_syncall(lpf_bsmp_t* bsmp, size_t n, lpf_sync_attr_t attr) {
  if (n == 0) return LPF_SUCCESS;
  if (bsmp == nullptr || !have_one_context(bsmp, n))
    return invalid("lpf_bsmp_syncall", "bsmp",
                   "holds LPF_INVALID_BSMP, an object twice, or objects of several contexts",
                   "pass different objects of one context");
  return sync(bsmp, n, attr);
}

lpf_err_t lpf_move(lpf_bsmp_t bsmp, void** tag, void** payload, size_t* size) {
  if (bsmp == nullptr) return no_object("lpf_move");
  tutti::lpf::received_message m{nullptr, nullptr, LPF_INVALID_SIZE};
  if (bsmp->received.remaining() > 0) {
    m = bsmp->received.front();
    bsmp->received.drop_front();
  }
  if (tag != nullptr) *tag = m.tag;
  if (payload != nullptr) *payload = m.payload;
  if (size != nullptr) *size = m.bytes;
  return LPF_SUCCESS;
}

}  // extern "C"
