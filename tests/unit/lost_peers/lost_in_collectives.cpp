// SPDX-License-Identifier: Apache-2.0
//
// A rank ends at each step of collectives in memory. The others notice it, and take no unfinished
// data for a result.
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "unit/lost_peers/mortal_job.hpp"

namespace tutti::shm {
namespace {

constexpr std::size_t never = ~std::size_t{0};
void mismatch(int, std::uint64_t) { throw failure("the calls differ"); }

void bcast(mortal_rank& me, int root, std::size_t words) {
  std::vector<std::uint64_t> data(words, me.rank() == root ? 77 : 0);
  watching_waiter w = me.waiter();
  me.calls.bcast(data.data(), 8 * words, root, 2, w, mismatch);
  require(data == std::vector<std::uint64_t>(words, 77), "a bcast is not intact");
}

void allreduce(mortal_rank& me, std::size_t words) {
  std::vector<std::uint64_t> data(words, static_cast<std::uint64_t>(me.rank() + 1));
  watching_waiter w = me.waiter();
  me.calls.allreduce(
      data.data(), data.data(), 8 * words, 3,
      [words](void* sum, const std::byte* operand) {
        for (std::size_t i = 0; i < words; ++i) {
          std::uint64_t one;
          std::memcpy(&one, operand + 8 * i, 8);
          static_cast<std::uint64_t*>(sum)[i] += one;
        }
      },
      w, mismatch);
  require(data == std::vector<std::uint64_t>(words, 6), "an allreduce is not intact");
}

TEST(lost_in_collectives, in_lines) {
  end_at_every_step(10, never, [](mortal_rank& me) {
    me.barrier();
    bcast(me, 1, 2);
    allreduce(me, 3);
    bcast(me, 0, 6);
  });
}

// The root waits for the slots of five calls.
TEST(lost_in_collectives, in_slots) {
  end_at_every_step(10, never, [](mortal_rank& me) {
    for (int i = 0; i < 3; ++i) bcast(me, 2, 100);
    allreduce(me, 128);
    bcast(me, 2, 7);
    bcast(me, 0, 7);
  });
}

// Two calls under way at the same time. The second one ends first.
TEST(lost_in_collectives, in_calls_that_overlap) {
  end_at_every_step(8, never, [](mortal_rank& me) {
    auto& of = me.calls;
    const std::uint64_t n = of.begin(2);
    const auto post = [&](std::uint64_t call, std::size_t bytes) {
      me.wait([&] { return of.may_post(call, bytes); });
      const std::vector<std::byte> data(bytes, static_cast<std::byte>(me.rank() + 1));
      mortal_memory::write(of.operand(call, bytes), data.data(), bytes);
      of.post(call, 9);
      of.wake_members();
    };
    const auto take = [&](std::uint64_t call, std::size_t bytes) {
      for (int i = 0; i < of.size(); ++i) {
        if (i == me.rank()) continue;
        me.wait([&] { return of.has_posted(call, i); });
        for (std::size_t k = 0; k < bytes; ++k)
          require(of.operand_of(call, i, bytes)[k] == static_cast<std::byte>(i + 1), "a post is not intact");
      }
      of.finish(call);
    };
    post(n, 40);
    post(n + 1, 500);
    take(n + 1, 500);
    take(n, 40);
  });
}

// The program reuses its memory as soon as a call has ended, also with an exception.
class reused_memory {
 public:
  explicit reused_memory(std::vector<std::byte>& memory) : memory_(memory) {}
  reused_memory(const reused_memory&) = delete;
  reused_memory& operator=(const reused_memory&) = delete;
  ~reused_memory() { std::fill(memory_.begin(), memory_.end(), std::byte{9}); }

 private:
  std::vector<std::byte>& memory_;
};

// Rank `owner` shares the address of its buffer. Readers that are refused get messages.
void by_address(mortal_rank& me, int owner) {
  constexpr std::size_t bytes = 3000;
  auto& of = me.calls;
  const std::uint64_t n = of.begin();
  std::vector<std::byte> data(bytes, me.rank() == owner ? std::byte{5} : std::byte{0});
  const reused_memory reused(data);
  if (me.rank() == owner) {
    me.wait([&] { return of.may_post(n, 8); });
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(data.data());
    mortal_memory::write(of.operand(n, 8), &address, 8);
    of.post(n, 4);
    of.wake_members();
    of.finish_by_address(n);
    std::vector<send_request> sends(mortal_ranks);
    me.wait([&] {
      bool finished = true;
      for (int i = 0; i < of.size(); ++i) {
        if (i == owner) continue;
        send_request& one = sends[static_cast<std::size_t>(i)];
        if (one.bytes == 0 && of.has_requested_messages(n, i)) {
          one = send_request{n, data.data(), bytes};
          me.to(i).start(one);
        }
        finished = finished && of.has_finished(n, i) && (one.bytes == 0 || one.is_complete());
      }
      return finished;
    });
    return;
  }
  recv_request received{n, data.data(), bytes};
  me.wait([&] { return of.has_posted(n, owner); });
  std::uint64_t address = 0;
  mortal_memory::read(&address, of.operand_of(n, owner, 8), 8);
  const remote_read how = me.read(owner, data.data(), address, bytes);
  if (how == remote_read::gone) me.wait([] { return false; });
  if (how == remote_read::refused) {
    of.request_messages();
    me.from(owner).start(received);
    me.wait([&] { return received.is_complete(); });
  }
  require(data == std::vector<std::byte>(bytes, std::byte{5}), "a part is not intact");
  of.finish_by_address(n);
}

TEST(lost_in_collectives, by_address) {
  end_at_every_step(5, never, [](mortal_rank& me) {
    by_address(me, 0);
    by_address(me, 1);
  });
}

TEST(lost_in_collectives, by_address_with_refused_reads) {
  end_at_every_step(8, never, [](mortal_rank& me) {
    mortal_memory::reads_refused = me.rank() == 2;
    by_address(me, 0);
    by_address(me, 1);
  });
}

// Rank 2 ends. The owner notices it, leaves the call and reuses its memory before rank 1 reads it.
TEST(lost_in_collectives, memory_in_other_use_is_no_operand) {
  int read_done[2];
  ASSERT_EQ(pipe(read_done), 0);
  const mortal_program program = [&](mortal_rank& me) {
    if (me.rank() == 2) return me.barrier();
    auto& of = me.calls;
    const std::uint64_t n = of.begin();
    std::byte value{5};
    if (me.rank() == 0) {
      const std::uint64_t address = reinterpret_cast<std::uintptr_t>(&value);
      mortal_memory::write(of.operand(n, 8), &address, 8);
      of.post(n, 4);
      try {
        me.wait([] { return false; });
      } catch (const peer_lost&) {
        value = std::byte{9};
        require(read(read_done[0], &value, 1) == 1, "rank 1 has ended");
        throw;
      }
    }
    me.wait([&] { return of.has_posted(n, 0); });
    std::uint64_t address = 0;
    mortal_memory::read(&address, of.operand_of(n, 0, 8), 8);
    int error = 0;
    for (; value != std::byte{9}; usleep(1000))
      require(mortal_memory::read_remote(me.pid_of(0), &value, address, 1, error) == remote_read::complete,
              "the owner is not there");
    const remote_read got = me.read(0, &value, address, 1);
    require(write(read_done[1], "", 1) == 1, "the owner has ended");
    require(got == remote_read::gone, "rank 1 takes what is no operand");
    me.wait([] { return false; });
  };
  EXPECT_TRUE(mortal_job(2, 1, never, program).run());
  close(read_done[0]);
  close(read_done[1]);
}

}  // namespace
}  // namespace tutti::shm
