// SPDX-License-Identifier: Apache-2.0
#include "tuning/machine_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tutti::tuning {
namespace {

using simulation::machine;
using simulation::unlimited;

// --- lines

// Minimizes the relative errors of y = sum of x[i] * c[i] with c[i] >= 0: a coefficient that would
// be negative is 0. At most three coefficients.
constexpr std::size_t max_coefficients = 3;
using row = std::array<double, max_coefficients>;
struct sample {
  row x;
  double y;
};

row solve(std::array<row, max_coefficients> a, row b, const std::array<bool, max_coefficients>& used) {
  row c{};
  for (std::size_t i = 0; i < max_coefficients; ++i) {
    if (!used[i] || a[i][i] <= 0) continue;
    for (std::size_t j = i + 1; j < max_coefficients; ++j) {
      if (!used[j]) continue;
      const double factor = a[j][i] / a[i][i];
      for (std::size_t k = i; k < max_coefficients; ++k) a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  }
  for (std::size_t i = max_coefficients; i-- > 0;) {
    if (!used[i] || a[i][i] <= 0) continue;
    double rest = b[i];
    for (std::size_t j = i + 1; j < max_coefficients; ++j)
      if (used[j]) rest -= a[i][j] * c[j];
    c[i] = rest / a[i][i];
  }
  return c;
}

row fit_line(const std::vector<sample>& all, std::size_t coefficients) {
  std::array<row, max_coefficients> a{};
  row b{};
  for (const sample& s : all)
    for (std::size_t i = 0; i < coefficients && s.y > 0; ++i) {
      b[i] += s.x[i] / s.y;
      for (std::size_t j = 0; j < coefficients; ++j) a[i][j] += s.x[i] * s.x[j] / (s.y * s.y);
    }
  std::array<bool, max_coefficients> used{};
  for (std::size_t i = 0; i < coefficients; ++i) used[i] = a[i][i] > 0;
  for (;;) {
    const row c = solve(a, b, used);
    const auto least = static_cast<std::size_t>(std::min_element(c.begin(), c.end()) - c.begin());
    if (c[least] >= 0) return c;
    used[least] = false;
  }
}

// --- messages

struct path_fit {
  simulation::protocol with;
  double latency = 0;    // of the route
  double bandwidth = 0;  // of one message
  double total = unlimited;

  double start(std::size_t bytes) const {  // a message besides its bytes
    const bool eager = bytes < with.eager_limit;
    return with.send_overhead + latency +
           (eager ? with.receive_overhead : with.handshake + with.rendezvous_overhead);
  }
};

std::vector<pattern_time> select(const machine_measurements& m, bool between_nodes,
                                 const std::function<bool(const pattern&)>& which) {
  std::vector<pattern_time> found;
  for (const pattern_time& t : m.patterns)
    if (!t.what.is_local() && t.what.between_nodes == between_nodes && which(t.what)) found.push_back(t);
  return found;
}

double slope(const std::vector<burst_time>& bursts, double burst_time::*side) {
  std::vector<sample> all;
  for (const burst_time& b : bursts) all.push_back({{1, static_cast<double>(b.messages)}, b.*side});
  return fit_line(all, 2)[1];
}

// Latency, handshake and the bandwidth of one message.
void fit_single_messages(const std::vector<pattern_time>& ping_pongs, path_fit& p) {
  std::vector<sample> all;
  for (const pattern_time& t : ping_pongs) {
    const bool eager = t.what.bytes < p.with.eager_limit;
    all.push_back({{1, static_cast<double>(t.what.bytes), eager ? 0.0 : 1.0}, t.seconds / 2});
  }
  const row c = fit_line(all, 3);
  p.bandwidth = c[1] > 0 ? 1 / c[1] : simulation::unlimited;
  p.with.handshake = c[2];
  const double overheads = p.with.send_overhead + p.with.receive_overhead;
  if (overheads > c[0]) {  // the bursts took longer than single messages
    p.with.send_overhead *= c[0] / overheads;
    p.with.receive_overhead *= c[0] / overheads;
  }
  p.latency = std::max(0.0, c[0] - overheads);
  p.with.rendezvous_overhead = p.with.receive_overhead;
}

// The bandwidth that messages share. `flows` states how many messages of a pattern share a link.
void fit_sharing(const std::vector<pattern_time>& concurrent,
                 const std::function<double(const pattern&)>& flows, path_fit& p) {
  struct shared {
    double flows, bytes, seconds;  // of one message, besides its start
  };
  std::vector<shared> all;
  for (const pattern_time& t : concurrent) {
    const double one = t.what.what == pattern_kind::ping_pong ? t.seconds / 2 : t.seconds;
    const double rest = one - p.start(t.what.bytes);
    if (rest > 0) all.push_back({flows(t.what), static_cast<double>(t.what.bytes), rest});
  }
  const auto misfit = [&](double total) {
    double sum = 0;
    for (const shared& s : all) {
      const double error = std::log(s.bytes / std::min(p.bandwidth, total / s.flows) / s.seconds);
      sum += error * error;
    }
    return sum;
  };
  // A limit must explain errors of more than 2 %.
  double best = misfit(unlimited) - 4e-4 * static_cast<double>(all.size());
  for (const shared& s : all) {
    const double total = std::max(p.bandwidth, s.flows * s.bytes / s.seconds), sum = misfit(total);
    if (sum < best) {
      best = sum;
      p.total = total;
    }
  }
}

constexpr std::size_t min_shared_bytes = 131072;  // shorter messages tell little about bandwidths

path_fit fit_path(const machine_measurements& m, bool between_nodes) {
  const path_measurements& direct = between_nodes ? m.between_nodes : m.within_node;
  path_fit p;
  p.with.eager_limit = direct.eager_limit;
  p.with.send_overhead = slope(direct.bursts, &burst_time::send);
  p.with.receive_overhead = slope(direct.bursts, &burst_time::receive);
  fit_single_messages(select(m, between_nodes,
                             [](const pattern& a) {
                               return a.what == pattern_kind::ping_pong && a.pairs == 1 && !a.all_nodes;
                             }),
                      p);
  // Both directions share the memory of a node, but not the links of a network.
  const auto flows = [&](const pattern& a) {
    return static_cast<double>(a.pairs * (!between_nodes && a.what == pattern_kind::exchange ? 2 : 1));
  };
  fit_sharing(select(m, between_nodes,
                     [&](const pattern& a) {
                       return a.bytes >= min_shared_bytes && a.messages == 1 && !a.all_nodes &&
                              flows(a) > 1 &&
                              (a.what == pattern_kind::ping_pong || a.what == pattern_kind::exchange);
                     }),
              flows, p);
  return p;
}

// A network has a bandwidth in any case: at least that of the pairs that were measured.
void set_network(const machine_measurements& m, const path_fit& p, machine& made) {
  made.network = machine::topology::fat_tree;
  double link = p.total;
  if (link == unlimited) {
    link = p.bandwidth;
    for (const pattern_time& t : m.patterns)
      if (t.what.between_nodes && !t.what.all_nodes && t.what.what == pattern_kind::ping_pong)
        link = std::max(link, t.what.pairs * p.bandwidth);
  }
  made.levels.assign(1, {});
  made.levels[0].link = {p.latency / 2, link};
  made.between_nodes = p.with;
  if (p.bandwidth < 0.98 * link) made.between_nodes.message_bandwidth = p.bandwidth;
}

double local_speed(const machine_measurements& m, pattern_kind what) {
  std::vector<sample> all;
  for (const pattern_time& t : m.patterns)
    if (t.what.what == what) all.push_back({{static_cast<double>(t.what.bytes)}, t.seconds});
  const double per_byte = fit_line(all, 1)[0];
  return per_byte > 0 ? 1 / per_byte : unlimited;
}

}  // namespace

machine fit_machine(const machine_measurements& m) {
  machine made;
  made.ranks_per_node = m.job.ranks_per_node;
  if (m.job.ranks_per_node > 1) {
    const path_fit p = fit_path(m, false);
    made.within_node = p.with;
    made.within_socket = {p.latency, p.bandwidth, p.total};
    made.between_sockets = made.within_socket;
  }
  if (m.job.nodes() > 1) set_network(m, fit_path(m, true), made);
  made.copy_speed = local_speed(m, pattern_kind::copy);
  made.reduce_speed = local_speed(m, pattern_kind::reduce);
  return made;
}

std::vector<residual> residuals_of(const machine_measurements& m, const machine& fitted) {
  std::vector<residual> all;
  simulation::simulator simulator(fitted, m.job.ranks);
  for (const pattern_time& t : m.patterns)
    all.push_back({.what = text_of(t.what),
                   .between_nodes = t.what.between_nodes,
                   .is_local = t.what.is_local(),
                   .bytes = t.what.bytes,
                   .measured = t.seconds,
                   .predicted = simulator.run(call_of(t.what), choice_of(t.what, m.job)).seconds});
  for (const collective_time& t : m.collectives) {
    const pure_algorithm* const a = find_algorithm(t.what, t.algorithm);
    all.push_back({.what = std::string(a->name),
                   .is_collective = true,
                   .bytes = t.bytes,
                   .measured = t.seconds,
                   .predicted = simulator.run(t.call, choice(a)).seconds});
  }
  return all;
}

error_summary summarize(const std::vector<residual>& all, bool collectives) {
  error_summary s;
  int n = 0;
  for (const residual& r : all) {
    if (r.is_collective != collectives) continue;
    s.mean += std::abs(r.error());
    s.max = std::max(s.max, std::abs(r.error()));
    ++n;
  }
  if (n > 0) s.mean /= n;
  return s;
}

}  // namespace tutti::tuning
