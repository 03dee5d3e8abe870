// SPDX-License-Identifier: Apache-2.0
//
// Jobs of forked processes, one of which kills itself at a given step of a protocol: in the middle
// of a write, before or after a publication, or before it wakes another process. The survivors must
// notice it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_receiver.hpp"
#include "transport/shm/process_sender.hpp"
#include "transport/shm/segment.hpp"

namespace tutti::shm {

struct mortal_memory : process_memory {
  static inline int steps_left = 0;          // 0: this process kills itself at no step
  static inline bool reads_refused = false;  // by the kernel, after the probe

  static void step() noexcept {
    if (steps_left != 0 && --steps_left == 0) kill(getpid(), SIGKILL);
  }
  template <class T>
  static void publish(std::atomic<T>& word, T value, bool fenced) noexcept {
    step();
    process_memory::publish(word, value, fenced);
    step();
  }
  static void write(std::byte* shared, const void* from, std::size_t bytes) noexcept {
    const std::size_t half = bytes / 2;
    process_memory::write(shared, from, half);
    if (bytes != 0) step();
    process_memory::write(shared + half, static_cast<const std::byte*>(from) + half, bytes - half);
  }
  static void wake(std::atomic<std::uint32_t>& word) noexcept {
    step();
    process_memory::wake(word);
  }
  static remote_read read_remote(int pid, void* to, std::uint64_t address, std::size_t bytes, int& error,
                                 std::size_t limit = remote_read_limit) noexcept {
    step();
    if (reads_refused) {
      error = EPERM;
      return remote_read::refused;
    }
    return process_memory::read_remote(pid, to, address, bytes, error, limit);
  }
};

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool condition, const std::string& what) {
  if (!condition) throw failure(what);
}
/// What a survivor throws.
struct peer_lost {
  int rank;
};

/// Looks for the end of peers as engines/mpi/peer_watch.hpp does.
class watching_waiter : public process_waiter {
 public:
  watching_waiter(segment& s, int rank)
      : process_waiter(20, 2), segment_(s), rank_(rank), started_(process_memory::milliseconds()) {}
  void check() override {
    if (segment_.lost_rank() >= 0) leave();
    for (int r = 0; r < segment_.ranks(); ++r) {
      if (r == rank_ || segment_.role(r) != segment_role::joined || segment_.peer_is_alive(r)) continue;
      if (segment_.role(r) != segment_role::joined) continue;
      segment_.abort(r);  // a rank that has noticed the loss before may have ended since
      leave();
    }
    require(process_memory::milliseconds() - started_ < 10'000, "a wait has no end");
  }

 private:
  // As mpi_endpoint::throw_failure(): the program may reuse the memory that others read.
  [[noreturn]] void leave() {
    segment_.leave_calls();
    throw peer_lost{segment_.lost_rank()};
  }

  segment& segment_;
  int rank_;
  std::uint64_t started_;
};

constexpr int mortal_ranks = 3;
constexpr std::size_t mortal_slot_bytes = 1024, mortal_cell_bytes = 512;
constexpr std::uint32_t mortal_cells = 6;

struct mortal_layout {
  segment_layout all{mortal_ranks};
  segment_part words = all.add("words", wakeup_words<mortal_memory>::bytes(mortal_ranks));
  segment_part ended = all.add("ended", sizeof(std::atomic<int>));
  segment_part error = all.add("error", 256);
  segment_part calls = all.add_per_rank("calls", node_collectives<mortal_memory>::bytes(mortal_slot_bytes));
  segment_part lines = all.add_per_rank("lines", mortal_ranks * sizeof(process_lines<>));
  segment_part cells = all.add_per_rank("cells", mortal_cells* mortal_cell_bytes);
};

/// The transport objects of one rank.
class mortal_rank {
 public:
  using sender = process_sender<mortal_memory>;
  using receiver = process_receiver<mortal_memory>;

  mortal_rank(segment& s, const mortal_layout& l, int rank, std::size_t by_address_above)
      : words(s.at(l.words), mortal_ranks, rank),
        calls(blocks(s, l), {0, 1, 2}, rank, mortal_slot_bytes, words),
        segment_(s),
        rank_(rank),
        pool_(s.at(l.cells, rank), mortal_cells, mortal_cell_bytes) {
    const auto lines = [&](int from, int to) -> process_lines<>& {
      return reinterpret_cast<process_lines<>*>(s.at(l.lines, to))[from];
    };
    for (int r = 0; r < mortal_ranks; ++r) {
      senders_.emplace_back();
      receivers_.emplace_back();
      if (r == rank) continue;
      senders_.back() = std::make_unique<sender>(lines(rank, r), pool_, words, r);
      senders_.back()->set_by_address_above(by_address_above);
      receivers_.back() = std::make_unique<receiver>(
          lines(r, rank), receiver::peer{r, s.pid(r), s.at(l.cells, r), mortal_cell_bytes}, words,
          refusals_, 0, &arrivals);
      receivers_.back()->permit_reads(true);
    }
  }

  int rank() const noexcept { return rank_; }
  int pid_of(int r) const noexcept { return segment_.pid(r); }
  /// As address_environment::read() of the MPI engine.
  remote_read read(int r, void* to, std::uint64_t address, std::size_t bytes) const {
    int error = 0;
    return segment_.confirmed(mortal_memory::read_remote(pid_of(r), to, address, bytes, error));
  }
  sender& to(int r) noexcept { return *senders_[static_cast<std::size_t>(r)]; }
  receiver& from(int r) noexcept { return *receivers_[static_cast<std::size_t>(r)]; }
  watching_waiter waiter() noexcept { return {segment_, rank_}; }
  /// Waits, and continues all messages meanwhile.
  template <class Ready>
  void wait(Ready&& ready) {
    watching_waiter w = waiter();
    wait_until(words, wait_for_message | wait_for_space | wait_for_post | wait_for_acknowledgement, w, [&] {
      for (int r = 0; r < mortal_ranks; ++r) {
        if (r == rank_) continue;
        to(r).progress();
        from(r).progress();
        from(r).take_arrivals();
      }
      return ready();
    });
  }
  void barrier() {
    watching_waiter w = waiter();
    calls.barrier(1, w, [](int, std::uint64_t) { throw failure("the calls differ"); });
  }

  wakeup_words<mortal_memory> words;
  node_collectives<mortal_memory> calls;
  p2p_arrivals arrivals;

 private:
  static std::vector<std::byte*> blocks(segment& s, const mortal_layout& l) {
    std::vector<std::byte*> all;
    for (int r = 0; r < mortal_ranks; ++r) all.push_back(s.at(l.calls, r));
    return all;
  }

  segment& segment_;
  int rank_;
  refusal_report refusals_;
  sender::pool_type pool_;
  std::vector<std::unique_ptr<sender>> senders_;
  std::vector<std::unique_ptr<receiver>> receivers_;
};

using mortal_program = std::function<void(mortal_rank&)>;

class mortal_job {
 public:
  mortal_job(int victim, int step, std::size_t by_address_above, const mortal_program& program)
      : victim_(victim), step_(step), by_address_above_(by_address_above), program_(program) {}

  /// Returns whether the victim has killed itself. Reports survivors that do not notice it within
  /// 2 s, or that fail.
  bool run() {
    const std::string why = segment_.create(memory_kind::memfd, layout_.all, offer_);
    if (!why.empty()) throw failure(why);
    std::vector<pid_t> ranks;
    for (int r = 0; r < mortal_ranks; ++r) {
      ranks.push_back(fork());
      if (ranks.back() == 0) _exit(run_rank(r));
    }
    int status = 0;
    waitpid(ranks[static_cast<std::size_t>(victim_)], &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    const int expected = killed ? lost_code + victim_ : 0;
    if (!killed) {
      EXPECT_EQ(status, 0) << where(victim_);
    }
    const std::uint64_t limit = process_memory::milliseconds() + 2000;
    for (int r = 0; r < mortal_ranks; ++r) {
      if (r == victim_) continue;
      const pid_t pid = ranks[static_cast<std::size_t>(r)];
      while (waitpid(pid, &status, WNOHANG) == 0) {
        if (process_memory::milliseconds() > limit) {
          ADD_FAILURE() << where(r) << ": does not notice the loss";
          kill(pid, SIGKILL);
        }
        usleep(200);
      }
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == expected)
          << where(r) << ": status " << status << " instead of exit status " << expected;
    }
    return killed;
  }

 private:
  static constexpr int lost_code = 10;

  std::string where(int r) const {
    return "rank " + std::to_string(r) + ", rank " + std::to_string(victim_) + " ends at step " +
           std::to_string(step_) + ", " + reinterpret_cast<const char*>(segment_.at(layout_.error));
  }
  int run_rank(int r) {
    segment mine;
    try {
      std::string why = mine.attach(offer_, layout_.all);
      if (why.empty()) why = mine.join(r);
      require(why.empty(), why);
      for (int i = 0; i < mortal_ranks; ++i)
        while (mine.role(i) != segment_role::joined) usleep(50);
      mortal_rank me(mine, layout_, r, by_address_above_);
      me.barrier();
      if (r == victim_) mortal_memory::steps_left = step_;
      program_(me);
      mortal_memory::steps_left = 0;
      // A rank that has ended the program still notices a loss, so each survivor must report it.
      auto& ended = *reinterpret_cast<std::atomic<int>*>(mine.at(layout_.ended));
      ++ended;
      watching_waiter w = me.waiter();
      for (; ended != mortal_ranks; usleep(100)) w.check();
      mine.close();
      return 0;
    } catch (const peer_lost& lost) {
      mine.close();
      return lost_code + lost.rank;
    } catch (const std::exception& e) {
      std::strncpy(reinterpret_cast<char*>(mine.at(layout_.error)), e.what(), layout_.error.bytes - 1);
      return 1;
    }
  }

  mortal_layout layout_;
  segment segment_;
  segment_offer offer_;
  int victim_, step_;
  std::size_t by_address_above_;
  const mortal_program& program_;
};

/// Each rank in turn ends at each step. The number of steps of a rank is at least `min_steps`.
inline void end_at_every_step(int min_steps, std::size_t by_address_above, const mortal_program& program) {
  for (int victim = 0; victim < mortal_ranks; ++victim) {
    int step = 1;
    while (mortal_job(victim, step, by_address_above, program).run() && !testing::Test::HasFailure()) ++step;
    EXPECT_GT(step, min_steps) << "the program of rank " << victim << " has more steps";
  }
}

}  // namespace tutti::shm
