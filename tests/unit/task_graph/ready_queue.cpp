// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/ready_queue.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "frontends/tasks/kernel_node.hpp"
#include "parts.hpp"

namespace tests {
namespace {

using names = std::vector<std::string>;

TEST(ready_queue, runs_kernels_in_the_order_in_which_they_become_ready) {
  parts p;
  noting_node &a = p.task("a"), &b = p.task("b"), &c = p.task("c");
  b.wait_for(a);
  p.ready.release(b);
  p.ready.release(c);
  p.ready.release(a);
  EXPECT_EQ(p.ready.pending(), 3u);
  while (p.ready.run_one()) {
  }
  EXPECT_EQ(p.notes, (names{"c", "a", "b"}));
  EXPECT_TRUE(p.ready.has_rank_thread_work());
  p.ready.reap();
  EXPECT_EQ(p.ready.pending(), 0u);
  EXPECT_EQ(p.notes.size(), 6u);
  EXPECT_FALSE(p.ready.has_work());
}

TEST(ready_queue, begins_nodes_of_the_rank_in_order) {
  parts p;
  for (const char* name : {"a", "b", "c"}) p.ready.release(p.ready.make<noting_node>(p.notes, name, false));
  EXPECT_FALSE(p.ready.run_one());
  const std::uint64_t before = p.ready.steps();
  EXPECT_TRUE(p.ready.start_rank_thread_nodes());
  EXPECT_FALSE(p.ready.start_rank_thread_nodes());
  EXPECT_EQ(p.notes, (names{"a", "b", "c"}));
  EXPECT_EQ(p.ready.steps(), before + 1);
}

TEST(ready_queue, references_know_when_a_node_is_gone) {
  parts p;
  noting_node& a = p.task("a");
  const node_ref ref(&a);
  EXPECT_EQ(ref.get(), &a);
  p.ready.release(a);
  p.run();
  EXPECT_EQ(ref.get(), nullptr);
  EXPECT_EQ(&p.task("b"), &a);  // the slot is used again
  EXPECT_EQ(ref.get(), nullptr);
}

TEST(ready_queue, does_not_wait_for_a_complete_node) {
  parts p;
  noting_node &a = p.task("a"), &b = p.task("b");
  p.ready.release(a);
  p.ready.run_one();
  b.wait_for(a);
  EXPECT_EQ(b.pending_dependencies, 1);
}

TEST(ready_queue, keeps_more_edges_than_a_node_has_room_for) {
  parts p;
  noting_node& last = p.task("last");
  for (int i = 0; i < 200; ++i) {
    noting_node& n = p.task("one");
    last.wait_for(n);
    p.ready.release(n);
  }
  p.ready.release(last);
  p.run();
  EXPECT_EQ(p.notes.size(), 402u);
  EXPECT_EQ(p.notes.back(), "last ends");
}

TEST(ready_queue, records_what_a_kernel_throws) {
  parts p;
  contents out;
  out.retain();  // the node drops one use
  const kernel_operations throws{
      [](void*, const kernel_buffer*) { throw std::runtime_error("planted fault"); }, nullptr, 0, 1};
  const kernel_operations counts{[](void*, const kernel_buffer*) {}, nullptr, 0, 1};
  auto& n = p.ready.make<kernel_node>(throws, 1, "bad", 1);
  n[0].target = &out;
  n[0].writes = true;
  p.ready.release(n);
  p.ready.release(p.ready.make<kernel_node>(counts, 0, nullptr, 2));
  p.run();
  ASSERT_NE(out.poisoned, nullptr);
  EXPECT_EQ(out.poisoned->task, "task \"bad\"");
  EXPECT_EQ(out.poisoned->text, "planted fault");
  EXPECT_EQ(p.ready.kernels_run(), 1u);
}

// Each call is a thread.
class threads_pool final : public worker_pool {
 public:
  void enqueue(void (*job)(void*), void* state) override {
    ++called;
    threads_.emplace_back(job, state);
  }
  ~threads_pool() override {
    for (std::thread& t : threads_) t.join();
  }
  static inline int called = 0;

 private:
  std::vector<std::thread> threads_;
};

class counting_node final : public node {
 public:
  explicit counting_node(std::atomic<int>& n) : node(true), n_(n) {}
  void start(ready_queue&) override { n_.fetch_add(1); }

 private:
  std::atomic<int>& n_;
};

TEST(ready_queue, calls_other_workers_when_there_are_kernels) {
  threads_pool::called = 0;
  failure_log failures(0);
  std::atomic<int> ran{0};
  {
    ready_queue ready(failures, 3, std::make_unique<threads_pool>());
    EXPECT_TRUE(ready.has_pool());
    for (int i = 0; i < 1000; ++i) {
      ready.release(ready.make<counting_node>(ran));
      if (i % 3 == 0) ready.run_one();
      if (i % 10 == 0) ready.reap();
    }
    while (ready.pending() != 0) {
      if (ready.other_workers() == ready_queue::worker_state::running) ready.sleep_until_complete();
      ready.run_one();
      ready.reap();
    }
    ready.stop();
    EXPECT_EQ(ready.other_workers(), ready_queue::worker_state::idle);
  }
  EXPECT_EQ(ran, 1000);
  EXPECT_GE(threads_pool::called, 1);
}

}  // namespace
}  // namespace tests
