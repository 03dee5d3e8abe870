// SPDX-License-Identifier: Apache-2.0
//
// A worker: one thread and the fibers pinned to it. If a fiber waits for another one of the same
// worker, that fiber puts it on the ready list. If it waits for another worker, the worker polls
// for it when no fiber is ready. Fibers switch directly to the next fiber, without a scheduler in
// between.
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

namespace tutti::detail {

/// The exception state that the C++ runtime keeps for each thread (Itanium ABI). A fiber that is
/// switched away inside a catch block keeps its own.
struct exception_state {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

struct fiber {
  boost::context::detail::fcontext_t context = nullptr;
  int rank = 0;
  // On the remote list: the word that it waits for.
  const std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t value = 0;
  exception_state exceptions;
  const shm::rank_identity* current_rank = nullptr;
  void* fake_stack = nullptr;  // for AddressSanitizer
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  bool finished = false;
  bool queued = false;
};

class worker {
 public:
  worker(job& all, shm::node& n, int index, wait_policy p, std::uint64_t seed);

  void add(int rank, void* top, const void* bottom, std::size_t size);
  /// Runs all fibers until they have ended. `body(rank)` must not throw.
  void run(const std::function<void(int)>& body);

  /// Suspends the running fiber until the word is set or the job has failed. `local`: its flag is
  /// rung.
  void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool local);
  /// Moves the running fiber to the end of the ready list.
  void yield();
  /// Puts a fiber of this worker on the ready list. Called on this worker's thread only.
  void ready(int rank);
  bool deterministic() const noexcept { return seed_ != 0; }
  std::uint64_t random_number() { return random_(); }
  fiber& current() noexcept { return *current_; }

 private:
  static void enter(boost::context::detail::transfer_t from);
  fiber* next();
  fiber* wait_for_next();
  void poll_remote();
  void idle(std::uint64_t rounds);
  void switch_to(fiber& target);
  void jump(boost::context::detail::fcontext_t to, fiber& from, const void* bottom, std::size_t size);
  void finish_switch(boost::context::detail::transfer_t t);
  void push_ready(fiber* f);
  fiber* pop_ready();

  job& job_;
  shm::node& node_;
  int index_;
  wait_policy policy_;
  std::uint64_t seed_;
  bool only_worker_ = false;
  std::mt19937_64 random_;
  std::vector<fiber> fibers_;
  int first_rank_ = 0;
  std::vector<fiber*> ring_;  // the ready list; its size is a power of two
  std::size_t ring_mask_ = 0, head_ = 0, count_ = 0;
  std::vector<fiber*> remote_;
  exception_state* exceptions_ = nullptr;  // of this worker's thread
  fiber* current_ = nullptr;
  fiber* previous_ = nullptr;  // the fiber before the last jump
  fiber main_;
  std::size_t alive_ = 0;
  const std::function<void(int)>* body_ = nullptr;
};

}  // namespace tutti::detail
