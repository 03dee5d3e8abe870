// SPDX-License-Identifier: Apache-2.0
//
// A small allreduce whose caller combines the operands. Each member writes its operand into the
// cache line by which it reports its arrival. The other members read it there. It matches the same
// allreduce that other members make by native(), so each rank may choose every time.
//
// There are two kinds of lines. Threads read those of direct_collectives in place, which requires
// that no two members share a worker. An engine whose ranks are processes implements
// process_exchange, which copies the operands. So a line is free when all members have read it, as
// after the engine's allreduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/shm/direct_collectives.hpp"
#include "transport/shm/wait_interface.hpp"

namespace tutti::shm {

/// The lines of an engine whose ranks are processes.
class process_exchange {
 public:
  /// Posts the operand of this member, waits for the other members, and copies their operands.
  /// Throws as the engine's allreduce does.
  virtual void exchange(const wait_site& site) = 0;

 protected:
  ~process_exchange() = default;
};

class line_exchange {
 public:
  static constexpr std::size_t bytes = direct_collectives::operand_bytes;

  static bool serves(const direct_collectives& t) noexcept {
    return t.size() > 1 && t.worker_groups_.size() == static_cast<std::size_t>(t.size());
  }
  /// `next`: the sequence number of this rank's next call on `t`. `next`, `t` and `w` must outlive
  /// this object.
  line_exchange(direct_collectives& t, int rank, std::uint32_t& next, wait_interface& w) noexcept
      : direct_collectives_(&t), wait_interface_(&w), next_(&next), rank_(rank) {}
  /// `operands`: those of all members, `bytes` each, aligned to 16. `of` reads that of this rank
  /// and writes the others. Both must outlive this object.
  line_exchange(process_exchange& of, std::byte* operands, int rank) noexcept
      : process_exchange_(&of), operands_(operands), rank_(rank) {}

  /// Makes the call. `write(at)` writes the operand to `at`, `bytes` bytes aligned to 16. Returns
  /// when all members have arrived. Throws as the engine's allreduce does. Waiting members may poll
  /// the line, and each poll between two stores takes the line from the writer. So `write` should
  /// only write.
  template <class Write>
  void exchange(const wait_site& site, Write&& write) {
    if (process_exchange_ != nullptr) {
      write(operand(rank_));
      return process_exchange_->exchange(site);
    }
    const std::uint32_t call_id = (*next_)++, value = call_id + 1;
    direct_collectives::flag_line& mine = line(rank_, call_id);
    write(mine.data);
    mine.call_digest = call_digest;
    mine.word.store(value, std::memory_order_release);
    const int size = direct_collectives_->size();
    for (int r = 0; r < size; ++r)
      if (r != rank_) wake(r);
    for (int r = 0; r < size; ++r)
      if (r != rank_) wait_for(r, call_id, site);
  }
  /// The operand of a member, valid after exchange() until this rank's next call.
  const std::byte* of(int rank) const noexcept {
    return process_exchange_ != nullptr ? operand(rank) : line(rank, *next_ - 1).data;
  }

 private:
  static constexpr std::uint64_t call_digest = static_cast<std::uint64_t>(collective::allreduce) | bytes << 8;

  std::byte* operand(int rank) const noexcept { return operands_ + static_cast<std::size_t>(rank) * bytes; }
  // Each rank is alone in its worker group, so the group has the index of the rank.
  direct_collectives::worker_group& worker_group(int rank) const noexcept {
    return *direct_collectives_->worker_groups_[static_cast<std::size_t>(rank)];
  }
  direct_collectives::flag_line& line(int rank, std::uint32_t call_id) const noexcept {
    return worker_group(rank).barrier_phases[call_id % direct_collectives::epoch_count][0].complete;
  }

  void wake(int rank) {
    wakeup_flag& wakeup = *worker_group(rank).worker_wakeup;
    if (wakeup.armed.load(std::memory_order_relaxed) != 0) [[unlikely]]
      direct_collectives_->waker_.ring(wakeup);
  }
  void wait_for(int rank, std::uint32_t call_id, const wait_site& site) {
    const direct_collectives::flag_line& other = line(rank, call_id);
    while (!reached(other.word.load(std::memory_order_acquire), call_id + 1))
      wait_interface_->wait(other.word, call_id + 1, false, site);
    if (other.call_digest != call_digest) [[unlikely]] {
      call this_call;
      this_call.what = collective::allreduce;
      direct_collectives::participation::throw_call_mismatch(this_call, rank_, call_digest,
                                                             other.call_digest);
    }
  }

  process_exchange* process_exchange_ = nullptr;  // null: direct_collectives_ has the lines
  std::byte* operands_ = nullptr;
  direct_collectives* direct_collectives_ = nullptr;
  wait_interface* wait_interface_ = nullptr;
  std::uint32_t* next_ = nullptr;
  int rank_;
};

}  // namespace tutti::shm
