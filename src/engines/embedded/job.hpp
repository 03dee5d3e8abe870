// SPDX-License-Identifier: Apache-2.0
//
// A job whose ranks live in this process. It holds what all ranks share. The first failure aborts
// the waits of all ranks. The deadlock monitor detects that all ranks wait for one another.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engines/embedded/embedded_offers.hpp"
#include "engines/embedded/exits.hpp"
#include "engines/embedded/stack_overflow.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/wait_interface.hpp"

namespace tutti::detail {

/// The state of a rank that the deadlock monitor knows. The rank writes it (relaxed); the monitor
/// may read it at any time.
struct alignas(64) rank_record {
  enum state : std::uint32_t { running, waiting, pausing, finished };
  std::atomic<std::uint32_t> now{running};
  std::atomic<std::uint32_t> version{0};  // changes whenever a wait ends
  std::atomic<const std::atomic<std::uint32_t>*> word{nullptr};
  std::atomic<std::uint32_t> value{0};
  std::atomic<std::uint64_t> failed_polls{0};  // of a pausing rank
  // The monitor may dereference `word` and `site` only while it holds the rank in its wait: see
  // job::hold().
  std::atomic<const shm::wait_site*> site{nullptr};
  std::atomic<const detail::current_call*> current_call{nullptr};
  std::atomic<std::uint32_t> held{0};
  std::atomic<std::uint32_t> reading{0};  // reads another rank's memory
  std::atomic<bool> wait_aborted{false};  // its wait was aborted, because the job had failed
};

class job {
 public:
  /// Throws usage_error if TUTTI_NODES does not describe that many ranks.
  explicit job(int ranks);
  ~job();

  int size() const noexcept { return ranks_; }
  /// One object for all ranks, made before they start.
  const hierarchy& topology() const noexcept { return topology_; }
  std::span<const engine_condition> conditions() const noexcept { return conditions_; }
  rank_record& record(int rank) noexcept { return records_[static_cast<std::size_t>(rank)]; }

  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// Called before a read of another rank's memory. Returns false if the job has failed; the rank
  /// must not read.
  bool begin_reading(int rank) noexcept {
    std::atomic<std::uint32_t>& mark = records_[static_cast<std::size_t>(rank)].reading;
    mark.store(1, std::memory_order_seq_cst);
    if (!failed_.load(std::memory_order_seq_cst)) [[likely]]
      return true;
    mark.store(0, std::memory_order_release);
    return false;
  }
  void end_reading(int rank) noexcept {
    records_[static_cast<std::size_t>(rank)].reading.store(0, std::memory_order_release);
  }
  /// For a job that has failed. Returns when no rank reads another's memory any more. No rank
  /// begins to read again.
  void wait_for_readers() noexcept;
  /// Of a rank that waits, or of the calling thread's.
  detail::current_call current_call_of(int rank) noexcept;
  /// Records a failure. The first call wins, with two exceptions. A rank may replace its own
  /// provisional report when it ends (`provisional`). A cause replaces a consequence. A
  /// consequence is a peer_error, or any exception of a rank whose wait was aborted.
  void fail(int rank, std::exception_ptr what, const std::string& text, bool provisional = false);
  /// Throws the error of a rank whose wait is aborted. `has_own_error`: the next exception of this
  /// rank is no consequence.
  [[noreturn]] void throw_failure(int rank, bool has_own_error, const shm::wait_site& site);
  /// The engine's function that makes every sleeper test failed().
  void on_failure(std::function<void()> wake_all) { wake_all_ = std::move(wake_all); }
  outcome result();
  /// The list in which the rejections of a rank arrive; null: none any more.
  void receive_rejections(int rank, rejection_inbox* into);
  void send_rejection(int to, const rejection& what);
  /// Called when a rank that has run has ended.
  void ended(int rank) noexcept {
    rank_record& r = record(rank);
    r.version.fetch_add(1, std::memory_order_release);
    r.now.store(rank_record::finished, std::memory_order_release);
    running_ranks_.rank_ended();
  }

  /// Writes the report that all ranks wait for one another, and fails the job. The deadlock monitor
  /// calls it, or an engine that detects a deadlock at once.
  void declare_deadlock();
  void start_deadlock_monitor();
  void stop_deadlock_monitor();

 private:
  bool hold(rank_record& r, std::uint32_t version) noexcept;
  bool stuck(std::vector<std::uint32_t>& versions, std::vector<std::uint64_t>& failed_polls, bool second);
  void watch(std::vector<std::uint32_t> versions, std::vector<std::uint64_t> failed_polls);

  int ranks_;
  running_ranks running_ranks_;
  overflow_handler overflow_handler_;
  hierarchy topology_;
  std::array<engine_condition, std::size(embedded_conditions)> conditions_;
  std::unique_ptr<rank_record[]> records_;
  std::atomic<bool> failed_{false}, deadlock_{false};
  std::mutex rejections_lock_;
  struct inbox_slot {
    rejection_inbox* into = nullptr;
    bool closed = false;
    std::vector<rejection> early;  // arrived before the rank has started
  };
  std::vector<inbox_slot> inboxes_;  // of the ranks
  std::mutex lock_;
  outcome outcome_;
  bool provisional_ = false, consequence_ = false;  // of outcome_
  std::function<void()> wake_all_;
  std::thread deadlock_monitor_;
  std::condition_variable stop_;
  bool stopping_ = false;
};

}  // namespace tutti::detail
