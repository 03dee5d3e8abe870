// SPDX-License-Identifier: Apache-2.0
//
// Processes with channels to one another in modelled memory. The programs of the models of channels
// send and receive through them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "transport/shm/p2p_arrivals.hpp"
#include "transport/shm/process_receiver.hpp"
#include "transport/shm/process_sender.hpp"
#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model::channel {

// Two slots, and messages of at most 8 bytes inline.
struct small_traits {
  static constexpr std::uint32_t slot_count = 2;
  static constexpr std::size_t inline_bytes = 8;
  static constexpr std::uint32_t rendezvous_count = 2;
  static constexpr bool pieces_without_cells = true;
};
struct waiting_traits : small_traits {
  static constexpr bool pieces_without_cells = false;
};
constexpr std::size_t cell_bytes = 16;
constexpr std::uint64_t a = 1, b = 2;  // tags

template <class T>
struct layout {
  static constexpr std::size_t words = 0, lines = 128;
  int ranks;
  std::uint32_t cells;
  std::size_t line(int from, int to) const {
    return lines + static_cast<std::size_t>(from * ranks + to) * sizeof(process_lines<T>);
  }
  std::size_t cell(int rank) const {
    return line(ranks, 0) + static_cast<std::size_t>(rank) * cells * cell_bytes;
  }
  std::size_t data(int rank) const { return cell(ranks) + static_cast<std::size_t>(rank) * 64; }
  std::size_t bytes() const { return data(ranks); }
};

// One rank: its ends of the channels that it uses.
template <class T>
class rank_process {
 public:
  using sender = process_sender<model_memory, T>;
  using receiver = process_receiver<model_memory, T>;

  rank_process(layout<T> l, int rank, std::uint32_t start = 0)
      : layout_(l),
        start_(start),
        words_(shared, l.ranks, rank, how().fenced),
        pool_(shared + l.cell(rank), l.cells, cell_bytes) {}

  sender& to(int r) {
    auto& one = senders_[static_cast<std::size_t>(r)];
    if (!one) one = std::make_unique<sender>(lines(words_.rank(), r), pool_, words_, r, start_);
    return *one;
  }
  receiver& from(int r) {
    auto& one = receivers_[static_cast<std::size_t>(r)];
    if (!one) {
      const typename receiver::peer peer{r, 0, shared + layout_.cell(r), cell_bytes};
      one = std::make_unique<receiver>(lines(r, words_.rank()), peer, words_, refusals_, start_, &arrivals_);
    }
    return *one;
  }
  cell_pool<sender>& pool() noexcept { return pool_; }
  /// The messages of the program that have arrived.
  p2p_arrivals& arrivals() noexcept { return arrivals_; }
  int rank() const noexcept { return words_.rank(); }
  template <class Ready>
  void wait(std::uint32_t reasons, Ready&& ready) {
    model_waiter waiter;
    wait_until(words_, reasons, waiter, ready);
  }
  // The content of a message depends on its tag, its size and `version`.
  static std::array<std::byte, 64> content(std::uint64_t tag, std::size_t bytes, int version = 0) {
    std::array<std::byte, 64> made{};
    for (std::size_t i = 0; i < bytes; ++i)
      made[i] = static_cast<std::byte>(16 * tag + 64 * static_cast<std::size_t>(version) + i);
    return made;
  }
  void send(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    const auto made = content(tag, bytes, version);
    send_request request{tag, made.data(), bytes};
    to(r).start(request);
    finish(r, request);
  }
  void finish(int r, send_request& request) {
    wait(wait_for_space, [&] {
      if (!request.is_complete()) to(r).progress();
      return request.is_complete();
    });
  }
  void recv(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    std::array<std::byte, 64> target{};
    recv_request request{tag, target.data(), target.size()};
    from(r).start(request);
    wait(wait_for_message, [&] {
      if (!request.is_complete()) from(r).progress();
      return request.is_complete();
    });
    require(request.bytes == bytes, "a message has another length");
    require(target == content(tag, bytes, version), "a message is not intact");
  }
  void post(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    const auto made = content(tag, bytes, version);
    wait(wait_for_space, [&] { return to(r).post(tag, made.data(), bytes); });
  }
  void find(int r, std::uint64_t tag, std::size_t bytes, int version = 0) {
    const std::byte* found = nullptr;
    wait(wait_for_message, [&] { return (found = from(r).find(tag, bytes)) != nullptr; });
    std::array<std::byte, 64> seen{};
    model_memory::read(seen.data(), found, bytes);
    from(r).consume();
    require(seen == content(tag, bytes, version), "a message is not intact");
  }

 private:
  process_lines<T>& lines(int sender_rank, int receiver_rank) const {
    return *reinterpret_cast<process_lines<T>*>(shared + layout_.line(sender_rank, receiver_rank));
  }

  layout<T> layout_;
  std::uint32_t start_;
  wakeup_words<model_memory> words_;
  cell_pool<sender> pool_;
  refusal_report refusals_;
  p2p_arrivals arrivals_;
  std::array<std::unique_ptr<sender>, 3> senders_;
  std::array<std::unique_ptr<receiver>, 3> receivers_;
};

template <class T = small_traits>
scenario channels(std::uint32_t cells, std::vector<std::function<void(rank_process<T>&)>> programs,
                  options how, std::uint32_t start = 0) {
  const layout<T> l{static_cast<int>(programs.size()), cells};
  cells_begin = shared + l.cell(0);
  cells_end = shared + l.data(0);
  scenario s;
  s.memory_bytes = l.bytes();
  EXPECT_LE(s.memory_bytes, sizeof shared);
  s.how = how;
  for (std::size_t i = 0; i < programs.size(); ++i)
    s.processes.push_back([l, i, start, program = programs[i]] {
      rank_process<T> me(l, static_cast<int>(i), start);
      program(me);
    });
  s.prepare = [l, start] {
    for (int from = 0; from < l.ranks; ++from)
      for (int to = 0; to < l.ranks; ++to) {
        auto& lines = *reinterpret_cast<process_lines<T>*>(shared + l.line(from, to));
        for (process_slot& slot : lines.ring) store(&slot.sequence, &start, sizeof start, store_kind::plain);
        store(&lines.consumed, &start, sizeof start, store_kind::plain);
      }
  };
  return s;
}

using process = rank_process<small_traits>;

inline void expect_correct(const char* what, const scenario& s) {
  const result r = search(s);
  EXPECT_EQ(r.violation, "") << what;
  std::cout << what << ": " << r.states << " states\n";
}

inline constexpr options polling{.polls = true, .prompt = true};
inline constexpr options joined{.tso = true, .polls = true, .prompt = true, .joined = true};

}  // namespace tutti::shm::model::channel
