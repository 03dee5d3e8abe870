// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/job.hpp"

#include <algorithm>
#include <chrono>

#include "base/report_text.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/node_topology.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

job::job(int ranks)
    : ranks_(ranks),
      running_ranks_(ranks),
      topology_(topology_of_process(ranks)),
      records_(new rank_record[static_cast<std::size_t>(ranks)]),
      inboxes_(static_cast<std::size_t>(ranks)) {
  std::copy(std::begin(embedded_conditions), std::end(embedded_conditions), conditions_.begin());
  state(conditions_, "oversubscribed", ranks > usable_cores());
}

job::~job() { stop_deadlock_monitor(); }

void job::fail(int rank, std::exception_ptr what, const std::string& text, bool provisional) {
  {
    const std::lock_guard guard(lock_);
    const bool consequence = record(rank).wait_aborted.load(std::memory_order_relaxed) || is_peer_error(what);
    const bool final_text = provisional_ && outcome_.failed_rank == rank && !provisional;
    const bool better = final_text || (consequence_ && !consequence);
    if (failed_.load(std::memory_order_relaxed) && !better) return;
    outcome_ = {rank, text, std::move(what)};
    provisional_ = provisional;
    consequence_ = consequence;
    failed_.store(true, std::memory_order_seq_cst);
  }
  if (wake_all_) wake_all_();
}

void job::wait_for_readers() noexcept {
  for (int r = 0; r < ranks_; ++r)
    while (record(r).reading.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

detail::current_call job::current_call_of(int rank) noexcept {
  const detail::current_call* const now = record(rank).current_call.load(std::memory_order_acquire);
  return now != nullptr ? *now : detail::current_call();
}

void job::throw_failure(int rank, bool has_own_error, const shm::wait_site& site) {
  wait_for_readers();
  if (!has_own_error) record(rank).wait_aborted.store(true, std::memory_order_relaxed);
  const detail::current_call now = current_call_of(rank);
  const char* const operation = now.name_or(site.operation);
  const std::lock_guard guard(lock_);
  if (deadlock_.load(std::memory_order_relaxed)) throw deadlock_error(operation, rank, "", outcome_.text, "");
  throw peer_error(operation, rank, "",
                   "rank " + std::to_string(outcome_.failed_rank) + " failed (" +
                       std::string(without_prefix(outcome_.text)) + ")",
                   "this rank's wait was ended");
}

void job::receive_rejections(int rank, rejection_inbox* into) {
  const std::lock_guard guard(rejections_lock_);
  inbox_slot& slot = inboxes_[static_cast<std::size_t>(rank)];
  slot.into = into;
  slot.closed = into == nullptr;
  if (into != nullptr)
    for (const rejection& one : slot.early) into->deliver(one);
  slot.early.clear();
}

void job::send_rejection(int to, const rejection& what) {
  const std::lock_guard guard(rejections_lock_);
  inbox_slot& slot = inboxes_[static_cast<std::size_t>(to)];
  if (slot.into != nullptr)
    slot.into->deliver(what);
  else if (!slot.closed)
    slot.early.push_back(what);
}

outcome job::result() {
  const std::lock_guard guard(lock_);
  return outcome_;
}

void job::declare_deadlock() {
  std::string text = "deadlock: every rank waits\n";
  const int shown = 64;
  for (int r = 0; r < ranks_ && r < shown; ++r) {
    rank_record& one = record(r);
    text += "  rank " + std::to_string(r) + ": ";
    if (one.now.load() == rank_record::finished) {
      text += "has returned from the program";
    } else {
      // All ranks wait for ever, so their pointers stay valid.
      const shm::wait_site* site = one.site.load(std::memory_order_acquire);
      text += site == nullptr ? "waits" : shm::describe(*site, current_call_of(r));
    }
    text += '\n';
  }
  if (ranks_ > shown) text += "  ... and " + std::to_string(ranks_ - shown) + " more\n";
  text +=
      "  remedy: call the same collectives in the same order on all ranks, and match every receive with a "
      "send";
  int first = 0;
  while (first < ranks_ && record(first).now.load() == rank_record::finished) ++first;
  deadlock_.store(true, std::memory_order_relaxed);
  fail(first, std::make_exception_ptr(deadlock_error("run", first, "", text, "")), text);
}

// Keeps a waiting rank in its wait, so that its `word` may be read. Returns false if the rank has
// left. The rank stores that it leaves and then reads `held`. The barrier here enforces that order,
// not the rank (see wakeup_flag.hpp).
bool job::hold(rank_record& r, std::uint32_t version) noexcept {
  r.held.store(1, std::memory_order_seq_cst);
  if (shm::barrier_on_all_threads() && r.now.load(std::memory_order_seq_cst) == rank_record::waiting &&
      r.version.load(std::memory_order_seq_cst) == version)
    return true;
  r.held.store(0, std::memory_order_release);
  return false;
}

// A rank is stuck if it has finished, or waits for a word that has not been set. It is too if it
// has polled everything in vain since the first test. If nothing changes between two tests, all
// ranks were stuck at one moment. Then no rank is left that could free them.
bool job::stuck(std::vector<std::uint32_t>& versions, std::vector<std::uint64_t>& failed_polls, bool second) {
  bool anyone = false;
  for (int r = 0; r < ranks_; ++r) {
    rank_record& one = record(r);
    const auto i = static_cast<std::size_t>(r);
    const std::uint32_t version = one.version.load(std::memory_order_acquire);
    const std::uint32_t now = one.now.load(std::memory_order_acquire);
    if (now == rank_record::running) return false;
    if (now == rank_record::waiting) {
      anyone = true;
      if (second) {
        if (!hold(one, version)) return false;
        const auto* word = one.word.load(std::memory_order_acquire);
        const bool arrived =
            shm::reached(word->load(std::memory_order_acquire), one.value.load(std::memory_order_relaxed));
        one.held.store(0, std::memory_order_release);
        if (arrived) return false;
      }
    }
    if (now == rank_record::pausing) {
      const std::uint64_t polls = one.failed_polls.load(std::memory_order_relaxed);
      if (second && polls < failed_polls[i] + 3) return false;
      failed_polls[i] = polls;
      anyone = true;
    }
    if (one.version.load(std::memory_order_acquire) != version) return false;
    if (second && versions[i] != version) return false;
    versions[i] = version;
  }
  return anyone;
}

void job::watch(std::vector<std::uint32_t> versions, std::vector<std::uint64_t> failed_polls) {
  std::unique_lock guard(lock_);
  bool maybe_stuck = false;
  while (!stopping_) {
    stop_.wait_for(guard, std::chrono::milliseconds(200));
    if (stopping_ || failed_.load(std::memory_order_relaxed)) continue;
    guard.unlock();
    const bool now = stuck(versions, failed_polls, maybe_stuck);
    if (now && maybe_stuck) declare_deadlock();
    maybe_stuck = now;
    guard.lock();
  }
}

void job::start_deadlock_monitor() {
  // Allocated here, because the monitor may start at any time and tests count allocations of the
  // ranks (unit/allocations).
  std::vector<std::uint32_t> versions(static_cast<std::size_t>(ranks_));
  std::vector<std::uint64_t> failed_polls(static_cast<std::size_t>(ranks_));
  deadlock_monitor_ = std::thread([this, v = std::move(versions), s = std::move(failed_polls)]() mutable {
    watch(std::move(v), std::move(s));
  });
}

void job::stop_deadlock_monitor() {
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (deadlock_monitor_.joinable()) deadlock_monitor_.join();
}

}  // namespace tutti::detail
