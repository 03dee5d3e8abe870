// SPDX-License-Identifier: Apache-2.0
//
// Compares the messages of one rank with the schedules of its peers. A peer is not executed: only
// its transfers with that rank are listed, in order, with their lengths. Iterations of loops that
// have no such transfer are skipped, so a peer of a linear algorithm on p ranks costs O(1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proof/abstract_run.hpp"
#include "proof/block_rule.hpp"

namespace tutti::proof {

/// A transfer between two ranks, as one of them describes it.
struct peer_message {
  enum class content : std::uint8_t { elements, words, signal };
  int peer = -1;
  int round = 0;  ///< of the rank that describes it
  content what = content::elements;
  bool sent = false;
  bool known = true;  ///< false: other messages carry its length
  std::size_t count = 0;
};

/// The messages of a round of `rank_run`, for example for a round_visitor.
void append_messages(const traced_round& r, int round, std::vector<peer_message>& all);

/// Lists the transfers of one rank with another one.
class peer_schedules {
 public:
  peer_schedules(void (*write)(const shape&, builder&), const case_options& w);
  /// The transfers of `peer` with `rank`, in the order of its schedule.
  std::vector<peer_message> transfers(int peer, int rank);
  /// Written steps and visited transfers so far, as a measure of time.
  std::uint64_t work() const noexcept { return work_; }

 private:
  struct counters {
    int depth = 0;
    std::int64_t outer = 0, inner = 0;
  };
  void walk(std::size_t first, std::size_t end, const counters& c);
  void walk_loop(std::size_t head, const counters& c);
  void visit(const item& r, const counters& c);
  std::vector<std::int64_t> iterations(std::size_t first, std::size_t end, counters c, std::int64_t n) const;
  std::int64_t trips(const trip_count& t) const;
  static std::int64_t resolve(const index& i, const counters& c);
  /// Returns false if the place does not exist.
  bool measure(const place& p, const counters& c, peer_message& m);
  /// The number of elements in whole blocks, from block `first` on. Returns false if it is unknown.
  bool count_blocks(const place& p, std::int64_t first, std::size_t& count);
  bool count_table(const place& p, std::int64_t first, std::size_t& count);

  void (*write_)(const shape&, builder&);
  block_rule rule_;
  schedule schedule_;
  std::vector<int> sources_, destinations_;
  int peer_ = 0, rank_ = 0, round_ = 0;
  std::size_t count_ = 0;
  std::vector<peer_message> found_;
  std::uint64_t work_ = 0;
};

struct peer_comparison {
  std::vector<fault> faults;   ///< the first one
  std::uint64_t peers = 0;     ///< ranks with which the rank has messages
  std::uint64_t compared = 0;  ///< of them; fewer if `max_work` does not suffice for all
  std::uint64_t messages = 0;  ///< with the compared peers
  bool ok() const noexcept { return faults.empty(); }
};

/// Compares `messages` of `rank`, in the order of its schedule, with the schedules of its peers.
/// Between two ranks messages match in order. If the work is not sufficient for all peers, they are
/// a selection at equal distances.
peer_comparison compare_with_peers(int rank, std::vector<peer_message> messages, peer_schedules& peers,
                                   std::uint64_t max_work);

}  // namespace tutti::proof
