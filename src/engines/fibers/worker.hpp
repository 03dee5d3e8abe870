// SPDX-License-Identifier: Apache-2.0
//
// A worker: one thread and the fibers pinned to it. A fiber that waits for another of the same worker is put
// on the ready list by whoever frees it; a fiber that waits for another worker is looked after by whoever has
// nothing else to do. Switching goes straight from fiber to fiber, there is no scheduler in between.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#include "engines/embedded/job.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/fibers/stacks.hpp"
#include "transport/shm/current_rank.hpp"
#include "transport/shm/shared_node.hpp"

namespace tutti {

/// The C++ runtime's exception state of one thread (Itanium ABI). A fiber that is switched away inside a
/// catch block takes it along.
struct exception_state {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

struct fiber {
  boost::context::detail::fcontext_t context = nullptr;
  int rank = 0;
  const std::atomic<std::uint32_t>* word = nullptr;  // on the remote list: what it waits for
  std::uint32_t value = 0;
  exception_state exceptions;
  const shm::rank_identity* current_rank = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  bool finished = false;
  bool queued = false;
};

class worker {
 public:
  worker(job& all, shm::node& n, int index, patience p, std::uint64_t seed);

  void add(int rank, void* top, const void* bottom, std::size_t size);
  /// Runs all fibers to their end. `body(rank)` must not throw.
  void run(const std::function<void(int)>& body);

  /// The running fiber stops until the word has come or the job has failed. `local`: someone rings its bell.
  void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool local);
  /// The running fiber goes to the end of the ready list.
  void yield();
  /// Puts a fiber of this worker on the ready list. Called on this worker only.
  void ready(int rank);
  bool deterministic() const noexcept { return seed_ != 0; }
  std::uint64_t draw() { return random_(); }
  fiber& current() noexcept { return *current_; }

 private:
  static void enter(boost::context::detail::transfer_t from);
  fiber* next();
  fiber* wait_for_next();
  void look_after_remote();
  void idle(std::uint64_t rounds);
  void switch_to(fiber& target);
  void jump(boost::context::detail::fcontext_t to, fiber& from, const void* bottom, std::size_t size);
  void arrived(boost::context::detail::transfer_t t);
  void push_ready(fiber* f);
  fiber* pop_ready();

  job& job_;
  shm::node& node_;
  int index_;
  patience patience_;
  std::uint64_t seed_;
  bool alone_ = false;
  std::mt19937_64 random_;
  std::vector<fiber> fibers_;
  int first_rank_ = 0;
  std::vector<fiber*> ring_;  // ready list; a power of two in size
  std::size_t ring_mask_ = 0, head_ = 0, count_ = 0;
  std::vector<fiber*> remote_;
  exception_state* exceptions_ = nullptr;  // of this worker's thread
  fiber* current_ = nullptr;
  fiber* came_from_ = nullptr;  // across a jump
  fiber main_;
  std::size_t alive_ = 0;
  const std::function<void(int)>* body_ = nullptr;
};

}  // namespace tutti
