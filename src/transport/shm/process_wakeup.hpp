// SPDX-License-Identifier: Apache-2.0
//
// Waits of a process for words that other processes write, and wake-ups by these.
//
// Each rank has one wakeup word in the segment. A rank that is about to sleep stores there what it
// waits for and passes a barrier. It tests its condition once more, and sleeps on the word. A
// writer publishes, reads the word of the rank concerned, and wakes only if the rank waits for this
// kind of event. Usually nobody sleeps. Then the writer pays one load of a line that is rarely
// written.
//
// The processor may let the writer read the wakeup word before its store is visible. The sleeper
// prevents this: with MEMBARRIER_CMD_GLOBAL_EXPEDITED it makes all registered processes pass a
// barrier. If one of the ranks cannot register, all ranks use fenced mode: writers store
// sequentially consistently, and the sleeper passes a fence. A sleep ends after 10 ms at the
// latest, so that the waiter can check whether its peers are alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

/// The events that a sleeping rank waits for, in any combination.
enum wakeup_reason : std::uint32_t {
  wait_for_message = 1,
  wait_for_space = 2,  ///< the receiver has consumed or acknowledged
  wait_for_post = 4,   ///< of a direct collective
  wait_for_acknowledgement = 8,
};

/// The wakeup words of all ranks of a node.
template <class M>
class wakeup_words {
 public:
  static constexpr std::size_t bytes(int ranks) noexcept {
    return 2 * sizeof(std::atomic<std::uint32_t>) * static_cast<std::size_t>(ranks);
  }
  /// `memory`: bytes(ranks), initially 0. `fenced`: the mode until agree_on_barriers().
  wakeup_words(std::byte* memory, int ranks, int rank, bool fenced = true) noexcept
      : armed_(reinterpret_cast<std::atomic<std::uint32_t>*>(memory)),
        registered_(armed_ + ranks),
        ranks_(ranks),
        rank_(rank),
        fenced_(fenced) {}

  /// Set-up in two steps, with a barrier of all ranks between them. A rank may decline.
  void offer_barriers(bool may_use = true) {
    M::publish(registered_[rank_], std::uint32_t{may_use && M::register_for_barriers()}, true);
  }
  /// All ranks come to the same result: true if sleepers make all processes pass a barrier.
  bool agree_on_barriers() {
    fenced_ = false;
    for (int r = 0; r < ranks_; ++r)
      if (M::acquire(registered_[r]) == 0) fenced_ = true;
    return !fenced_;
  }

  int rank() const noexcept { return rank_; }
  bool fenced() const noexcept { return fenced_; }

  template <class T>
  void publish(std::atomic<T>& word, T value) const {
    M::publish(word, value, fenced_);
  }
  /// After a publish(): wakes a rank if it sleeps for one of these reasons.
  void signal(int rank, std::uint32_t reasons) const {
    if ((M::load_flag(armed_[rank]) & reasons) != 0) [[unlikely]]
      M::wake(armed_[rank]);
  }

  // --- The sleeper
  void arm(std::uint32_t reasons) const {
    M::arm(armed_[rank_], reasons);
    if (fenced_) {
      M::fence();
    } else {
      M::barrier_on_all_processes();
    }
  }
  void disarm() const { M::disarm(armed_[rank_]); }
  void sleep(std::uint32_t reasons, int milliseconds) const {
    M::sleep(armed_[rank_], reasons, milliseconds);
  }

 private:
  std::atomic<std::uint32_t>* armed_;
  std::atomic<std::uint32_t>* registered_;
  int ranks_, rank_;
  bool fenced_;
};

/// The work of a waiting rank besides waiting.
class process_waiter {
 public:
  /// `spins`: polls before it yields its core. Many with a core for each rank, at most 50 with
  /// fewer cores. `yields`: how often it yields before it sleeps.
  explicit process_waiter(int spins, int check_interval_ms = 10, int yields = 1) noexcept
      : spins_(spins), check_interval_ms_(check_interval_ms), yields_(yields) {}
  virtual ~process_waiter() = default;

  /// Called every 1000 polls, every 64 yields and before every sleep: progress of other transports.
  virtual void poll() {}
  /// Called every check_interval_ms(). Throws if the job or a peer has ended.
  virtual void check() = 0;

  int spins() const noexcept { return spins_; }
  int check_interval_ms() const noexcept { return check_interval_ms_; }
  int yields() const noexcept { return yields_; }

 private:
  int spins_, check_interval_ms_, yields_;
};

/// Waits until `ready()` returns true. `reasons`: what makes it true. ready() may make progress.
template <class M, class Ready>
void wait_until(const wakeup_words<M>& words, std::uint32_t reasons, process_waiter& waiter, Ready&& ready) {
  if (ready()) return;
  std::uint64_t checked = 0;
  for (bool is_first = true;; is_first = false) {
    for (int i = 1; i <= waiter.spins(); ++i) {
      if (ready()) return;
      M::pause();
      if (i % 1000 == 0) waiter.poll();
    }
    // Short waits end before this. Reading the clock would take as long as they do.
    if (is_first) checked = M::milliseconds();
    for (int i = 1; i < waiter.yields(); ++i) {
      M::yield();
      if (ready()) return;
      if (i % 64 == 0) waiter.poll();
    }
    M::yield();
    waiter.poll();
    words.arm(reasons);
    if (ready()) break;
    words.sleep(reasons, waiter.check_interval_ms());
    words.disarm();
    if (ready()) return;
    const std::uint64_t now = M::milliseconds();
    if (now - checked >= static_cast<std::uint64_t>(waiter.check_interval_ms())) {
      checked = now;
      waiter.check();
    }
  }
  words.disarm();
}

}  // namespace tutti::shm
