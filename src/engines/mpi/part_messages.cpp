// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/part_messages.hpp"

#include <algorithm>

#include "engines/mpi/mpi_endpoint.hpp"
#include "transport/shm/p2p_arrivals.hpp"

namespace tutti::mpi {
namespace {

constexpr int round_bits = 34;  // rounds in progress at the same time are much closer

}  // namespace

part_messages::part_messages(mpi_endpoint& ep, std::uint64_t group) noexcept : ep_(ep), group_(group) {}

// The contents of announced messages have numbers of 32 bits (node_p2p.cpp).
std::uint64_t part_messages::tag(std::uint64_t n) const noexcept {
  const std::uint64_t round = n & ((std::uint64_t{1} << round_bits) - 1);
  return shm::tag_of(shm::message_kind::contents, std::uint64_t{1} << 61 | group_ << round_bits | round);
}

void part_messages::send(std::uint64_t n, int rank, const std::byte* data, std::size_t bytes) {
  for (const sent_part& one : sent_)
    if (one.n == n && one.rank == rank) return;
  sent_part& one = sent_.emplace_back(sent_part{n, rank, false, {}});
  ep_.messages_on_node()->isend(rank, tag(n), data, bytes, one.state);
}

void part_messages::progress() {
  if (!sent_.empty()) [[unlikely]]
    ep_.messages_on_node()->progress_all();
}

bool part_messages::all_sent(std::uint64_t first, std::uint64_t last, const shm::wait_site& site) {
  const auto is_of_call = [&](const sent_part& one) { return one.n - first <= last - first; };
  for (sent_part& one : sent_) {
    if (!is_of_call(one) || one.complete) continue;
    if (!ep_.finished_on_node(one.state, site)) return false;
    one.complete = true;
  }
  std::erase_if(sent_, is_of_call);
  return true;
}

part_messages::receiver& part_messages::receiver_of(std::uint64_t n) {
  const auto found =
      std::find_if(receivers_.begin(), receivers_.end(), [&](const receiver& r) { return r.n == n; });
  return found != receivers_.end() ? *found : receivers_.emplace_back(receiver{n, false, {}, {}, {}});
}

bool part_messages::receive(std::uint64_t n, int rank, std::byte* to, std::size_t bytes,
                            const shm::wait_site& site) {
  receiver& r = receiver_of(n);
  if (!r.under_way) ep_.messages_on_node()->irecv(rank, ep_.job_rank_of(rank), tag(n), to, bytes, r.state);
  r.under_way = true;
  if (!ep_.finished_on_node(r.state, site)) return false;
  r.under_way = false;
  return true;
}

std::byte* part_messages::operand(std::uint64_t n, std::size_t bytes) {
  receiver& r = receiver_of(n);
  if (!r.operand) r.operand = allocate_aligned(bytes);
  return r.operand.get();
}

std::byte* part_messages::result(std::uint64_t n, std::size_t bytes) {
  receiver& r = receiver_of(n);
  if (!r.result) r.result = allocate_aligned(bytes);
  return r.result.get();
}

void part_messages::end(std::uint64_t n) noexcept {
  std::erase_if(receivers_, [&](const receiver& r) { return r.n == n; });
}

}  // namespace tutti::mpi
