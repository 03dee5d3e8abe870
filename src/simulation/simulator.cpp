// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <utility>

#include "simulation/available_memory.hpp"
#include "simulation/call_shape.hpp"
#include "simulation/composite_simulation.hpp"
#include "simulation/event_run.hpp"
#include "simulation/symmetry.hpp"

namespace tutti::simulation {
namespace {

std::size_t index_of(int i) { return static_cast<std::size_t>(i); }

std::string bytes_text(double bytes) {
  char text[32];
  if (bytes >= 1e9)
    std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  else
    std::snprintf(text, sizeof text, "%.0f MB", bytes / 1e6);
  return text;
}

// Schedules of one node that take more are not looked for. A ring of 65536 ranks, 64 on a node,
// takes less.
constexpr double max_common_memory = double{1 << 30};

void require_memory(double needed, int ranks, const simulation_options& options) {
  if (needed > options.within.memory) throw too_laborious();
  const double there = options.max_memory > 0 ? options.max_memory : available_memory();
  if (needed > there)
    throw std::length_error("the simulation of " + std::to_string(ranks) + " ranks needs about " +
                            bytes_text(needed) + " of memory, and " + bytes_text(there) +
                            " are available; simulate fewer ranks");
}

}  // namespace

class simulator::state : private event_run::observer {
 public:
  state(const machine& m, int ranks) : machine_(m), network_(machine_, ranks), events_(network_, machine_) {}

  const network& links() const noexcept { return network_; }

  simulation_result run(const simulated_call& c, const choice& algorithm, const simulation_options& options) {
    if (algorithm.pure == nullptr) throw not_simulated("a native collective runs inside the engine");
    require_memory(state_memory(), network_.ranks(), options);
    const call_cost cost = sum_of_ranks(c, 1, [&](int r) {
      rank_schedule s(write(c, algorithm, r), lengths_of(c, network_.ranks(), r));
      return event_run::cost_of(s);
    });
    const double common_memory =
        common_schedule::message_memory * cost.messages / std::max(1, network_.nodes());
    const bool looks_for_common = is_symmetric(machine_, network_.ranks()) && !is_rooted(c.what) &&
                                  !options.must_record && common_memory <= max_common_memory;
    require_memory(state_memory() + cost.memory + (looks_for_common ? common_memory : 0), network_.ranks(),
                   options);
    std::vector<rank_schedule> all;
    for (int r = 0; r < network_.ranks(); ++r)
      all.emplace_back(write(c, algorithm, r), lengths_of(c, network_.ranks(), r));
    const auto walked = [&](double messages) {
      if (options.progress) options.progress({messages, cost.messages});
    };
    if (looks_for_common)
      if (auto common = find_common_schedule(all, machine_, walked)) {
        const std::uint64_t messages = common->messages * static_cast<std::uint64_t>(network_.nodes());
        if (messages > options.max_recorded) return run_representatives(std::move(*common), options.within);
      }
    start(options, cost.messages);
    for (int r = 0; r < network_.ranks(); ++r) events_.add(r, 0, std::move(all[index_of(r)]));
    for (int r = 0; r < network_.ranks(); ++r) events_.begin(static_cast<std::uint32_t>(r), 0, -1);
    events_.execute();
    return finish();
  }

  simulation_result run(const simulated_call& c, const composed_choice& composition, const selection& inner,
                        const simulation_options& options) {
    if (composition.which == nullptr) throw not_simulated("there is no composition");
    require_memory(state_memory(), network_.ranks(), options);
    const hierarchy topology = network_.topology();
    composite_simulation plans(events_, c, topology, composition, inner);
    const call_cost cost =
        sum_of_ranks(c, machine_.ranks_per_node / machine_.sockets, [&](int r) { return plans.cost_of(r); });
    require_memory(state_memory() + cost.memory, network_.ranks(), options);
    events_.reset(options, plans, cost.messages);
    plans.run();
    ends_.clear();
    last_.clear();
    for (int r = 0; r < network_.ranks(); ++r) {
      ends_.push_back(plans.end_of(r));
      last_.push_back(plans.last_round(r));
    }
    return finish();
  }

 private:
  void start(const simulation_options& options, double expected_messages) {
    events_.reset(options, *this, expected_messages);
    ends_.assign(index_of(network_.ranks()), 0);
    last_.assign(index_of(network_.ranks()), -1);
  }

  // The times of the ranks of one node are those of all nodes.
  simulation_result run_representatives(common_schedule&& common, const simulation_limits& within) {
    const int n = machine_.ranks_per_node;
    const network two_nodes(machine_, 2 * n);
    event_run some(two_nodes, machine_, n);
    simulation_options how;
    how.within = within;
    some.reset(how, *this, 0);
    ends_.assign(index_of(n), 0);
    last_.assign(index_of(n), -1);
    struct restored {
      event_run*& running;
      event_run* former;
      ~restored() { running = former; }
    };
    const restored guard{running_, std::exchange(running_, &some)};
    for (int q = 0; q < n; ++q) some.add(q, 0, std::move(common.schedules[index_of(q)]));
    for (int q = 0; q < n; ++q) some.begin(static_cast<std::uint32_t>(q), 0, -1);
    some.execute();
    simulation_result r;
    r.simulated_ranks = n;
    for (int rank = 0; rank < network_.ranks(); ++rank) {
      const double end = ends_[index_of(rank % n)];
      r.seconds = std::max(r.seconds, end);
      r.ends.push_back(end);
      r.waits.push_back(std::max(0.0, end - some.busy(rank % n)));
    }
    r.messages = common.messages * static_cast<std::uint64_t>(network_.nodes());
    r.bytes = common.bytes * static_cast<std::uint64_t>(network_.nodes());
    find_busiest_link(some.flows().carried(), two_nodes.bandwidths(), r);
    if (r.any_link) r.busiest_link = two_nodes.link_in(network_, r.busiest_link);
    return r;
  }

  static void find_busiest_link(const std::vector<double>& carried, const std::vector<double>& bandwidths,
                                simulation_result& r) {
    double longest = 0;
    for (std::size_t l = 0; l < carried.size(); ++l) {
      const double time = carried[l] / bandwidths[l];
      if (time <= longest) continue;
      longest = time;
      r.any_link = true;
      r.busiest_link = static_cast<std::uint32_t>(l);
      r.busiest_bytes = carried[l];
      r.busiest_share = r.seconds > 0 ? time / r.seconds : 0;
    }
  }

  void complete(std::uint32_t run, double now) override {
    ends_[run] = now;  // the schedule of a rank has its number
    last_[run] = running_->last_round(run);
    running_->drop_schedule(run);
  }
  void resume(int, double) override {}

  schedule write(const simulated_call& c, const choice& algorithm, int rank) {
    builder b;
    algorithm.pure->write(shape_of(c, network_.ranks(), rank, algorithm.parameter_values, neighbors_), b);
    return b.finish();
  }

  // The sum of the costs of all ranks, estimated from a few of them: the root, the first ranks of
  // nodes (which lead them in compositions), and others.
  template <class Cost>
  call_cost sum_of_ranks(const simulated_call& c, int ranks_per_node, Cost&& cost_of) const {
    const int p = network_.ranks(), root = std::min(c.root, p - 1);
    call_cost leader, other;
    int leaders = 0, others = 0;
    std::vector<int> seen{root};
    const int middle = p / 2 / ranks_per_node * ranks_per_node;
    for (const int r : {0, 1, middle, middle + ranks_per_node - 1, p - 1}) {
      if (r >= p || std::find(seen.begin(), seen.end(), r) != seen.end()) continue;
      seen.push_back(r);
      const call_cost one = cost_of(r);
      call_cost& kind = r % ranks_per_node == 0 ? leader : other;
      ++(r % ranks_per_node == 0 ? leaders : others);
      kind.memory = std::max(kind.memory, one.memory);
      kind.messages += one.messages;
    }
    if (leaders > 1) leader.messages /= leaders;
    if (others > 1) other.messages /= others;
    const double nodes = std::ceil(static_cast<double>(p) / ranks_per_node);
    call_cost sum = cost_of(root);
    sum += (root % ranks_per_node == 0 ? nodes - 1 : nodes) * leader;
    sum += (p - nodes - (root % ranks_per_node == 0 ? 0 : 1)) * other;
    return sum;
  }

  double state_memory() const {
    return network_.ranks() * static_cast<double>(event_run::rank_memory) +
           network::memory(machine_, network_.ranks());
  }

  simulation_result finish() {
    simulation_result r;
    r.ends = std::move(ends_);
    for (int rank = 0; rank < network_.ranks(); ++rank) {
      r.seconds = std::max(r.seconds, r.ends[index_of(rank)]);
      r.waits.push_back(std::max(0.0, r.ends[index_of(rank)] - events_.busy(rank)));
    }
    r.messages = events_.messages();
    r.bytes = events_.bytes();
    r.simulated_ranks = network_.ranks();
    find_busiest_link(events_.flows().carried(), network_.bandwidths(), r);
    r.recorded = events_.recorded();
    if (r.recorded) {
      r.rounds = events_.take_rounds();
      r.sent = events_.take_messages();
      r.last_rounds = std::move(last_);
    }
    return r;
  }

  machine machine_;
  network network_;
  event_run events_;
  event_run* running_ = &events_;
  std::vector<double> ends_;
  std::vector<std::int32_t> last_;
  std::vector<int> neighbors_;
};

simulator::simulator(const machine& m, int ranks) {
  if (ranks < 1 || ranks > max_ranks)
    throw std::invalid_argument("a simulation has 1 to " + std::to_string(max_ranks) + " ranks, not " +
                                std::to_string(ranks));
  const double needed = network::memory(m, ranks), there = available_memory();
  if (needed > there)
    throw std::length_error("the links of this machine need about " + bytes_text(needed) +
                            " of memory, and " + bytes_text(there) +
                            " are available; simulate a smaller machine or fewer ranks");
  state_ = std::make_unique<state>(m, ranks);
}
simulator::~simulator() = default;

const network& simulator::links() const noexcept { return state_->links(); }

simulation_result simulator::run(const simulated_call& c, const choice& algorithm,
                                 const simulation_options& options) {
  return state_->run(c, algorithm, options);
}

simulation_result simulator::run(const simulated_call& c, const composed_choice& composition,
                                 const selection& inner, const simulation_options& options) {
  return state_->run(c, composition, inner, options);
}

namespace {

selection_context context_of(const simulated_call& c, int ranks) {
  std::vector<std::size_t> counts, displs;
  const call made = call_of(c, ranks, is_rooted(c.what) ? c.root : 0, counts, displs);
  selection_context s;
  s.call = agreed_part(made, ranks, c.first_group != 0);
  return s;
}

}  // namespace

selection_context context_of(const simulated_call& c, const hierarchy& topology) {
  selection_context s = context_of(c, topology.ranks());
  s.set_topology(topology);
  return s;
}

selection_context context_of(const simulated_call& c, const network& links) {
  selection_context s = context_of(c, links.ranks());
  s.nodes = links.finest_nodes();
  s.ranks_per_node = links.ranks_per_finest_node();
  return s;
}

// Walks back from the rank that is done last. A round began when the one before it had ended. Its
// transfers ended with a message. If this message arrived after the round had begun, the side that
// made it leave so late determined the time; otherwise the round itself did.
std::vector<path_step> simulation_result::critical_path() const {
  std::vector<path_step> path;
  if (last_rounds.empty()) return path;
  const auto last = std::max_element(ends.begin(), ends.end()) - ends.begin();
  std::int32_t at_round = last_rounds[static_cast<std::size_t>(last)];
  double until = -1;  // of a round that a message leaves before its end
  while (at_round >= 0) {
    const simulated_round& r = rounds[static_cast<std::size_t>(at_round)];
    const double end = until < 0 ? r.end : until;
    const simulated_message* m =
        until < 0 && r.cause >= 0 ? &sent[static_cast<std::size_t>(r.cause)] : nullptr;
    until = -1;
    const auto add_round = [&](double begin, double until_then) {
      if (until_then > begin) path.push_back({r.rank, r.number, -1, 0, begin, until_then});
    };
    if (m == nullptr || r.received <= r.sent || m->arrival <= r.begin) {
      add_round(r.begin, end);
      at_round = r.previous;
      continue;
    }
    // The time from which the message could travel, and the side that determined it.
    const bool by_sender = m->eager || m->send_ready >= m->receive_ready;
    const double left = m->eager ? m->send_ready : std::max(m->send_ready, m->receive_ready);
    add_round(m->arrival, r.end);
    path.push_back(
        {m->from, rounds[static_cast<std::size_t>(m->sent_in)].number, m->to, m->bytes, left, m->arrival});
    at_round = by_sender ? m->sent_in : m->received_in;
    until = left;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace tutti::simulation
