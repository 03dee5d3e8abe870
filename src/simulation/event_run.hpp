// SPDX-License-Identifier: Apache-2.0
//
// The discrete-event part of a simulation: schedules in progress, the cores of the ranks, and
// messages from their posting to their arrival. Time only moves forward. A rank may be ahead of the
// clock, but only while its core is occupied, when no other event can influence it.
//
// simulator.cpp runs one schedule on each rank with it; composite_simulation.cpp runs the inner
// calls of composite plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulation/flows.hpp"
#include "simulation/message_queues.hpp"
#include "simulation/rank_schedule.hpp"
#include "simulation/simulator.hpp"

namespace tutti::simulation {

/// What simulating a call takes.
struct call_cost {
  double memory = 0, messages = 0;

  call_cost& operator+=(const call_cost& more) noexcept {
    memory += more.memory;
    messages += more.messages;
    return *this;
  }
  friend call_cost operator*(double n, const call_cost& one) noexcept {
    return {n * one.memory, n * one.messages};
  }
};

class event_run {
 public:
  /// Learns when a schedule is complete, and is resumed at the times that it asked for.
  class observer {
   public:
    virtual void complete(std::uint32_t run, double now) = 0;
    virtual void resume(int rank, double now) = 0;

   protected:
    ~observer() = default;
  };

  /// If `representatives` is not 0, the ranks of one node represent all. The network has two nodes
  /// of so many ranks, schedules are those of a common_schedule, and the second node runs nothing.
  event_run(const network& links, const machine& m, int representatives = 0)
      : network_(links), machine_(m), representatives_(representatives) {}

  /// Records rounds and messages as the options state, and reports the number of messages.
  void reset(const simulation_options& options, observer& o, double expected_messages);
  /// Adds a schedule of a rank. Its messages match those of the same context. Its peers are
  /// positions in `members`, or ranks if that is empty; the span must outlive the schedule. Returns
  /// its number.
  std::uint32_t add(int rank, std::uint32_t context, rank_schedule&& s, std::span<const int> members = {});
  /// Begins the schedule at `now`. `previous` is the round that determined this time, or -1.
  void begin(std::uint32_t run, double now, std::int32_t previous);
  /// A complete schedule is no longer needed; its number may be used again.
  void release(std::uint32_t run);
  /// Frees the memory of a complete schedule, and keeps its number.
  void drop_schedule(std::uint32_t run) { runs_[run].schedule = rank_schedule(); }

  /// Occupies the core of the rank, from `now` or when it is free. Returns the end.
  double occupy(int rank, double now, double seconds);
  /// Local work between schedules, which `previous` precedes. Returns the number of its round, or
  /// `previous` if rounds are not recorded.
  std::int32_t record_work(int rank, double begin, double end, std::int32_t previous);
  void resume_at(int rank, double time) { events_.push({time, ++sequence_, what::resume, at(rank)}); }

  /// Runs until nothing is left to do. Throws not_simulated if a schedule is not complete then, and
  /// too_slow or too_laborious when it exceeds a limit of the options.
  void execute();

  int rank_of(std::uint32_t run) const { return runs_[run].rank; }
  std::int32_t last_round(std::uint32_t run) const { return runs_[run].round; }
  /// The one of two rounds that ended later; -1 is none.
  std::int32_t later_round(std::int32_t a, std::int32_t b) const {
    if (!recording_ || a < 0 || b < 0) return std::max(a, b);
    return rounds_[static_cast<std::size_t>(a)].end > rounds_[static_cast<std::size_t>(b)].end ? a : b;
  }
  double free_at(int rank) const { return cores_[at(rank)].free; }
  double busy(int rank) const { return cores_[at(rank)].busy; }
  double work_time(const local_work& w) const noexcept;

  std::uint64_t messages() const noexcept { return message_count_; }
  std::uint64_t bytes() const noexcept { return byte_count_; }
  const flow_set& flows() const noexcept { return flows_; }
  bool recorded() const noexcept { return recording_; }
  std::vector<simulated_round> take_rounds() { return std::move(rounds_); }
  std::vector<simulated_message> take_messages() { return std::move(recorded_); }

  /// The memory of a rank, of its schedule's transfers in progress not included.
  static constexpr std::size_t rank_memory = 400, message_memory = 300;
  static call_cost cost_of(rank_schedule& s) {
    return {static_cast<double>(s.memory() + s.longest_round() * message_memory),
            static_cast<double>(s.count_messages())};
  }

 private:
  struct run;
  static std::uint32_t at(int i) noexcept { return static_cast<std::uint32_t>(i); }
  int member(const run& r, int peer) const;
  std::uint64_t key_of(const run& r, int from, int to, int peer) const noexcept {
    const bool plain = representatives_ == 0;
    return message_queues::key(plain ? r.context : at(peer / (2 * representatives_)), at(from), at(to));
  }
  static constexpr std::int32_t none = -1;

  struct core {
    double free = 0, busy = 0;
    std::int32_t rounds = 0;
  };
  struct run {
    rank_schedule schedule;
    std::span<const int> members{};
    int rank = 0;
    std::uint32_t context = 0;
    bool open = false, posting = false, complete = false;
    std::uint32_t outstanding = 0;
    double round_end = 0;
    std::int32_t round = none, cause = none;
  };
  /// What a send sends: a message of its own, or the parts of a put.
  enum class part : std::uint8_t { message, put_header, put_data, signal };
  struct message {
    std::uint64_t bytes = 0;
    double send_ready = 0, receive_ready = 0, arrival = 0;
    std::uint32_t sender = 0, receiver = 0;  // runs
    std::int32_t record = none;
    std::int32_t from = 0, to = 0;
    std::uint32_t first_word = 0;
    part what = part::message;
    bool has_send = false, has_receive = false, eager = false, arrived = false;
    bool reduces = false, awaits = false;
  };
  enum class what : std::uint8_t { begin_flow, resume };
  struct event {
    double time;
    std::uint64_t sequence;
    what kind;
    std::uint32_t number;
    bool operator<(const event& other) const noexcept {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  void advance(std::uint32_t number, double now);
  void open_record(run& r, double now);
  void stop_recording();
  void post_sends(std::uint32_t number, const planned_transfer& t);
  void post_send(std::uint32_t number, const planned_transfer& t, part which, std::uint64_t bytes);
  std::uint32_t post_receive(std::uint32_t number, int from, const planned_transfer& t, double now);
  void start_if_ready(std::uint32_t m);
  void arrive(std::uint32_t m, double now);
  void process(std::uint32_t m, double now);
  void transfer_done(std::uint32_t number, double now, std::int32_t record);
  double close_round(run& r);
  std::uint32_t new_message();
  [[noreturn]] void report_deadlock() const;

  const network& network_;
  const machine& machine_;
  const int representatives_;
  observer* observer_ = nullptr;
  bool recording_ = false, must_record_ = false;
  std::size_t max_recorded_ = 0;
  std::function<void(const simulation_progress&)> progress_;
  simulation_limits within_;
  double expected_messages_ = 0;
  std::uint64_t next_report_ = 0;
  flow_set flows_;
  std::vector<core> cores_;
  std::vector<run> runs_;
  std::vector<std::uint32_t> free_runs_;
  std::vector<message> messages_;
  std::vector<std::uint32_t> free_messages_;
  message_queues queues_;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> words_;  // that messages carry
  std::priority_queue<event> events_;
  std::uint64_t sequence_ = 0, message_count_ = 0, byte_count_ = 0;
  std::size_t unfinished_ = 0;
  planned_round planned_;
  std::vector<std::uint32_t> ended_, early_;
  route route_;
  std::vector<simulated_round> rounds_;
  std::vector<simulated_message> recorded_;
};

}  // namespace tutti::simulation
