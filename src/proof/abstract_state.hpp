// SPDX-License-Identifier: Apache-2.0
//
// The state of an abstract run. Seven files implement it: symbolic_places.cpp locates areas and
// moves symbols. abstract_run.cpp executes the schedules and matches transfers. local_steps.cpp
// executes local steps. port_times.cpp assigns times to transfers. hazards.cpp finds conflicting
// accesses. verdict.cpp checks the results. rank_run.cpp executes the schedule of one rank alone.
//
// A run of one rank has one rank_state. Lengths that messages of other ranks carry are unknown to
// it, and so are the areas that depend on them.
#pragma once

#include <span>

#include "proof/abstract_run.hpp"
#include "proof/oracle.hpp"
#include "proof/symbols.hpp"

namespace tutti::proof {

/// Thrown if a rule is broken; it ends the run.
struct rule_violation {
  fault what;
};

class abstract_machine::state {
 public:
  outcome run(const abstract_call& p, const std::vector<schedule>& schedules, const run_options& options);
  rank_outcome run_rank(const abstract_call& p, const schedule& s, int rank, const rank_options& options,
                        const round_visitor& visit);

 private:
  static constexpr int words_memory = 6;
  static constexpr int memory_count = 7;

  /// Elements of a buffer of a rank: 0 input, 1 output, 2 .. 5 scratch, 6 words. If input and
  /// output are one buffer, it is 1.
  struct area {
    std::uint8_t memory = 0;
    bool exists = false;
    bool padded = false;
    bool known = true;  // false: a message carries the length; first and count are 0
    std::size_t first = 0, count = 0;
    std::size_t end() const noexcept { return first + count; }
  };
  struct transfer {
    const step* what;
    int peer;
    // for recv_reduce: own operand and target; for put: the target at the peer
    area source, target;
    std::int32_t peer_index = -1;  // index of the matching transfer of the peer
    std::int32_t next = -1;        // in the same queue
    bool matched = false, timed = false;
    std::int64_t time = 0;
  };
  struct access {  // to the output, the target of puts
    int round;
    std::size_t first, end;
  };
  struct arrived_put {
    int from, round;             // the receiver's round that contains its await_signal
    std::uint32_t known_rounds;  // the receiver's rounds that the sender knew to have begun
    std::size_t first, end;
  };
  struct loop_state {
    std::uint32_t head;
    std::int32_t i, n;
  };
  // In a run of one rank: sums of the words before each word, and how many of them are unknown.
  // They are made when several queries follow one another without a change of a word.
  struct word_sums {
    bool made = false;
    int queries = 0;
    std::vector<std::uint64_t> words;
    std::vector<std::uint32_t> unknown;
  };
  struct rank_state {
    std::uint32_t pc = 0;
    int depth = 0;
    loop_state loops[2] = {};
    // rounds executed so far, including the open one
    int round = -1;
    // closing: all transfers matched, local steps are next
    bool open = false, closing = false, finished = false;
    std::vector<transfer> sends, recvs;
    std::size_t unmatched = 0;
    std::size_t send_head = 0, recv_head = 0;  // the first transfer that has no time yet
    std::int64_t time = 0, send_free = 0, recv_free = 0;
    std::size_t sizes[memory_count] = {};
    std::size_t max_sizes[scratch_count] = {};
    std::vector<symbol> cells[6];
    std::vector<std::uint64_t> words;
    // in a run of one rank: which words the rank knows, and the buffers whose contents it does not
    std::vector<bool> known_words;
    bool opaque[memory_count] = {};
    word_sums sums;
    // by rank: number of its rounds that are known to have begun
    std::vector<std::uint32_t> clock, next_clock;
    const item* current = nullptr;
    traced_round traced;
    std::vector<access> accesses;
    std::vector<arrived_put> puts;
  };
  struct queue {  // transfers that one side has posted and the other has not
    std::int32_t head = -1, tail = -1;
    bool of_sends = false;
  };
  struct span {
    std::uint8_t memory;
    bool writes;
    std::size_t first, end;
  };

  // abstract_run.cpp
  void set_up(const abstract_call& p, const std::vector<schedule>& schedules, const run_options& options);
  void set_up_rank(int rank);
  void execute();
  void advance(int rank);
  const item* next_round(int rank);
  void open_round(int rank, const item& r);
  void list_transfers(int rank, const item& r);
  void close_round(int rank);
  void post_send(int rank, std::int32_t i);
  void post_recv(int rank, std::int32_t j);
  bool match(int from, std::int32_t i, int to, std::int32_t j);
  void mark_if_complete(int rank);
  void report_deadlock();
  void compare_results();
  void prove_barrier();
  queue& between(int from, int to) {
    return queues_[static_cast<std::size_t>(from) * static_cast<std::size_t>(call_->ranks) +
                   static_cast<std::size_t>(to)];
  }
  std::size_t place_of(int rank) const { return only_ < 0 ? static_cast<std::size_t>(rank) : 0; }
  rank_state& of(int rank) { return ranks_[place_of(rank)]; }
  const rank_state& of(int rank) const { return ranks_[place_of(rank)]; }
  const schedule& schedule_of(int rank) const { return schedules_[place_of(rank)]; }
  [[noreturn]] void fail(int rank, const std::string& what) const;

  // symbolic_places.cpp
  int resolve(int rank, const index& i) const;
  area locate(int rank, const place& p, int owner = -1);
  void table_area(int rank, const place& p, int first, area& a);
  /// The sum of words first .. end - 1 of a rank.
  std::size_t sum_of_words(int rank, std::size_t first, std::size_t end);
  std::int32_t trips(int rank, const trip_count& t) const;
  std::size_t longest_block(int rank, partition how) const;
  void require_readable(int rank, const area& a, const char* action) const;
  void require_writable(int rank, const area& a) const;
  void move(int from, const area& source, int to, const area& target);
  void combine(int left_rank, const area& left, int right_rank, const area& right, int rank,
               const area& target);
  area reserve(int rank, const place& p);
  std::string text(int rank, const area& a) const;

  // local_steps.cpp
  void local_step(int rank, const step& s);
  bool word_step(int rank, const step& s);
  std::size_t word_at(int rank, const place& p);
  void set_word(int rank, std::size_t word, std::uint64_t value, bool known);
  void record_local(int rank, const step& s, const area& source, const area& other, const area& target);

  // rank_run.cpp
  std::size_t elements_of(int rank) const;
  void execute_rank(int rank, std::uint64_t max_work);
  void complete_transfers(int rank);
  void require_written(int rank) const;
  bool depends_on_unknown_words(int rank, const place& p, std::size_t first, std::size_t end);
  bool any_unknown_word(int rank, std::size_t first, std::size_t end);
  /// Returns whether the sums are made, and makes them if that pays.
  bool use_word_sums(rank_state& me);
  void words_changed(rank_state& me) {
    me.sums.made = false;
    me.sums.queries = 0;
  }
  /// After a write of values that come from other ranks, or whose place is unknown.
  void overwrite(int rank, const area& target);

  // hazards.cpp
  void prove_round(int rank);
  void record_access(int rank, const area& a);
  void prove_puts(int rank);
  void prove_put_pairs(int rank);

  // port_times.cpp
  void assign_times(int rank);
  void assign_time(int from, int to);
  bool overtake_one_message();

  const abstract_call* call_ = nullptr;
  std::span<const schedule> schedules_;
  run_options options_;
  int only_ = -1;  // the rank of a run of one rank
  rank_costs rank_costs_;
  const round_visitor* visit_ = nullptr;
  bool clocks_ = false;  // for a barrier or puts
  bool puts_ = false;
  symbols symbols_;
  std::unique_ptr<oracle> oracle_;
  std::vector<rank_state> ranks_;
  std::vector<queue> queues_;
  std::vector<int> ready_, untimed_;
  std::vector<span> spans_;
  outcome end_;
};

}  // namespace tutti::proof
