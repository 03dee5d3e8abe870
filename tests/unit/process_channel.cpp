// SPDX-License-Identifier: Apache-2.0
//
// Tests channels and short collectives between real processes, which fork() creates. Their memory
// is an anonymous shared mapping.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/shm/process_collectives.hpp"
#include "transport/shm/process_messages.hpp"

namespace tutti::shm {
namespace {

using collectives = process_collectives<process_memory>;
constexpr std::size_t slot_bytes = 4096, page = 4096;
constexpr std::size_t never = ~std::size_t{0};

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void require(bool condition, const std::string& what) {
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

// What one rank needs. It exists in the process of the rank.
struct rank_process {
  rank_process(const job_settings& s, const process_messages::layout& l, std::byte* memory,
               const std::vector<int>& pids, int r)
      : pids(pids), messages(l, memory, blocks_in(l, memory, 0), pids, r,
                 {s.by_address_above, s.may_use_barriers,
                  [this](int from, int error) { refusals.emplace_back(from, error); }, s.start}),
        calls(blocks_in(l, memory, l.rank_bytes()), all_ranks(l.ranks), r, slot_bytes, messages.words(),
              s.collective_start) {}

  static std::size_t block_bytes(const process_messages::layout& l) {
    return (l.rank_bytes() + collectives::bytes(slot_bytes) + page - 1) / page * page;
  }
  static std::vector<std::byte*> blocks_in(const process_messages::layout& l, std::byte* memory, std::size_t at) {
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

std::vector<std::byte> content(std::uint64_t seed, std::size_t bytes) {
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
      collectives::start_at(at, s.collective_start);
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

void run_job(int ranks, const job_settings& s, const std::function<void(rank_process&)>& program) {
  job j(ranks, s);
  j.start(program);
  j.finish();
}

std::vector<std::size_t> all_sizes() {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n <= 64; ++n) all.push_back(n);
  for (const std::size_t n : {4095, 4096, 4097, 8191, 8192, 8193, 65535, 65536, 65537, 1000003, 1048576, 3145729})
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
TEST(process_channel, carries_messages_of_all_sizes_with_one_cell) { run_job(2, {.cells = 1}, exchange_all_sizes); }
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
  const auto seed_of = [](int from, int to, int i) { return static_cast<std::uint64_t>((from * 16 + to) * 16 + i); };
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

// Each lost wake-up takes the whole interval.
struct sleeping_waiter : process_waiter {
  sleeping_waiter() : process_waiter(0, 20000) {}
  void check() override { throw failure("a wake-up is lost"); }
};

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
    for (const std::size_t count : {std::size_t{10}, std::size_t{1000}, std::size_t{50000}, std::size_t{100000}}) {
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
          me.messages.wait(wait_for_space, waiter, [&] { return me.messages.to(1).post(7, expected.data(), n); });
        } else {
          const std::byte* found = nullptr;
          me.messages.wait(wait_for_message, waiter,
                           [&] { return (found = me.messages.from(0).find(7, n)) != nullptr; });
          require(std::equal(expected.begin(), expected.end(), found), "a message is not intact");
          me.messages.from(0).consume();
        }
      }
    if (me.rank() == 0) require(!me.messages.to(1).post(7, nullptr, 8193), "a message is longer than a cell");
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

// The receiver's filter refuses process_vm_readv after the probe.
void refuse_remote_reads() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
          "seccomp");
}

TEST(process_channel, falls_back_to_cells_if_reads_are_refused) {
  if (!process_memory::may_read(getpid())) GTEST_SKIP() << "the kernel permits no process_vm_readv";
  run_job(3, {.by_address_above = 1000}, [](rank_process& me) {
    if (me.rank() != 0) {
      // Several messages are under way when the first refusal arrives.
      std::deque<std::vector<std::byte>> memory;
      std::deque<send_request> sends;
      for (std::size_t i = 0; i < 6; ++i) {
        memory.push_back(content(i, 20000 + i));
        sends.push_back({i, memory.back().data(), memory.back().size()});
        me.messages.start(0, sends.back());
      }
      test_waiter waiter;
      me.messages.wait(wait_for_space, waiter, [&] {
        return std::all_of(sends.begin(), sends.end(), [](auto& s) { return s.is_complete(); });
      });
      me.send(0, 99, content(99, 30000));
      return;
    }
    require(me.recv(1, 0, 20000) == content(0, 20000) && me.refusals.empty(), "the first is read by address");
    refuse_remote_reads();
    for (int from = 1; from < 3; ++from) {
      for (std::size_t i = from == 1 ? 1 : 0; i < 6; ++i)
        require(me.recv(from, i, 20005) == content(i, 20000 + i), "a message is not intact");
      require(me.recv(from, 99, 30000) == content(99, 30000), "a later message is not intact");
    }
    require(me.refusals == std::vector{std::pair(1, EPERM)}, "the refusal is not reported once");
  });
}

TEST(process_channel, a_probe_checks_the_permission) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(process_memory::may_read(child));
  const pid_t prober = fork();
  if (prober == 0) {
    try {
      refuse_remote_reads();
    } catch (const failure&) {
      _exit(2);
    }
    _exit(process_memory::may_read(child) ? 1 : 0);
  }
  int status = 0;
  waitpid(prober, &status, 0);
  EXPECT_EQ(status, 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(process_channel, reads_nothing_from_a_process_that_has_ended) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  char byte;
  int error = 0;
  EXPECT_EQ(process_memory::read_remote(child, &byte, reinterpret_cast<std::uintptr_t>(&byte), 1, error),
            remote_read::gone);
}

TEST(process_channel, reads_more_than_one_system_call_moves) {
  const std::size_t bytes = process_memory::remote_read_limit + 5 * page;
  void* const from = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // All of the target is the same few pages, so the test needs no memory.
  const int file = memfd_create("target", 0);
  const std::size_t target_bytes = std::size_t{16} << 20;
  auto* const to = static_cast<std::byte*>(mmap(nullptr, bytes + target_bytes, PROT_NONE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_TRUE(from != MAP_FAILED && to != MAP_FAILED && ftruncate(file, target_bytes) == 0);
  for (std::size_t at = 0; at < bytes; at += target_bytes)
    ASSERT_NE(mmap(to + at, target_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), MAP_FAILED);
  std::memset(to, 1, target_bytes);
  int error = 0;
  EXPECT_EQ(process_memory::read_remote(getpid(), to, reinterpret_cast<std::uintptr_t>(from), bytes, error),
            remote_read::complete);
  EXPECT_EQ(std::count(to, to + target_bytes, std::byte{}), static_cast<std::ptrdiff_t>(target_bytes));
  munmap(from, bytes);
  munmap(to, bytes + target_bytes);
  close(file);
}

// Throws when a process no longer exists.
struct watching_waiter : process_waiter {
  struct died : std::exception {};
  explicit watching_waiter(pid_t p) : process_waiter(50), watched(p) {}
  void check() override {
    if (kill(watched, 0) != 0 && errno == ESRCH) throw died();
  }
  pid_t watched;
};

TEST(process_channel, reports_a_killed_sender) {
  for (const std::size_t by_address : {never, std::size_t{1000}}) {
    job j(2, {.by_address_above = by_address});
    j.start([](rank_process& me) {
      if (me.rank() == 1) {
        me.send(0, 1, content(0, 8));
        for (;;) pause();
      }
      me.recv(1, 1, 8);
      std::vector<std::byte> target(100000);
      recv_request r{2, target.data(), target.size()};
      me.messages.start(1, r);
      watching_waiter waiter(me.pids[1]);
      try {
        me.messages.wait(wait_for_message, waiter, [&] { return r.is_complete(); });
      } catch (const watching_waiter::died&) {
        return;
      }
      throw failure("the wait ended without a message");
    });
    usleep(100000);
    const auto killed = process_memory::milliseconds();
    j.kill_rank(1);
    j.finish();
    EXPECT_LT(process_memory::milliseconds() - killed, 2000u);
  }
}

// --- Collectives.

void call_collectives(rank_process& me) {
  const int size = me.messages.ranks();
  test_waiter waiter;
  const auto mismatch = [](int, std::uint64_t) { throw failure("the calls differ"); };
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = std::size_t{1} << random() % 10;  // up to 4096 bytes
    const int root = static_cast<int>(random() % static_cast<unsigned>(size));
    switch (random() % 3) {
      case 0: me.barrier(); break;
      case 1: {
        std::vector<std::uint64_t> data(count, me.rank() == root ? static_cast<std::uint64_t>(round) : 0);
        me.calls.bcast(data.data(), 8 * count, root, 2, waiter, mismatch);
        require(data == std::vector(count, static_cast<std::uint64_t>(round)), "a bcast is not intact");
        break;
      }
      default: {
        // Concatenation of digits shows the order of the operands.
        std::vector<std::uint64_t> data(count, static_cast<std::uint64_t>(me.rank() + 1));
        me.calls.allreduce(data.data(), data.data(), 8 * count, 3,
                           [count](void* sum, const std::byte* operand) {
                             for (std::size_t i = 0; i < count; ++i) {
                               std::uint64_t one;
                               std::memcpy(&one, operand + 8 * i, 8);
                               auto& at = static_cast<std::uint64_t*>(sum)[i];
                               at = 10 * at + one;
                             }
                           },
                           waiter, mismatch);
        std::uint64_t expected = 0;
        for (int r = 0; r < size; ++r) expected = 10 * expected + static_cast<std::uint64_t>(r + 1);
        require(data == std::vector(count, expected), "an allreduce is not intact");
      }
    }
  }
}

TEST(process_collectives, return_the_right_results) {
  for (const int ranks : {2, 3, 8}) run_job(ranks, {}, call_collectives);
}
TEST(process_collectives, work_in_fenced_mode) { run_job(3, {.may_use_barriers = false}, call_collectives); }
TEST(process_collectives, wrap_their_sequence_numbers) {
  run_job(3, {.collective_start = ~std::uint64_t{100}}, call_collectives);
  run_job(3, {.collective_start = (std::uint64_t{1} << 32) - 100}, call_collectives);
}

TEST(process_collectives, wake_sleepers) {
  for (const bool barriers : {true, false})
    run_job(4, {.may_use_barriers = barriers}, [](rank_process& me) {
      sleeping_waiter waiter;
      for (int i = 0; i < 100; ++i) me.calls.barrier(1, waiter, [](int, std::uint64_t) {});
    });
}

TEST(process_collectives, barriers_separate) {
  run_job(4, {}, [](rank_process& me) {
    for (int i = 0; i < 300; ++i) {
      // Each rank has a message of this round from every other one after the barrier.
      for (int r = 0; r < 4; ++r)
        if (r != me.rank()) require(me.messages.to(r).post(static_cast<std::uint64_t>(i), &i, sizeof i), "no space");
      me.barrier();
      for (int r = 0; r < 4; ++r) {
        if (r == me.rank()) continue;
        require(me.messages.from(r).find(static_cast<std::uint64_t>(i), sizeof i) != nullptr,
                "a rank has passed the barrier alone");
        me.messages.from(r).consume();
      }
    }
  });
}

TEST(process_collectives, a_root_does_not_wait_while_lines_are_free) {
  run_job(2, {}, [](rank_process& me) {
    const auto mismatch = [](int, std::uint64_t) { throw failure("the calls differ"); };
    struct impatient : process_waiter {
      impatient() : process_waiter(0) {}
      void poll() override { throw failure("the root waits"); }
      void check() override {}
    } waiter;
    test_waiter patient;
    for (std::uint64_t i = 0; i < 8; ++i) {
      std::uint64_t data = i;
      if (me.rank() == 0) {
        me.calls.bcast(&data, sizeof data, 0, 1, waiter, mismatch);
      } else {
        if (i == 0) me.recv(0, 1, 0);  // after all calls of the root
        me.calls.bcast(&data, sizeof data, 0, 1, patient, mismatch);
      }
      require(data == i, "a bcast is not intact");
    }
    if (me.rank() == 0) me.send(1, 1, {});
  });
}

TEST(process_messages, memory_grows_linearly) {
  for (const int ranks : {1, 2, 8, 64, 128}) {
    const auto l = process_messages::layout::of(ranks);
    const std::size_t bytes =
        l.shared_bytes() + static_cast<std::size_t>(ranks) * (l.rank_bytes() + collectives::bytes(slot_bytes));
    EXPECT_LE(bytes, std::size_t{64} << 20) << ranks;
    EXPECT_LE(bytes, static_cast<std::size_t>(ranks) << 20) << ranks;
  }
}

}  // namespace
}  // namespace tutti::shm
