// SPDX-License-Identifier: Apache-2.0
//
// The end of a superstep of BSPlib.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "frontends/lpf/bsplib_object.hpp"
#include "frontends/lpf/report_error.hpp"

using tutti::lpf::require_success;

bsplib_err_t bsplib_object::sync() {
  register_buffers();
  put_descriptors();
  if (safe) put_summary();
  run_gets();
  const bsplib_err_t agreed_code = safe ? compare() : BSPLIB_SUCCESS;
  if (agreed_code == BSPLIB_SUCCESS) begin_registrations();
  const bool fetched = fetch_messages();
  run_puts();
  sync_context();
  deregister_buffers();
  finish_superstep(agreed_code == BSPLIB_SUCCESS, fetched);
  if (agreed_code != BSPLIB_SUCCESS) return agreed_code;
  return fetched ? BSPLIB_SUCCESS : BSPLIB_ERR_OUT_OF_MEMORY;
}

// Registers all memory that others read or write, and the object's own memory.
void bsplib_object::register_buffers() {
  const tutti::lpf::message_format format{tag_bytes};
  for (const tutti::lpf::deferred_message& m : deferred_) {
    if (m.bytes > 0) std::memcpy(sent_.data() + m.offset + format.payload_begin(), m.payload, m.bytes);
  }
  sent_messages_.assign_offsets(0);
  const bool in_batches = sent_messages_.in_batches();
  if (!in_batches) sent_messages_.copy_into_batches(sent_.data(), sent_in_batches_.data());
  require_success(lpf_register_global(ctx, in_batches ? sent_.data() : sent_in_batches_.data(), sent_.size(),
                                      &sent_slot_));
  require_success(lpf_register_local(ctx, put_bytes_.data(), put_bytes_.size(), &put_slot_));
  require_success(lpf_register_local(ctx, get_bytes_.data(), get_bytes_.size(), &get_slot_));
  if (!safe) return;
  const std::size_t pushes = registered.pushes();
  sizes_.clear();
  for (std::size_t i = 0; i < pushes; ++i) {
    const tutti::lpf::registration& r = registered.pushed(i);
    sizes_.push_back(r.address == nullptr ? tutti::lpf::size_of_null : r.size);
  }
  all_sizes_.resize(pushes * nprocs);
  require_success(lpf_register_global(ctx, sizes_.data(), pushes * sizeof(std::size_t), &sizes_slot_));
  require_success(
      lpf_register_local(ctx, all_sizes_.data(), all_sizes_.size() * sizeof(std::size_t), &all_sizes_slot_));
}

void bsplib_object::put_descriptors() {
  for (const lpf_pid_t receiver : sent_messages_.receivers())
    require_success(lpf_put(ctx, table_slot_, offsets_.sent_descriptors + receiver * sizeof(batch_descriptor),
                            receiver, table_slot_, pid * sizeof(batch_descriptor), sizeof(batch_descriptor),
                            LPF_MSG_DEFAULT));
}

void bsplib_object::put_summary() {
  using tutti::lpf::summary;
  auto& mine = *in_table<summary>(offsets_.summary);
  mine = {registered.pushes(), registered.pops(), registered.digest_of_pops(), next_tag_bytes};
  in_table<summary>(offsets_.summaries)[pid] = mine;
  for (lpf_pid_t q = 0; q < nprocs; ++q)
    if (q != pid)
      require_success(lpf_put(ctx, table_slot_, offsets_.summary, q, table_slot_,
                              offsets_.summaries + pid * sizeof mine, sizeof mine, LPF_MSG_DEFAULT));
}

void bsplib_object::sync_context() {
  require_success(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  messages_in_effect_ = messages_;
}

// Schedules gets from index `from` on, as many as the queue can hold. Returns the index of the
// first one that is not scheduled.
std::size_t bsplib_object::schedule_gets(std::size_t from) {
  const std::size_t reserved = 3 * std::size_t{nprocs};  // see need_messages()
  const std::size_t end = std::min(gets_.size(), from + (messages_in_effect_ - reserved));
  for (std::size_t i = from; i < end; ++i) {
    const transfer& g = gets_[i];
    require_success(lpf_get(ctx, g.peer, g.slot, g.offset, get_slot_, g.buffered, g.bytes, LPF_MSG_DEFAULT));
  }
  return end;
}

void bsplib_object::run_gets() {
  auto& more = *in_table<std::size_t>(offsets_.more_gets);
  const std::size_t done = schedule_gets(0);
  if (done < gets_.size())
    for (lpf_pid_t q = 0; q < nprocs; ++q)
      require_success(lpf_put(ctx, table_slot_, offsets_.one, q, table_slot_, offsets_.more_gets, sizeof more,
                              LPF_MSG_DEFAULT));
  sync_context();
  if (more != 0) {
    more = 0;
    schedule_gets(done);
    sync_context();
  }
  for (const transfer& g : gets_)
    if (g.bytes > 0) std::memcpy(g.local, get_bytes_.data() + g.buffered, g.bytes);
}

bsplib_err_t bsplib_object::compare() const {
  using tutti::lpf::report_error;
  const auto* const all = in_table<tutti::lpf::summary>(offsets_.summaries);
  const auto differs = [&](auto&& same, const char* what, const char* remedy) {
    for (lpf_pid_t q = 1; q < nprocs; ++q) {
      if (same(all[q], all[0])) continue;
      if (pid == 0)
        report_error("bsplib_sync", static_cast<int>(q), "", std::string(what) + " than process 0", remedy);
      return true;
    }
    return false;
  };
  if (differs(
          [](auto& a, auto& b) { return a.pushes == b.pushes; }, "makes more or fewer registrations",
          "call bsplib_push_reg() equally often on all processes, with a null pointer if there is no memory"))
    return BSPLIB_ERR_PUSHREG_MISMATCH;
  if (differs([](auto& a, auto& b) { return a.pops == b.pops && a.digest_of_pops == b.digest_of_pops; },
              "ends other registrations",
              "call bsplib_pop_reg() for the same registrations in the same order"))
    return BSPLIB_ERR_POPREG_MISMATCH;
  if (differs([](auto& a, auto& b) { return a.tag_bytes == b.tag_bytes; }, "sets another tag size",
              "call bsplib_set_tagsize() with the same size on all processes"))
    return BSPLIB_ERR_TAGSIZE_MISMATCH;
  return BSPLIB_SUCCESS;
}

void bsplib_object::begin_registrations() {
  const std::size_t pushes = registered.pushes();
  for (std::size_t i = 0; i < pushes; ++i) {
    tutti::lpf::registration& r = registered.pushed(i);
    require_success(lpf_register_global(ctx, const_cast<void*>(r.address), r.size, &r.slot));
  }
  if (!safe || pushes == 0) return;
  const std::size_t bytes = pushes * sizeof(std::size_t);
  for (lpf_pid_t q = 0; q < nprocs; ++q)
    require_success(lpf_get(ctx, q, sizes_slot_, 0, all_sizes_slot_, q * bytes, bytes, LPF_MSG_DEFAULT));
}

// Returns false if there is no memory for the messages.
bool bsplib_object::fetch_messages() {
  batch_descriptor* const descriptors = in_table<batch_descriptor>(0);
  std::size_t bytes = 0;
  arrived_messages_ = 0;
  for (lpf_pid_t q = 0; q < nprocs; ++q) {
    bytes += descriptors[q].bytes;
    arrived_messages_ += descriptors[q].messages;
  }
  bool allocated = true;
  try {
    arrived_.reserve(bytes);
  } catch (const std::bad_alloc&) {
    allocated = false;
    arrived_messages_ = bytes = 0;
    tutti::lpf::report_error("bsplib_sync", static_cast<int>(pid), "", "received messages are lost",
                             "send fewer bytes to a process in one superstep");
  }
  require_success(lpf_register_local(ctx, arrived_.data(), bytes, &arrived_slot_));
  std::size_t at = 0;
  for (lpf_pid_t q = 0; q < nprocs && allocated; ++q) {
    if (descriptors[q].messages == 0) continue;
    require_success(lpf_get(ctx, q, sent_slot_, descriptors[q].offset, arrived_slot_, at,
                            descriptors[q].bytes, LPF_MSG_DEFAULT));
    at += descriptors[q].bytes;
  }
  std::memset(descriptors, 0, nprocs * sizeof(batch_descriptor));
  return allocated;
}

void bsplib_object::run_puts() {
  for (const transfer& t : puts_)
    require_success(lpf_put(ctx, put_slot_, t.buffered, t.peer, t.slot, t.offset, t.bytes, LPF_MSG_DEFAULT));
  for (transfer& t : direct_) {
    lpf_memslot_t local = LPF_INVALID_MEMSLOT;
    require_success(lpf_register_local(ctx, t.local, t.bytes, &local));
    if (t.is_put)
      require_success(lpf_put(ctx, local, 0, t.peer, t.slot, t.offset, t.bytes, LPF_MSG_DEFAULT));
    else
      require_success(lpf_get(ctx, t.peer, t.slot, t.offset, local, 0, t.bytes, LPF_MSG_DEFAULT));
    t.slot = local;
  }
}

// Deregisters the memory that was registered for this superstep only.
void bsplib_object::deregister_buffers() {
  for (const transfer& t : direct_) require_success(lpf_deregister(ctx, t.slot));
  require_success(lpf_deregister(ctx, arrived_slot_));
  if (safe) {
    require_success(lpf_deregister(ctx, all_sizes_slot_));
    require_success(lpf_deregister(ctx, sizes_slot_));
  }
  require_success(lpf_deregister(ctx, get_slot_));
  require_success(lpf_deregister(ctx, put_slot_));
  require_success(lpf_deregister(ctx, sent_slot_));
}

void bsplib_object::finish_superstep(bool agreed, bool fetched) {
  received.begin(arrived_.data(), fetched ? arrived_messages_ : 0, {tag_bytes});
  lpf_err_t code = LPF_SUCCESS;
  if (agreed) {
    const std::size_t pushes = registered.pushes();
    for (std::size_t i = 0; safe && i < pushes; ++i)
      for (lpf_pid_t q = 0; q < nprocs; ++q) registered.pushed(i).sizes.push_back(all_sizes_[q * pushes + i]);
    registered.apply_requests([&](lpf_memslot_t slot) {
      if (code == LPF_SUCCESS) code = lpf_deregister(ctx, slot);
    });
    tag_bytes = next_tag_bytes;
  } else {
    registered.drop_requests();
    next_tag_bytes = tag_bytes;
  }
  puts_.clear();
  gets_.clear();
  direct_.clear();
  deferred_.clear();
  put_bytes_.clear();
  get_bytes_.clear();
  sent_.clear();
  sent_messages_.clear();
  require_success(code);
}
