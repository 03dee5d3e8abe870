// SPDX-License-Identifier: Apache-2.0
//
// The messages in progress on the links. Each link is shared fairly (max-min): no message can get
// more without another one, which has no more than it, getting less.
//
// A message that begins or ends changes the rates of those that share links with it, directly or
// through others. Only these are computed anew, once for all changes of the same time.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "simulation/network.hpp"

namespace tutti::simulation {

class flow_set {
 public:
  /// Removes all messages and sets the links.
  void reset(const std::vector<double>& bandwidths);

  /// A message of this many bytes begins. `user` identifies it for its caller.
  void begin(const route& r, double bytes, std::uint32_t user, double now);
  /// Computes the rates after messages have begun or ended.
  void share(double now);
  /// The earliest time at which a message may end; infinite if there is none.
  double next_end() const noexcept { return ends_.empty() ? unlimited : ends_.top().time; }
  /// Ends the messages that are complete at `now`, and appends their `user` to `ended`.
  void end(double now, double precision, std::vector<std::uint32_t>& ended);

  /// How many rates were computed: the effort so far.
  std::uint64_t computed() const noexcept { return computed_; }

  /// Bytes that have begun to cross each link.
  const std::vector<double>& carried() const noexcept { return carried_; }

 private:
  struct flow {
    double left, rate, updated;
    double end, queued;  // expected end; the earliest time in `ends_`
    double max_rate;
    std::uint32_t user, mark, hops;
    std::array<std::uint32_t, max_hops> links, positions;
  };
  struct reference {
    std::uint32_t flow, hop;
  };
  struct link {
    double bandwidth, left;
    std::uint32_t mark, unfixed;
    std::vector<reference> flows;
  };
  struct ending {
    double time;
    std::uint32_t flow;
    bool operator<(const ending& other) const noexcept { return time > other.time; }
  };
  struct candidate {
    double rate;
    std::uint32_t which;
    bool is_flow;
    bool operator<(const candidate& other) const noexcept { return rate > other.rate; }
  };

  void remove(std::uint32_t f);
  void collect(std::uint32_t first_link);
  void fill(double now);
  void fix(std::uint32_t f, double rate, double now);

  std::vector<flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<link> links_;
  std::vector<double> carried_;
  std::priority_queue<ending> ends_;
  std::vector<std::uint32_t> changed_;  // links
  std::uint32_t mark_ = 0;
  std::uint64_t computed_ = 0;
  // The connected component, and the order in which its links are filled.
  std::vector<std::uint32_t> component_links_, component_flows_;
  std::vector<candidate> order_;
};

}  // namespace tutti::simulation
