// SPDX-License-Identifier: Apache-2.0
//
// Tests the message queue between threads: no message is lost or duplicated, messages of one sender
// keep their order, and message buffers are reused.
#include "transport/shm/p2p_queue.hpp"

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "transport/shm/wait_interface.hpp"

namespace tutti::shm {
namespace {

queued_message* filled(message_pool& from, int source, int number, std::size_t bytes = sizeof(int)) {
  queued_message* one = from.acquire(bytes);
  one->source = source;
  one->tag = number;
  one->bytes = bytes;
  one->contents = one->inline_contents();
  std::memset(one->inline_contents(), number & 0xff, bytes);
  return one;
}

TEST(a_p2p_queue, delivers_in_the_order_of_posting) {
  message_pool store;
  p2p_queue box;
  EXPECT_EQ(box.next(), nullptr);
  const auto expect_next = [&](int expected) {
    EXPECT_TRUE(reached(box.published_word().load(), box.published_value()));
    queued_message* one = box.next();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->tag, expected);
    message_pool::release(one);
  };
  for (int i = 0; i < 3; ++i) box.post(filled(store, 0, i));
  expect_next(0);
  for (int i = 3; i < 5; ++i) box.post(filled(store, 0, i));
  for (int i = 1; i < 5; ++i) expect_next(i);
  EXPECT_EQ(box.next(), nullptr);
  EXPECT_FALSE(reached(box.published_word().load(), box.published_value()));
}

TEST(a_message_pool, reuses_released_messages) {
  message_pool store;
  for (const std::size_t bytes : {0, 64, 65, 512, 513, 4096}) {
    std::set<queued_message*> all;
    for (int round = 0; round < 100; ++round) {
      std::set<queued_message*> out;
      for (int i = 0; i < 4; ++i) out.insert(store.acquire(bytes));
      EXPECT_EQ(out.size(), 4u);
      for (queued_message* one : out) message_pool::release(one);
      all.merge(out);
    }
    EXPECT_LE(all.size(), 8u);
  }
  message_pool::release(filled(store, 0, 1, 1 << 20));  // a buffer for one use: freed at once
}

TEST(a_p2p_queue, releases_messages_that_were_not_received) {
  message_pool store;
  std::set<queued_message*> all;
  for (int round = 0; round < 100; ++round) {
    p2p_queue box;
    for (int i = 0; i < 3; ++i) {
      queued_message* const one = filled(store, 0, i);
      all.insert(one);
      box.post(one);
    }
    if (round % 2) message_pool::release(box.next());
    box.post(filled(store, 0, 3, 100000));  // LeakSanitizer detects buffers that are not given back
  }
  EXPECT_LE(all.size(), 8u);
}

TEST(a_p2p_queue, keeps_the_order_of_each_of_many_threads) {
  constexpr int senders = 4, each = 20000;
  message_pool stores[senders];
  p2p_queue box;
  std::vector<std::thread> threads;
  for (int s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      for (int i = 0; i < each; ++i) box.post(filled(stores[s], s, i, i % 3 == 0 ? 100 : 8));
    });
  int next[senders] = {}, wrong = 0;
  for (int received = 0; received < senders * each;) {
    queued_message* const one = box.next();
    if (one == nullptr) {
      std::this_thread::yield();
      continue;
    }
    wrong += one->tag != next[one->source]++;
    for (std::size_t i = 0; i < one->bytes; ++i) wrong += one->contents[i] != std::byte(one->tag & 0xff);
    message_pool::release(one);
    ++received;
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(box.next(), nullptr);
  EXPECT_EQ(box.published_word().load(), static_cast<std::uint32_t>(senders * each));
}

}  // namespace
}  // namespace tutti::shm
