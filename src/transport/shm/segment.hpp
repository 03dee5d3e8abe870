// SPDX-License-Identifier: Apache-2.0
//
// Memory that the processes of a node share. One process, the leader, creates it and sends an offer
// to the others, which map it:
//
//   leader:  create()  send the offer             join(0)   complete()
//   others:            receive it and attach()    join(r)   complete()
//
// After attach() and after join() all ranks agree whether each of them has succeeded. If one has
// not, all of them call close(). engines/mpi/node_segment.hpp does that.
//
// The functions of the set-up return the reason of a failure as text. An empty text is success. The
// set-up allocates all memory but that of segment_layout::allocate_later(), so a lack of it is such
// a reason, and never a SIGBUS.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/shm/process_identity.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/segment_layout.hpp"

namespace tutti::shm {

/// In the order in which they are tried.
enum class memory_kind : std::int32_t {
  memfd,   ///< without a name; others need access to the leader's /proc/PID/fd
  file,    ///< in /dev/shm, during the set-up only; limited by the size of /dev/shm
  window,  ///< memory that the caller provides: MPI_Win_allocate_shared
  none,
};

/// "memfd", "/dev/shm", "MPI window" or "none".
const char* name_of(memory_kind kind) noexcept;

/// Identifies a segment for the other ranks of the node, which receive it as bytes.
struct segment_offer {
  memory_kind kind = memory_kind::none;  ///< none: the leader has failed
  std::int32_t pid = 0, file = -1;
  std::uint32_t window_offset = 0;  ///< of the segment in the window
  std::uint64_t bytes = 0;
  std::uint64_t nonce[2] = {};
  char name[64] = {};
};

class segment {
 public:
  segment() = default;
  ~segment() { close(); }
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  // --- set-up
  /// By the leader. `kind` is memfd or file. Before, it removes what dead leaders have left.
  std::string create(memory_kind kind, const segment_layout& layout, segment_offer& offer);
  /// By the others. Returns a reason if the memory is not that of the offer, or if the leader has
  /// another layout.
  std::string attach(const segment_offer& offer, const segment_layout& layout);
  /// The same for memory that the caller provides and keeps until close(). It has
  /// window_bytes(layout) bytes.
  std::string create_in(void* window, const segment_layout& layout, segment_offer& offer);
  std::string attach_in(void* window, const segment_offer& offer, const segment_layout& layout);
  static std::size_t window_bytes(const segment_layout& layout) noexcept;
  /// Returns a reason if /dev/shm has no space for a window now. MPIs make windows of files there,
  /// and do not allocate them.
  static std::string validate_window_space(const segment_layout& layout);
  /// By all ranks. Allocates the area of the rank, which has zeros, and publishes its process.
  std::string join(int rank);
  /// By all ranks, when all have attached or failed. Removes the name of the memory.
  void complete_attach() noexcept;
  /// By all ranks, when all have joined or failed. From then on the segment has no file descriptor.
  void complete() noexcept;
  /// Unmaps the memory. A rank that has joined publishes that it has left.
  void close() noexcept;

  // --- after the set-up
  bool is_open() const noexcept { return memory_ != nullptr; }
  memory_kind kind() const noexcept { return kind_; }
  std::size_t bytes() const noexcept { return bytes_; }
  int ranks() const noexcept { return ranks_; }
  /// A part that exists once.
  std::byte* at(const segment_part& part) const noexcept { return memory_ + part.offset; }
  /// The block of a rank.
  std::byte* at(const segment_part& part, int rank) const noexcept {
    return memory_ + areas_ + static_cast<std::size_t>(rank) * area_bytes_ + part.offset;
  }
  segment_role role(int rank) const noexcept { return entry(rank).role.load(std::memory_order_acquire); }
  /// False if the process of the rank has ended, in whatever way. See is_alive().
  bool peer_is_alive(int rank) const noexcept { return is_alive(entry(rank).process, self_); }
  /// The pid of a rank that has joined, as this process names it. 0: the rank is in another PID
  /// namespace, or this process cannot tell.
  int pid(int rank) const noexcept {
    const process_identity& of = entry(rank).process;
    return of.pid_namespace == self_.pid_namespace && of.pid_namespace != 0 ? of.pid : 0;
  }
  /// Reports to all ranks that the job has lost a rank. The first report is kept.
  void abort(int lost_rank) noexcept;
  /// The rank that the job has lost, or -1. Costs one load.
  int lost_rank() const noexcept {
    return static_cast<int>(header().aborted.load(std::memory_order_acquire)) - 1;
  }
  /// Before a rank leaves its calls with an exception because the job has failed.
  void leave_calls() noexcept {
    if (is_rank()) header().left_calls.store(1, std::memory_order_release);
  }
  bool has_left_calls() const noexcept { return header().left_calls.load(std::memory_order_acquire) != 0; }
  /// The result of a read from the memory of another rank: gone if a rank has left its calls,
  /// because its program may have reused the memory.
  remote_read confirmed(remote_read got) const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return got == remote_read::complete && has_left_calls() ? remote_read::gone : got;
  }
  /// False in a process that a rank has forked. It may read the segment, but it is no rank: abort()
  /// and close() change nothing there for the others.
  bool is_rank() const noexcept;

 private:
  segment_header& header() const noexcept { return *reinterpret_cast<segment_header*>(memory_); }
  segment_rank& entry(int rank) const noexcept {
    return reinterpret_cast<segment_rank*>(memory_ + sizeof(segment_header))[rank];
  }
  void begin(memory_kind kind, const segment_layout& layout) noexcept;
  std::string map();
  void write_header(const segment_layout& layout, segment_offer& offer) noexcept;
  static std::string validate_identity(const segment_identity& found, const segment_offer& offer,
                                       const segment_layout& layout);

  std::byte* memory_ = nullptr;
  memory_kind kind_ = memory_kind::none;
  int ranks_ = 0, rank_ = -1;
  std::size_t bytes_ = 0, shared_bytes_ = 0, areas_ = 0, area_bytes_ = 0;
  int file_ = -1;
  std::string name_;  // of the leader's file, while it has one
  process_identity self_;
};

}  // namespace tutti::shm
