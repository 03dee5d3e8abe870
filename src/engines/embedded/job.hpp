// SPDX-License-Identifier: Apache-2.0
//
// A job whose ranks live in this process: what all of them know alike, how it ends (the first failure takes
// everybody out of their waits), and the watchman who sees that all ranks wait for one another.
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

namespace tutti {

/// What the watchman may know of a rank. Written by the rank (relaxed), read by the watchman at any time.
struct alignas(64) rank_record {
  enum state : std::uint32_t { running, waiting, pausing, finished };
  std::atomic<std::uint32_t> now{running};
  std::atomic<std::uint32_t> version{0};  // changes whenever a wait ends
  std::atomic<const std::atomic<std::uint32_t>*> word{nullptr};
  std::atomic<std::uint32_t> value{0};
  std::atomic<std::uint64_t> sweeps{0};  // of a pausing rank: looks at everything without success
  // `word` and `site` may be looked through only while the rank is held in its wait: see job::hold().
  std::atomic<const shm::wait_site*> site{nullptr};
  std::atomic<const std::source_location*> place{nullptr};  // of its current call
  std::atomic<std::uint32_t> held{0};
  std::atomic<std::uint32_t> reading{0};  // looks into another rank's memory
  std::atomic<bool> taken_out{false};     // of a wait, since the job had failed
};

class job {
 public:
  /// Throws usage_error where TUTTI_NODES does not lay out so many ranks.
  explicit job(int ranks);
  ~job();

  int size() const noexcept { return ranks_; }
  /// One for all ranks, made before they start.
  const hierarchy& layout() const noexcept { return layout_; }
  std::span<const engine_condition> conditions() const noexcept { return conditions_; }
  rank_record& record(int rank) noexcept { return records_[static_cast<std::size_t>(rank)]; }

  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// Before a look into another rank's memory: false where the job has failed, and then there is none.
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
  /// Of a job that has failed: returns when nobody looks into another's memory any more. Nobody will again.
  void leave_normally() noexcept;
  /// The first call wins, with two exceptions: what a rank says for the time being, it may say
  /// better when it ends; and a cause replaces a consequence. A consequence is a peer_error, or
  /// whatever a rank throws after it was taken out of a wait.
  void fail(int rank, std::exception_ptr what, const std::string& text, bool for_the_time_being = false);
  /// Throws what a rank that is taken out of its wait should see. `has_own_error`: what the rank throws after
  /// that is no consequence.
  [[noreturn]] void throw_failure(int rank, bool has_own_error, const shm::wait_site& site);
  /// The engine's way to make every sleeper look at failed().
  void on_failure(std::function<void()> wake_all) { wake_all_ = std::move(wake_all); }
  outcome result();
  /// A rank that has run has ended.
  void ended(int rank) noexcept {
    rank_record& r = record(rank);
    r.version.fetch_add(1, std::memory_order_release);
    r.now.store(rank_record::finished, std::memory_order_release);
    under_way_.one_has_ended();
  }

  /// All ranks wait for one another: writes the report and fails the job. Called by the watchman, or by an
  /// engine that knows at once.
  void declare_deadlock();
  void start_deadlock_monitor();
  void stop_deadlock_monitor();

 private:
  bool hold(rank_record& r, std::uint32_t version) noexcept;
  bool stuck(std::vector<std::uint32_t>& versions, std::vector<std::uint64_t>& sweeps, bool second);
  void watch(std::vector<std::uint32_t> versions, std::vector<std::uint64_t> sweeps);

  int ranks_;
  ranks_under_way under_way_;
  overflow_reports overflows_;
  hierarchy layout_;
  std::array<engine_condition, std::size(embedded_conditions)> conditions_;
  std::unique_ptr<rank_record[]> records_;
  std::atomic<bool> failed_{false}, deadlock_{false};
  std::mutex lock_;
  outcome outcome_;
  bool for_the_time_being_ = false, consequence_ = false;  // of outcome_
  std::function<void()> wake_all_;
  std::thread deadlock_monitor_;
  std::condition_variable stop_;
  bool stopping_ = false;
};

}  // namespace tutti
