// SPDX-License-Identifier: Apache-2.0
//
// bcast/multi_leader, reduce/multi_leader, allreduce/multi_leader
//
// The same as node_leader, but the vector is cut into parts. Each part has its own leader on every
// node, and the leaders of one part communicate only with one another. So several cores feed the
// network.
//
// Source:       Bayatpour et al. 2017 (DPML)
// Restrictions: equal_nodes, rank_order
// Parameters:   leaders = 2 in 1..64: leader ranks of a node, or all its ranks if it has fewer
// Calls:        in the node a bcast or reduce for each part, all in progress together; among a
//                 part's leaders the same collective; for the root of a reduce gather or gatherv in
//                 its node
// Good for:     long vectors if one core cannot saturate the network
#include "compositions/parts/calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_leader {

namespace {

// The parts of the vector. count() and begin() describe this rank's part and are valid only if
// leads() is true.
struct leadership : parts::lanes {
  std::vector<std::size_t> counts, begins;
  std::size_t leaders;

  explicit leadership(planner& p) : lanes(p) {
    leaders = std::min<std::size_t>(std::max<std::size_t>(1, p.of(algorithm_parameter::leaders)), width);
    counts = parts::split(p.count(), leaders);
    begins = parts::sums_before(counts);
  }
  bool leads() const { return place < leaders; }
  std::size_t count() const { return counts[place]; }
  std::size_t begin() const { return begins[place]; }
};

// Moves each part to or from its leader, all parts at the same time.
template <class Make>
void in_node(planner& p, const leadership& led, bool wanted, const Make& make) {
  std::vector<planner::ticket> all;
  for (std::size_t j = 0; j < led.leaders; ++j) {
    if (wanted && led.width > 1) {
      subcall c = make(j);
      c.nonblocking = true;
      all.push_back(p.start(led.node, std::move(c)));
    } else {
      p.skip();
    }
  }
  for (const planner::ticket t : all) p.wait(t);
}

void call_in_lane(planner& p, const leadership& led, subcall c) {
  if (led.leads() && led.nodes > 1)
    p.call_on(led.lane, std::move(c));
  else
    p.skip();
}

void bcast(planner& p) {
  const leadership led(p);
  const bool root = p.rank() == p.root(), near = led.node_of(p.root()) == led.own_node;
  const area data = root ? p.operand() : p.output();
  const auto of_part = [&](std::size_t j) {
    return parts::bcast(data + led.begins[j], led.counts[j],
                        static_cast<int>(near ? led.place_of(p.root()) : j));
  };
  in_node(p, led, near, of_part);
  // Leaders other than the root receive their parts from the root in this call.
  if (led.leads())
    call_in_lane(p, led,
                 parts::bcast(data + led.begin(), led.count(), static_cast<int>(led.node_of(p.root()))));
  else
    p.skip();
  in_node(p, led, !near, of_part);
}

// Reduces each part to its leader. Returns the area of this rank's part of the node's sum. Every
// node has the same number of ranks, so all leaders use their operands directly or none does.
area reduce_in_node(planner& p, const leadership& led, area parts_of_leaders) {
  const area operand = p.operand();
  in_node(p, led, true, [&](std::size_t j) {
    return parts::reduce(operand + led.begins[j], parts_of_leaders, j == led.place, led.counts[j],
                         static_cast<int>(j));
  });
  return led.width > 1 || !led.leads() ? parts_of_leaders : operand + led.begin();
}

void reduce(planner& p) {
  const leadership led(p);
  const bool root = p.rank() == p.root(), near = led.node_of(p.root()) == led.own_node;
  area mine = reduce_in_node(p, led, p.scratch(led.leads() ? led.count() : 0));
  if (led.leads() && led.nodes > 1) {
    const area sum = near ? p.scratch(led.count()) : area{};
    call_in_lane(p, led,
                 parts::reduce(mine, sum, near, led.count(), static_cast<int>(led.node_of(p.root()))));
    mine = sum;
  } else {
    p.skip();
  }
  if (near && led.width > 1) {
    auto given = led.counts;
    given.resize(led.width, 0);
    p.call_on(led.node, parts::gather_blocks(false, given, static_cast<int>(led.place), mine, p.output(),
                                             false, static_cast<int>(led.place_of(p.root()))));
  } else {
    p.skip();
    if (root) p.copy(mine, p.output(), p.count());
  }
}

void allreduce(planner& p) {
  const leadership led(p);
  // If the call is in place, other ranks' parts of the operand are still being read when this
  // rank's sum arrives.
  const bool beside = led.leads() && p.requested().in_place && led.width > 1;
  const area target = p.output() + (led.leads() ? led.begin() : 0);
  const area mine = reduce_in_node(p, led, beside ? p.scratch(led.count()) : target);
  if (led.leads() && led.nodes > 1)
    call_in_lane(p, led, parts::call_of(collective::allreduce, mine, target, led.count()));
  else
    p.skip();
  if (led.leads() && led.nodes == 1) p.copy(mine, target, led.count());
  in_node(p, led, true, [&](std::size_t j) {
    return parts::bcast(p.output() + led.begins[j], led.counts[j], static_cast<int>(j));
  });
}

}  // namespace

void plan(planner& p) {
  switch (p.what()) {
    case collective::bcast:
      return bcast(p);
    case collective::reduce:
      return reduce(p);
    default:
      return allreduce(p);
  }
}

}  // namespace tutti::compositions::multi_leader
