// SPDX-License-Identifier: Apache-2.0
//
// A process of a BSPlib program, over lpf/core.h: what has been scheduled in this superstep, and the
// sync that carries it out in two lpf_syncs:
//
//   first    gets, into memory of the object; notes to the receivers of messages; in safe mode a summary to
//   all between  what was got is written; memory is registered second   puts; hpputs and hpgets; messages are
//   fetched after    registrations, ends of them, and the tag size take effect
//
// All memory and capacity that this takes is asked for by the calls that schedule, since a capacity counts
// from the next sync on; so there is no lack of it in the sync. Gets alone are needed in the first lpf_sync:
// where there are more than the queue holds, all are told so, and make one lpf_sync more.
//
// Of the queue this counts what the process sends; how many come nobody can know before, so that checked mode
// does not count them either.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontends/lpf/batches.hpp"
#include "frontends/lpf/bsplib_registrations.hpp"
#include "frontends/lpf/buffer.hpp"
#include "lpf/bsplib.h"
#include "lpf/core.h"

namespace tutti::lpf {

/// The context has failed, or is used by others, too.
struct context_failed {};

/// Throws std::bad_alloc or context_failed.
void require_success(lpf_err_t code);

/// A put or a get, of the far side under `slot`.
struct transfer {
  lpf_pid_t peer;
  bool writes;  ///< is a put
  lpf_memslot_t slot;
  std::size_t offset, bytes;
  std::byte* near;       ///< the caller's memory; of a buffered put null
  std::size_t buffered;  ///< where in the object's memory
};

/// A message whose payload is read in the sync.
struct late_message {
  std::size_t at;  ///< in what was sent
  const void* payload;
  std::size_t bytes;
};

/// What processes tell one another in safe mode.
struct summary {
  std::size_t pushes, pops;
  std::uint64_t digest_of_pops;
  std::size_t tag_bytes;
};

/// What lies in the memory that others write to, and what is put there, one behind the other.
struct table_places {
  explicit table_places(std::size_t processes);
  std::size_t notes_to, summaries, summary, told_more, more, bytes;  // notes from others are at 0
};

}  // namespace tutti::lpf

struct bsplib_object {
  using transfer = tutti::lpf::transfer;

  /// Collective; syncs.
  bsplib_object(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, bool safe, std::size_t max_direct);
  bsplib_object(const bsplib_object&) = delete;
  void end();

  /// In checked mode the messages that come count in no queue of the context: as long as this lives.
  class sent_only {
   public:
    explicit sent_only(lpf_t ctx);
    ~sent_only();
    sent_only(const sent_only&) = delete;

   private:
    const lpf_t ctx_;
  };

  // Scheduling; all throw std::bad_alloc and context_failed.
  void push(const void* address, std::size_t size);
  void put(lpf_pid_t to, const void* from, lpf_memslot_t slot, std::size_t offset, std::size_t bytes);
  void get(lpf_pid_t from, lpf_memslot_t slot, std::size_t offset, void* into, std::size_t bytes);
  /// False: no more of these, in this superstep.
  bool direct(const transfer& t);
  void send(lpf_pid_t to, const void* tag, const void* payload, std::size_t bytes, bool late);

  bsplib_err_t sync();

  const lpf_t ctx;
  const lpf_pid_t pid, nprocs;
  const bool safe;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  bool failed = false;
  tutti::lpf::registrations registered;
  std::size_t tag_bytes = 0, next_tag_bytes = 0;
  tutti::lpf::incoming received;

 private:
  using batch = tutti::lpf::batch;

  void need_registers(std::size_t direct, std::size_t registrations);
  void need_messages(std::size_t first, std::size_t second);

  // Parts of a sync, in their order.
  void expose();
  void report_receivers();
  void report_summary();
  void read();
  std::size_t schedule_gets(std::size_t from);
  void sync_context();
  bsplib_err_t compare() const;
  void begin_registrations();
  bool fetch_messages();
  void write();
  void settle(bool agreed, bool fetched);
  void hide();

  template <class T>
  T* in_table(std::size_t place) const noexcept {
    return reinterpret_cast<T*>(table_.data() + place);
  }

  const sent_only counts_;
  const std::size_t max_direct_;
  std::size_t registers_ = 0, messages_ = 0;  // as asked for
  std::size_t messages_now_ = 0;

  const tutti::lpf::table_places places_;
  tutti::lpf::buffer table_;
  lpf_memslot_t table_slot_;

  std::vector<transfer> puts_, gets_, direct_;
  tutti::lpf::buffer put_bytes_, get_bytes_;
  lpf_memslot_t put_slot_, get_slot_;

  tutti::lpf::buffer sent_, sent_in_batches_;
  tutti::lpf::outgoing sent_messages_;
  std::vector<tutti::lpf::late_message> late_;
  lpf_memslot_t sent_slot_;

  tutti::lpf::buffer arrived_;
  lpf_memslot_t arrived_slot_;
  std::size_t arrived_messages_ = 0;

  // Of the registrations to come: on this process, and on all, process by process.
  std::vector<std::size_t> sizes_, all_sizes_;
  lpf_memslot_t sizes_slot_, all_sizes_slot_;
};
