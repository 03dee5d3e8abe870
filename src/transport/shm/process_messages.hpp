// SPDX-License-Identifier: Apache-2.0
//
// All channels of one rank to and from the processes of its node.
//
// Memory: one shared block with the wakeup words, and one block for each rank. The block of a rank
// holds the channels that it receives from, and the cells that it sends with. All memory is
// initially 0. With 128 ranks it is 26 MiB.
//
// Set-up: each rank constructs this class and calls offer(). After a barrier of all ranks it calls
// agree(). After another barrier the ranks may send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/shm/process_receiver.hpp"
#include "transport/shm/process_sender.hpp"

namespace tutti::shm {

// process_messages.cpp instantiates the two ends.
extern template class process_sender<process_memory>;
extern template class process_receiver<process_memory>;

class process_messages {
 public:
  using words_type = wakeup_words<process_memory>;
  using sender = process_sender<process_memory>;
  using receiver = process_receiver<process_memory>;

  struct layout {
    int ranks;
    std::uint32_t cells;     // of each rank
    std::size_t cell_bytes;  // at most 2^28 - 1

    static layout of(int ranks) noexcept;
    std::size_t shared_bytes() const noexcept;
    /// A multiple of the page size.
    std::size_t rank_bytes() const noexcept { return cells_offset() + cells * cell_bytes; }
    std::size_t cells_offset() const noexcept;
  };
  struct settings {
    /// Longer messages travel by address, if the kernel permits it. Default: never.
    std::size_t by_address_above = ~std::size_t{0};
    /// Without global memory barriers all ranks use fenced mode.
    bool may_use_barriers = true;
    /// Called at most once: the kernel refuses to read from a rank.
    std::function<void(int from, int error)> report_refusal;
    /// The first sequence number of all channels, the same on all ranks. For tests.
    std::uint32_t start = 0;
  };

  /// `blocks[r]`: the block of rank r. `pids[r]`: its process, as this process names it.
  process_messages(const layout& l, std::byte* shared, const std::vector<std::byte*>& blocks,
                   const std::vector<int>& pids, int rank, settings s);
  ~process_messages();
  process_messages(const process_messages&) = delete;
  process_messages& operator=(const process_messages&) = delete;

  void offer();
  /// Returns whether sleepers use global memory barriers.
  bool agree() { return words_.agree_on_barriers(); }

  int rank() const noexcept { return words_.rank(); }
  int ranks() const noexcept { return layout_.ranks; }
  const words_type& words() const noexcept { return words_; }
  /// The ends to and from another rank.
  sender& to(int rank) noexcept { return *senders_[static_cast<std::size_t>(rank)]; }
  receiver& from(int rank) noexcept { return *receivers_[static_cast<std::size_t>(rank)]; }
  sender::pool_type& pool() noexcept { return pool_; }
  /// The messages of the program that have arrived from all ranks.
  p2p_arrivals& arrivals() noexcept { return arrivals_; }
  /// As the functions of the receivers, for all of them.
  void take_arrivals();
  void take_first_arrivals();

  void start(int to_rank, send_request& r) {
    to(to_rank).start(r);
    if (!r.is_complete()) note_sender(to(to_rank));
  }
  void start(int from_rank, recv_request& r) {
    from(from_rank).start(r);
    if (!r.is_complete()) note_receiver(from(from_rank));
  }
  /// Continues all requests that start() of this class has started. A waiting rank must call it, so
  /// that its peers get what they wait for.
  void progress();
  /// The job has failed, and the memory of requests may be freed. Forgets all of them. Later ones
  /// do not complete.
  void drop_requests() noexcept;
  /// Waits until `ready()` holds, and makes progress meanwhile.
  template <class Ready>
  void wait(std::uint32_t reasons, process_waiter& waiter, Ready&& ready) {
    wait_until(words_, reasons, waiter, [&] {
      progress();
      return ready();
    });
  }

 private:
  void note_sender(sender& s);
  void note_receiver(receiver& r);
  process_lines<>& lines(int from, int to) const noexcept;

  layout layout_;
  settings settings_;
  std::vector<std::byte*> blocks_;
  words_type words_;
  refusal_report refusals_;
  std::vector<int> pids_;
  sender::pool_type pool_;
  p2p_arrivals arrivals_;
  std::vector<std::unique_ptr<sender>> senders_;      // null for this rank
  std::vector<std::unique_ptr<receiver>> receivers_;  // null for this rank
  std::vector<sender*> busy_senders_;
  std::vector<receiver*> busy_receivers_;
};

}  // namespace tutti::shm
