// SPDX-License-Identifier: Apache-2.0
//
// A job of processes that fork() creates, with channels and collectives between them. Their memory
// is an anonymous shared mapping.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_messages.hpp"

namespace tutti::shm {
using collectives = node_collectives<process_memory>;
constexpr std::size_t slot_bytes = 4096, page = 4096;
constexpr std::size_t never = ~std::size_t{0};

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool condition, const std::string& what) {
  if (!condition) throw failure(what);
}

// Ends the process if its peers have not made progress for a minute.
class test_waiter : public process_waiter {
 public:
  test_waiter() : process_waiter(50), started_(process_memory::milliseconds()) {}
  void check() override { require(process_memory::milliseconds() - started_ < 60000, "waits for a minute"); }

 private:
  std::uint64_t started_;
};

struct job_settings {
  std::size_t by_address_above = never;
  bool may_use_barriers = true;
  std::uint32_t start = 0;
  std::uint64_t collective_start = 0;
  std::uint32_t cells = 0;  // 0: as the layout chooses
};

// The transport objects of one rank, in the process of this rank.
struct rank_process {
  rank_process(const job_settings& s, const process_messages::layout& l, std::byte* memory,
               const std::vector<int>& pids, int r)
      : pids(pids),
        messages(l, memory, blocks_in(l, memory, 0), pids, r,
                 {s.by_address_above, s.may_use_barriers,
                  [this](int from, int error) { refusals.emplace_back(from, error); }, s.start}),
        calls(blocks_in(l, memory, l.rank_bytes()), all_ranks(l.ranks), r, slot_bytes, messages.words(),
              s.collective_start) {}

  static std::size_t block_bytes(const process_messages::layout& l) {
    return (l.rank_bytes() + collectives::bytes(slot_bytes) + page - 1) / page * page;
  }
  static std::vector<std::byte*> blocks_in(const process_messages::layout& l, std::byte* memory,
                                           std::size_t at) {
    std::vector<std::byte*> all;
    for (int r = 0; r < l.ranks; ++r)
      all.push_back(memory + page + static_cast<std::size_t>(r) * block_bytes(l) + at);
    return all;
  }
  static std::vector<int> all_ranks(int n) {
    std::vector<int> all;
    for (int r = 0; r < n; ++r) all.push_back(r);
    return all;
  }

  int rank() const { return messages.rank(); }
  void send(int to, std::uint64_t tag, const std::vector<std::byte>& data) {
    send_request r{tag, data.data(), data.size()};
    messages.start(to, r);
    test_waiter waiter;
    messages.wait(wait_for_space, waiter, [&] { return r.is_complete(); });
  }
  std::vector<std::byte> recv(int from, std::uint64_t tag, std::size_t capacity) {
    std::vector<std::byte> target(capacity);
    recv_request r{tag, target.data(), capacity};
    messages.start(from, r);
    test_waiter waiter;
    messages.wait(wait_for_message, waiter, [&] { return r.is_complete(); });
    require(!r.is_truncated(), "a message is longer than expected");
    target.resize(r.bytes);
    return target;
  }
  void barrier() {
    test_waiter waiter;
    calls.barrier(1, waiter, [](int, std::uint64_t) { throw failure("the calls differ"); });
  }

  std::vector<int> pids;
  std::vector<std::pair<int, int>> refusals;
  process_messages messages;
  collectives calls;
};

inline std::vector<std::byte> content(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + bytes + 1;
  for (std::size_t i = 0; i < bytes; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    made[i] = static_cast<std::byte>(x);
  }
  return made;
}

// A job of forked processes.
class job {
 public:
  job(int ranks, job_settings s) : settings_(s), layout_(process_messages::layout::of(ranks)) {
    if (s.cells != 0) layout_.cells = s.cells;
    bytes_ = page + static_cast<std::size_t>(ranks) * rank_process::block_bytes(layout_);
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) throw failure("mmap");
    for (std::byte* const at : rank_process::blocks_in(layout_, memory_, layout_.rank_bytes()))
      collectives::start_at(at, slot_bytes, s.collective_start);
    control_ = new (memory_ + page / 2) control;
    if (process_messages::words_type::bytes(ranks) > page / 2) throw failure("too many ranks");
  }
  ~job() {
    while (!pids_.empty()) kill_rank(0);
    munmap(memory_, bytes_);
  }

  void start(const std::function<void(rank_process&)>& program) {
    for (int r = 0; r < layout_.ranks; ++r) {
      const pid_t p = fork();
      if (p == 0) {
        run(r, program);
        _exit(0);
      }
      pids_.push_back(p);
      control_->pids[r].store(p);
    }
  }
  // Waits for all ranks and reports those that have failed.
  void finish() {
    for (std::size_t r = 0; r < pids_.size(); ++r) {
      int status = 0;
      waitpid(pids_[r], &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "rank " << r << " ended with status " << status << ": " << control_->error;
    }
    pids_.clear();
  }
  // Kills a rank that never ends.
  void kill_rank(int r) {
    const auto at = pids_.begin() + r;
    kill(*at, SIGKILL);
    waitpid(*at, nullptr, 0);
    pids_.erase(at);
  }

 private:
  struct control {
    std::atomic<int> pids[16] = {};
    std::atomic<int> arrived[2] = {}, failures = 0;
    char error[256] = {};
  };
  void arrive(int phase) {
    ++control_->arrived[phase];
    while (control_->arrived[phase] < layout_.ranks) usleep(100);
  }
  void run(int r, const std::function<void(rank_process&)>& program) {
    try {
      std::vector<int> pids;
      for (int i = 0; i < layout_.ranks; ++i) {
        while (control_->pids[i] == 0) usleep(100);
        pids.push_back(control_->pids[i]);
      }
      rank_process me(settings_, layout_, memory_, pids, r);
      me.messages.offer();
      arrive(0);
      me.messages.agree();
      arrive(1);
      program(me);
    } catch (const std::exception& e) {
      // The first failure is the cause of the others.
      if (control_->failures++ == 0) std::strncpy(control_->error, e.what(), sizeof control_->error - 1);
      _exit(1);
    }
  }

  job_settings settings_;
  process_messages::layout layout_;
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  control* control_ = nullptr;
  std::vector<pid_t> pids_;
};

inline void run_job(int ranks, const job_settings& s, const std::function<void(rank_process&)>& program) {
  job j(ranks, s);
  j.start(program);
  j.finish();
}

// Each lost wake-up takes the whole interval.
struct sleeping_waiter : process_waiter {
  sleeping_waiter() : process_waiter(0, 20000) {}
  void check() override { throw failure("a wake-up is lost"); }
};

}  // namespace tutti::shm
