// SPDX-License-Identifier: Apache-2.0
//
// Messages between forked processes: all sizes, all ways, any order, wrapping numbers.
#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/process_channel/forked_job.hpp"

namespace tutti::shm {
namespace {

std::vector<std::size_t> all_sizes() {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n <= 64; ++n) all.push_back(n);
  for (const std::size_t n :
       {4095, 4096, 4097, 8191, 8192, 8193, 65535, 65536, 65537, 1000003, 1048576, 3145729})
    all.push_back(n);
  return all;
}

void exchange_all_sizes(rank_process& me) {
  const int peer = 1 - me.rank();
  for (const std::size_t n : all_sizes())
    for (int round = 0; round < 2; ++round) {
      const auto seed = static_cast<std::uint64_t>(round);
      if (me.rank() == round) {
        me.send(peer, n + 1, content(seed, n));
      } else {
        require(me.recv(peer, n + 1, n) == content(seed, n), std::to_string(n) + " bytes are not intact");
      }
    }
}

TEST(process_channel, carries_messages_of_all_sizes) { run_job(2, {}, exchange_all_sizes); }
TEST(process_channel, carries_messages_of_all_sizes_by_address) {
  run_job(2, {.by_address_above = 4096}, exchange_all_sizes);
}
TEST(process_channel, carries_messages_of_all_sizes_in_fenced_mode) {
  run_job(2, {.may_use_barriers = false}, exchange_all_sizes);
}
TEST(process_channel, carries_messages_of_all_sizes_with_one_cell) {
  run_job(2, {.cells = 1}, exchange_all_sizes);
}
TEST(process_channel, wraps_its_sequence_numbers) {
  for (const std::uint32_t before : {1u, 3u, 100u})
    run_job(2, {.by_address_above = 100000, .start = ~before}, exchange_all_sizes);
}
// Acknowledgements contain 31 bits of the number.
TEST(process_channel, wraps_its_rendezvous_numbers) {
  run_job(2, {.by_address_above = 64, .start = (1u << 31) - 5}, exchange_all_sizes);
}

// Messages of random sizes and tags from all to all. All requests are in progress at the same time,
// and receivers start theirs in another order, so many messages are unexpected.
void exchange_randomly(rank_process& me, int rounds, std::size_t max_bytes) {
  const int ranks = me.messages.ranks(), per_peer = 6;
  const auto bytes_of = [&](int from, int to, int round, int i) {
    std::mt19937 random(static_cast<unsigned>(((from * 16 + to) * 1000 + round) * 16 + i));
    const std::size_t largest[] = {8, 48, 200, 4096, 20000, max_bytes};
    return random() % (largest[random() % 6] + 1);
  };
  const auto seed_of = [](int from, int to, int i) {
    return static_cast<std::uint64_t>((from * 16 + to) * 16 + i);
  };
  for (int round = 0; round < rounds; ++round) {
    std::deque<std::vector<std::byte>> memory;
    std::deque<send_request> sends;
    std::deque<recv_request> recvs;
    std::vector<int> order(per_peer);
    std::mt19937 random(static_cast<unsigned>(round * 16 + me.rank()));
    for (int i = 0; i < per_peer; ++i) order[static_cast<std::size_t>(i)] = i;
    for (int r = 0; r < ranks; ++r) {
      if (r == me.rank()) continue;
      for (int i = 0; i < per_peer; ++i) {
        memory.push_back(content(seed_of(me.rank(), r, i), bytes_of(me.rank(), r, round, i)));
        sends.push_back({static_cast<std::uint64_t>(i), memory.back().data(), memory.back().size()});
        me.messages.start(r, sends.back());
      }
      std::shuffle(order.begin(), order.end(), random);
      for (const int i : order) {
        memory.emplace_back(max_bytes + 20000);
        recvs.push_back({static_cast<std::uint64_t>(i), memory.back().data(), memory.back().size()});
        recvs.back().context = new std::pair(r, i);
        me.messages.start(r, recvs.back());
      }
    }
    test_waiter waiter;
    me.messages.wait(wait_for_message | wait_for_space, waiter, [&] {
      return std::all_of(sends.begin(), sends.end(), [](auto& s) { return s.is_complete(); }) &&
             std::all_of(recvs.begin(), recvs.end(), [](auto& r) { return r.is_complete(); });
    });
    for (const recv_request& r : recvs) {
      const std::unique_ptr<std::pair<int, int>> which(static_cast<std::pair<int, int>*>(r.context));
      const auto [from, i] = *which;
      const auto expected = content(seed_of(from, me.rank(), i), bytes_of(from, me.rank(), round, i));
      require(r.bytes == expected.size() && std::equal(expected.begin(), expected.end(), r.target),
              "a message of " + std::to_string(r.bytes) + " bytes is not intact");
    }
  }
}

TEST(process_channel, exchanges_random_messages) {
  for (const int ranks : {2, 3, 8})
    for (const std::size_t by_address : {never, std::size_t{10000}})
      for (const std::uint32_t cells : {0u, 2u})
        run_job(ranks, {.by_address_above = by_address, .start = ~100u, .cells = cells},
                [](rank_process& me) { exchange_randomly(me, 6, 150000); });
}

void play_ping_pong(rank_process& me) {
  std::uint64_t data = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    sleeping_waiter waiter;
    if (static_cast<std::uint64_t>(me.rank()) == i % 2) {
      require(me.messages.to(1 - me.rank()).post(i, &data, sizeof data), "the ring is full");
    } else {
      me.messages.wait(wait_for_message, waiter,
                       [&] { return me.messages.from(1 - me.rank()).find(i, sizeof data) != nullptr; });
      me.messages.from(1 - me.rank()).consume();
    }
  }
}

TEST(process_channel, wakes_sleepers) {
  for (const bool barriers : {true, false}) run_job(2, {.may_use_barriers = barriers}, play_ping_pong);
}

TEST(process_channel, combines_pieces_where_they_are) {
  run_job(2, {.by_address_above = 500000}, [](rank_process& me) {
    for (const std::size_t count :
         {std::size_t{10}, std::size_t{1000}, std::size_t{50000}, std::size_t{100000}}) {
      std::vector<std::uint64_t> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = i;
      if (me.rank() == 0) {
        const auto* const first = reinterpret_cast<const std::byte*>(values.data());
        me.send(1, 1, {first, first + 8 * count});
        continue;
      }
      recv_request r{1, nullptr, 8 * count};
      r.context = values.data();
      r.take = [](void* sum, std::size_t offset, const std::byte* piece, std::size_t bytes) {
        require(offset % 16 == 0, "a piece is not aligned");
        for (std::size_t i = 0; i < bytes / 8; ++i) {
          std::uint64_t one;
          std::memcpy(&one, piece + 8 * i, 8);
          static_cast<std::uint64_t*>(sum)[offset / 8 + i] += one;
        }
      };
      me.messages.start(0, r);
      test_waiter waiter;
      me.messages.wait(wait_for_message, waiter, [&] { return r.is_complete(); });
      for (std::size_t i = 0; i < count; ++i) require(values[i] == 2 * i, "the sum is wrong");
    }
  });
}

TEST(process_channel, posts_and_finds_without_requests) {
  run_job(2, {.start = ~2u}, [](rank_process& me) {
    for (const std::size_t n : {0, 1, 8, 48, 49, 4096, 8192})
      for (int i = 0; i < 50; ++i) {
        const auto expected = content(static_cast<std::uint64_t>(i), n);
        test_waiter waiter;
        if (me.rank() == 0) {
          me.messages.wait(wait_for_space, waiter,
                           [&] { return me.messages.to(1).post(7, expected.data(), n); });
        } else {
          const std::byte* found = nullptr;
          me.messages.wait(wait_for_message, waiter,
                           [&] { return (found = me.messages.from(0).find(7, n)) != nullptr; });
          require(std::equal(expected.begin(), expected.end(), found), "a message is not intact");
          me.messages.from(0).consume();
        }
      }
    if (me.rank() == 0)
      require(!me.messages.to(1).post(7, content(0, 8193).data(), 8193), "longer than a cell");
  });
}

TEST(process_channel, cuts_off_messages_that_are_too_long) {
  for (const std::size_t by_address : {never, std::size_t{1000}})
    run_job(2, {.by_address_above = by_address}, [](rank_process& me) {
      const auto sent = content(1, 30000);
      if (me.rank() == 0) return me.send(1, 1, sent), me.send(1, 1, content(2, 8));
      std::vector<std::byte> target(20001);
      recv_request r{1, target.data(), 20000};
      me.messages.start(0, r);
      test_waiter waiter;
      me.messages.wait(wait_for_message, waiter, [&] { return r.is_complete(); });
      require(r.is_truncated() && r.bytes == 30000, "the length is not reported");
      require(std::equal(target.begin(), target.end() - 1, sent.begin()) && target.back() == std::byte{},
              "the message is not cut off");
      require(me.recv(0, 1, 8) == content(2, 8), "the next message is not intact");
    });
}

TEST(process_messages, memory_grows_linearly) {
  for (const int ranks : {1, 2, 8, 64, 128}) {
    const auto l = process_messages::layout::of(ranks);
    const std::size_t bytes = l.shared_bytes() + static_cast<std::size_t>(ranks) *
                                                     (l.rank_bytes() + collectives::bytes(slot_bytes));
    EXPECT_LE(bytes, std::size_t{64} << 20) << ranks;
    EXPECT_LE(bytes, static_cast<std::size_t>(ranks) << 20) << ranks;
  }
}

}  // namespace
}  // namespace tutti::shm
