// SPDX-License-Identifier: Apache-2.0
//
// Parts of collectives that an owner sends as messages through the node's channels: those of calls
// by address that the kernel does not let a reader copy, and long blocks of varying length
// (varying_blocks.hpp). The endpoint is mpi_endpoint, or that of a model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <utility>

#include "transport/shm/p2p_arrivals.hpp"
#include "transport/shm/wait_interface.hpp"
#include "transport/transfer.hpp"

namespace tutti::mpi {

/// Memory for operands of any element type.
struct free_aligned {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{64}); }
};
using aligned_bytes = std::unique_ptr<std::byte[], free_aligned>;
inline aligned_bytes allocate_aligned(std::size_t bytes) {
  return aligned_bytes(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64})));
}

template <class Endpoint>
class part_messages {
 public:
  /// `group`: its number (group_entry.hpp), which no other group of the node has. It has 27 bits.
  part_messages(Endpoint& ep, std::uint64_t group) noexcept : ep_(ep), group_(group) {}

  // `n`: the number of the round. `rank`: of the other member, in the node.

  /// Sends a part. `copy`: owns `data`, if the caller does not keep it.
  void send(std::uint64_t n, int rank, const std::byte* data, std::size_t bytes,
            aligned_bytes copy = nullptr);
  /// The same, unless a part has been sent to the rank in this round.
  void send_once(std::uint64_t n, int rank, const std::byte* data, std::size_t bytes);
  /// Continues the sends, and all other messages of the node. A waiting owner must call it, because
  /// its readers wait for their parts.
  void progress();
  /// Whether all sends of the rounds `first` to `last` are complete. If so, forgets them.
  bool all_sent(std::uint64_t first, std::uint64_t last, const shm::wait_site& site);
  /// Begins or continues a receive. Returns whether it is complete. A round has one at a time.
  bool receive(std::uint64_t n, int rank, std::byte* to, std::size_t bytes, const shm::wait_site& site);
  /// The same for a part that nobody needs. Not in rounds with operand().
  bool discard(std::uint64_t n, int rank, std::size_t bytes, const shm::wait_site& site);
  /// Memory for operands of a round, until end(n).
  std::byte* operand(std::uint64_t n, std::size_t bytes);
  std::byte* result(std::uint64_t n, std::size_t bytes);
  void end(std::uint64_t n) noexcept;

 private:
  struct sent_part {
    std::uint64_t n;
    int rank;
    bool complete;
    detail::transfer state;
    aligned_bytes copy;  // null: the caller keeps the part
  };
  struct receiver {
    std::uint64_t n;
    bool under_way;
    aligned_bytes operand, result;
    detail::transfer state;
  };
  static constexpr int round_bits = 34;  // rounds in progress at the same time are much closer

  std::uint64_t tag(std::uint64_t n) const noexcept;
  receiver& receiver_of(std::uint64_t n);

  Endpoint& ep_;
  std::uint64_t group_;
  std::deque<sent_part> sent_;
  std::deque<receiver> receivers_;
};

// The contents of announced messages have numbers of 32 bits (node_p2p.cpp).
template <class Endpoint>
std::uint64_t part_messages<Endpoint>::tag(std::uint64_t n) const noexcept {
  const std::uint64_t round = n & ((std::uint64_t{1} << round_bits) - 1);
  return shm::tag_of(shm::message_kind::contents, std::uint64_t{1} << 61 | group_ << round_bits | round);
}

template <class Endpoint>
void part_messages<Endpoint>::send(std::uint64_t n, int rank, const std::byte* data, std::size_t bytes,
                                   aligned_bytes copy) {
  sent_part& one = sent_.emplace_back(sent_part{n, rank, false, {}, std::move(copy)});
  ep_.messages_on_node()->isend(rank, tag(n), data, bytes, one.state);
}

template <class Endpoint>
void part_messages<Endpoint>::send_once(std::uint64_t n, int rank, const std::byte* data, std::size_t bytes) {
  for (const sent_part& one : sent_)
    if (one.n == n && one.rank == rank) return;
  send(n, rank, data, bytes);
}

template <class Endpoint>
void part_messages<Endpoint>::progress() {
  if (!sent_.empty()) [[unlikely]]
    ep_.messages_on_node()->progress_all();
}

template <class Endpoint>
bool part_messages<Endpoint>::all_sent(std::uint64_t first, std::uint64_t last, const shm::wait_site& site) {
  const auto is_of_call = [&](const sent_part& one) { return one.n - first <= last - first; };
  for (sent_part& one : sent_) {
    if (!is_of_call(one) || one.complete) continue;
    if (!ep_.finished_on_node(one.state, site)) return false;
    one.complete = true;
  }
  std::erase_if(sent_, is_of_call);
  return true;
}

template <class Endpoint>
typename part_messages<Endpoint>::receiver& part_messages<Endpoint>::receiver_of(std::uint64_t n) {
  const auto found =
      std::find_if(receivers_.begin(), receivers_.end(), [&](const receiver& r) { return r.n == n; });
  return found != receivers_.end() ? *found : receivers_.emplace_back(receiver{n, false, {}, {}, {}});
}

template <class Endpoint>
bool part_messages<Endpoint>::receive(std::uint64_t n, int rank, std::byte* to, std::size_t bytes,
                                      const shm::wait_site& site) {
  receiver& r = receiver_of(n);
  if (!r.under_way) ep_.messages_on_node()->irecv(rank, ep_.job_rank_of(rank), tag(n), to, bytes, r.state);
  r.under_way = true;
  if (!ep_.finished_on_node(r.state, site)) return false;
  r.under_way = false;
  return true;
}

template <class Endpoint>
bool part_messages<Endpoint>::discard(std::uint64_t n, int rank, std::size_t bytes,
                                      const shm::wait_site& site) {
  receiver& r = receiver_of(n);
  if (!r.under_way) r.operand = allocate_aligned(bytes);
  return receive(n, rank, r.operand.get(), bytes, site);
}

template <class Endpoint>
std::byte* part_messages<Endpoint>::operand(std::uint64_t n, std::size_t bytes) {
  receiver& r = receiver_of(n);
  if (!r.operand) r.operand = allocate_aligned(bytes);
  return r.operand.get();
}

template <class Endpoint>
std::byte* part_messages<Endpoint>::result(std::uint64_t n, std::size_t bytes) {
  receiver& r = receiver_of(n);
  if (!r.result) r.result = allocate_aligned(bytes);
  return r.result.get();
}

template <class Endpoint>
void part_messages<Endpoint>::end(std::uint64_t n) noexcept {
  std::erase_if(receivers_, [&](const receiver& r) { return r.n == n; });
}

}  // namespace tutti::mpi
