// SPDX-License-Identifier: Apache-2.0
//
// The state of a process of a BSPlib program, over lpf/core.h. It holds what was scheduled in this
// superstep. A sync carries it out by two lpf_syncs:
//
//   first    gets, into memory of the object; descriptors of batches to the receivers; in safe mode
//            a summary to all processes
//   between  the received bytes of gets are written; memory is registered
//   second   puts; hpputs and hpgets; messages are fetched
//   after    registrations, deregistrations and the tag size take effect
//
// The calls that schedule request all memory and capacity, because a capacity takes effect at the
// next sync. So the sync itself does not lack any. Only gets are needed in the first lpf_sync. If a
// process has more gets than its queue holds, it informs all others, and all make one more
// lpf_sync.
//
// Only messages that the process sends count in the queue here. It cannot know the number of
// incoming messages in advance. So checked mode does not count them either.
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

/// Thrown if the context has failed, or if the program also uses it in other ways.
struct context_failed {};

/// Throws std::bad_alloc or context_failed if `code` is not LPF_SUCCESS.
void require_success(lpf_err_t code);

/// A put or a get; `slot` is the remote memory.
struct transfer {
  lpf_pid_t peer;
  bool is_put;
  lpf_memslot_t slot;
  std::size_t offset, bytes;
  std::byte* local;      ///< the caller's memory; null for a buffered put
  std::size_t buffered;  ///< offset in the object's memory
};

/// A message whose payload is read in the sync.
struct deferred_message {
  std::size_t offset;  ///< in the sent messages
  const void* payload;
  std::size_t bytes;
};

/// The data that processes exchange in safe mode.
struct summary {
  std::size_t pushes, pops;
  std::uint64_t digest_of_pops;
  std::size_t tag_bytes;
};

/// The offsets in the table, to which other processes write. At 0 are the descriptors of the
/// batches for this process. A process that needs one more lpf_sync puts `one` to `more_gets` of
/// all processes.
struct table_offsets {
  explicit table_offsets(std::size_t processes);
  std::size_t sent_descriptors, summaries, summary, more_gets, one, bytes;
};

}  // namespace tutti::lpf

struct bsplib_object {
  using transfer = tutti::lpf::transfer;

  /// Collective; it syncs.
  bsplib_object(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, bool safe, std::size_t max_direct);
  bsplib_object(const bsplib_object&) = delete;
  void end();

  /// During the lifetime of this object, checked mode does not count incoming messages in the
  /// context's queue.
  class sent_only_scope {
   public:
    explicit sent_only_scope(lpf_t ctx);
    ~sent_only_scope();
    sent_only_scope(const sent_only_scope&) = delete;

   private:
    const lpf_t ctx_;
  };

  // Scheduling. All functions throw std::bad_alloc and context_failed.
  void push(const void* address, std::size_t size);
  void put(lpf_pid_t to, const void* from, lpf_memslot_t slot, std::size_t offset, std::size_t bytes);
  void get(lpf_pid_t from, lpf_memslot_t slot, std::size_t offset, void* into, std::size_t bytes);
  /// Schedules an unbuffered put or get. Returns false if no more of these are possible in this
  /// superstep.
  bool direct(const transfer& t);
  void send(lpf_pid_t to, const void* tag, const void* payload, std::size_t bytes, bool deferred);

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
  using batch_descriptor = tutti::lpf::batch_descriptor;

  void need_registers(std::size_t direct, std::size_t registrations);
  void need_messages(std::size_t first, std::size_t second);

  // The parts of a sync, in their order.
  void register_buffers();
  void put_descriptors();
  void put_summary();
  void run_gets();
  std::size_t schedule_gets(std::size_t from);
  void sync_context();
  bsplib_err_t compare() const;
  void begin_registrations();
  bool fetch_messages();
  void run_puts();
  void finish_superstep(bool agreed, bool fetched);
  void deregister_buffers();

  template <class T>
  T* in_table(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(table_.data() + offset);
  }

  const sent_only_scope sent_only_;
  const std::size_t max_direct_;
  std::size_t registers_ = 0, messages_ = 0;  // as requested
  std::size_t messages_in_effect_ = 0;

  const tutti::lpf::table_offsets offsets_;
  tutti::lpf::buffer table_;
  lpf_memslot_t table_slot_;

  std::vector<transfer> puts_, gets_, direct_;
  tutti::lpf::buffer put_bytes_, get_bytes_;
  lpf_memslot_t put_slot_, get_slot_;

  tutti::lpf::buffer sent_, sent_in_batches_;
  tutti::lpf::outgoing sent_messages_;
  std::vector<tutti::lpf::deferred_message> deferred_;
  lpf_memslot_t sent_slot_;

  tutti::lpf::buffer arrived_;
  lpf_memslot_t arrived_slot_;
  std::size_t arrived_messages_ = 0;

  // The sizes of the requested registrations: on this process, and on all processes, one process
  // after the other.
  std::vector<std::size_t> sizes_, all_sizes_;
  lpf_memslot_t sizes_slot_, all_sizes_slot_;
};
