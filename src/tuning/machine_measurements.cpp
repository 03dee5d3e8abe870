// SPDX-License-Identifier: Apache-2.0
#include "tuning/machine_measurements.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <thread>

#include <unistd.h>

#include "base/compute/kernels.hpp"
#include "runtime/executor/executor.hpp"
#include "tuning/measure.hpp"
#include "tuning/measured_call.hpp"

namespace tutti::tuning {
namespace {

constexpr std::size_t loop_limit_bytes = 4096;
constexpr std::size_t max_eager_bytes = std::size_t{4} << 20;
constexpr int eager_trials = 5, burst_groups = 5;
constexpr int burst_messages[] = {1, 2, 4, 6};

double now() { return seconds(clock::now().time_since_epoch()).count(); }

// Identifies the computer whose clock and cores a rank uses, in 52 bits. Containers of one computer
// share both.
double host_number() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  if (id.empty()) {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    id = name;
  }
  return static_cast<double>(std::hash<std::string>()(id) >> 12);
}

// The ranks as measure.hpp sees them. Ranks that a pattern leaves idle do not count in its span.
class measuring_ranks {
 public:
  explicit measuring_ranks(benchmark_fixture& fixture) : fixture_(fixture) {}

  int rank() const { return fixture_.rank(); }
  int size() const { return fixture_.size(); }
  void barrier() { fixture_.barrier(); }
  double max(double mine) { return fixture_.max(mine); }
  double span(double start, double end) {
    constexpr double none = std::numeric_limits<double>::lowest();
    if (!common_clock_) return max(active ? end - start : none);
    return max(active ? end : none) + max(active ? -start : none);
  }

  // Sets the ranks and cores of the computer with the most ranks for each core.
  void find_hosts(measured_machine& m) {
    const double mine = host_number();
    int here = 0;
    for (int r = 0; r < size(); ++r) here += max(r == rank() ? mine : 0) == mine ? 1 : 0;
    // mpirun may bind this process to one core
    const auto cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    const double load = static_cast<double>(here) / cores, worst = max(load);
    m.ranks_of_host = static_cast<int>(max(load == worst ? here : 0));
    m.cores_of_host = static_cast<int>(max(load == worst ? cores : 0));
    common_clock_ = max(here == size() ? 0 : 1) == 0;
  }

  bool active = true;

 private:
  benchmark_fixture& fixture_;
  bool common_clock_ = true;
};

// The communicator of all patterns.
struct pattern_communicator {
  std::unique_ptr<context> where;
  links peers;
  std::uint32_t calls = 0;  // the same on all ranks

  explicit pattern_communicator(std::unique_ptr<context> c) : where(std::move(c)), peers(*where) {}
};

// A pattern with its buffers.
class bound_pattern {
 public:
  bound_pattern(pattern_communicator& on, const pattern& p, const job_shape& job, int rank)
      : on_(on),
        role_(role_of(p, job, rank)),
        bound_(name_of(p.what).data(), written(p, job, rank), *on.where, on.peers) {
    const simulation::simulated_call shape = tuning::call_of(p);
    const std::size_t words = (p.bytes + sizeof(double) - 1) / sizeof(double);
    in_.assign(std::max<std::size_t>(1, words), 1);
    out_.assign(in_.size() * static_cast<std::size_t>(p.messages), 1);
    call_.what = shape.what;
    call_.type = shape.element_bytes == sizeof(double) ? element_of<double>() : element_of<std::byte>();
    call_.count = shape.count;
    call_.op = {compute::kernel(builtin_op::sum, element_kind::f64), nullptr, builtin_op::sum, true, {}};
    call_.input = in_.data();
    call_.output = out_.data();
  }

  const pattern_role& role() const { return role_; }
  void operator()() {
    run_.begin(bound_, call_, on_.calls++ & 0xffffff);
    run_.advance(true);
  }

  // the hooks of measure.hpp
  void touch() {
    for (std::size_t i = 0; i < in_.size(); i += measured_call::line) in_[i] += 1;
  }
  void read() const {
    double sum = 0;
    for (std::size_t i = 0; i < out_.size(); i += measured_call::line) sum += out_[i];
    do_not_optimize(sum);
  }
  void touch(std::size_t round) { in_[round * measured_call::line % in_.size()] += 1; }
  void read(std::size_t round) const { do_not_optimize(out_[round * measured_call::line % out_.size()]); }

 private:
  static schedule written(const pattern& p, const job_shape& job, int rank) {
    const choice c = choice_of(p, job);
    shape s;
    s.what = c.pure->what;
    s.size = job.ranks;
    s.rank = rank;
    s.parameter_values = c.parameter_values;
    builder b;
    c.pure->write(s, b);
    return b.finish();
  }

  pattern_communicator& on_;
  pattern_role role_;
  bound_schedule bound_;
  schedule_run run_;
  call call_;
  std::vector<double> in_, out_;
};

class machine_campaign {
 public:
  machine_campaign(benchmark_fixture& fixture, const job_shape& job, double seconds, const progress& report)
      : fixture_(fixture),
        ranks_(fixture),
        messages_(fixture.open()),
        job_(job),
        budget_(seconds),
        report_progress_(report) {
    result_.times.job = job;
  }

  measured_machine run(const hosts_known& known) {
    ranks_.find_hosts(result_);
    if (ranks_.rank() == 0) known(result_);
    for (const pattern& p : patterns_of(job_)) result_.times.patterns.push_back({p, unmeasured});
    add_collectives();
    if (job_.ranks_per_node > 1) result_.times.within_node = measure_path(false);
    if (job_.nodes() > 1) result_.times.between_nodes = measure_path(true);
    measure_rounds();
    if (!spreads_.empty()) result_.spread = median(spreads_);
    ranks_.barrier();  // no rank may destroy a communicator while another one uses it
    return std::move(result_);
  }

 private:
  static constexpr double unmeasured = std::numeric_limits<double>::infinity();

  // The maximum over the ranks, because all of them must decide alike.
  double since_start() { return ranks_.max(seconds(clock::now() - start_).count()); }
  void report(const std::string& what) {
    if (ranks_.rank() == 0)
      report_progress_(what, std::min(1.0, seconds(clock::now() - start_).count() / budget_));
  }

  void add_collectives() {
    const std::pair<collective, const char*> algorithms[] = {{collective::bcast, "knomial"},
                                                             {collective::allreduce, "recursive_doubling"},
                                                             {collective::alltoall, "pairwise"}};
    for (const auto& [what, algorithm] : algorithms)
      for (const std::size_t bytes : {8, 1024, 32768, 1048576}) {
        const measured_call sized(what, bytes, ranks_.rank(), ranks_.size(), false);
        simulation::simulated_call c;
        c.what = what;
        c.count = sized.call().count;
        c.element_bytes = sized.call().type.size;
        result_.times.collectives.push_back({what, algorithm, c, bytes, unmeasured});
      }
  }

  // --- the eager limit and the overheads

  // The receiver comes late by this time. With more ranks than cores it must leave its core.
  void delay(double seconds_to_wait) const {
    if (result_.oversubscribed()) {
      std::this_thread::sleep_for(seconds(seconds_to_wait));
      return;
    }
    for (const double end = now() + seconds_to_wait; now() < end;) {
    }
  }

  struct late_times {
    double send = 0, receive = 0;  // medians
  };
  // The time of a burst on its sender, and on its receiver, which begins late. `meet` brings both
  // together before each burst.
  template <class Meet>
  late_times measure_late(const pattern& p, double late, int trials, Meet&& meet) {
    bound_pattern one(messages_, p, job_, ranks_.rank());
    std::vector<double> send, receive;
    for (int trial = 0; trial <= trials; ++trial) {
      meet();
      if (one.role().active && !one.role().first) delay(late);
      const double begin = now();
      one();
      const double time = one.role().active ? now() - begin : 0;
      if (trial == 0) continue;  // warm-up
      send.push_back(one.role().first ? time : 0);
      receive.push_back(one.role().first ? 0 : time);
    }
    late_times t{ranks_.max(median(send)), ranks_.max(median(receive))};
    ++result_.measurements;
    return t;
  }

  bool is_eager(bool between_nodes, std::size_t bytes) {
    const pattern p{.what = pattern_kind::burst, .between_nodes = between_nodes, .bytes = bytes};
    // Longer than the transfer takes: at 1 GB/s the longest message takes 4 ms.
    const double late = (result_.oversubscribed() ? 20e-3 : 2e-3) + 1e-9 * 4 * static_cast<double>(bytes);
    return measure_late(p, late, eager_trials, [&] { ranks_.barrier(); }).send < late / 2;
  }

  // The first length that is not eager, by bisection in steps of 8 bytes.
  std::uint64_t find_eager_limit(bool between_nodes) {
    std::size_t eager = 0, waits = 8;
    for (; waits <= max_eager_bytes; waits *= 4) {
      if (!is_eager(between_nodes, waits)) break;
      eager = waits;
    }
    if (waits > max_eager_bytes) return waits;
    while (waits - eager > 8) {
      const std::size_t middle = (eager + waits) / 2 / 8 * 8;
      (is_eager(between_nodes, middle) ? eager : waits) = middle;
    }
    return waits;
  }

  path_measurements measure_path(bool between_nodes) {
    path_measurements m;
    report(between_nodes ? "eager limit between nodes" : "eager limit within a node");
    m.eager_limit = find_eager_limit(between_nodes);
    // In a loop, because the first message after a pause is slower. So no barrier comes between.
    bound_pattern meet(messages_, {.what = pattern_kind::exchange, .between_nodes = between_nodes}, job_,
                       ranks_.rank());
    const double late = result_.oversubscribed() ? 5e-3 : between_nodes ? 200e-6 : 20e-6;
    for (const int messages : burst_messages) {
      const pattern p{.what = pattern_kind::burst, .between_nodes = between_nodes, .messages = messages};
      burst_time best{messages, unmeasured, unmeasured};
      for (int group = 0; group < burst_groups; ++group) {
        const late_times t = measure_late(p, late, result_.oversubscribed() ? 5 : 200, meet);
        best = {messages, std::min(best.send, t.send), std::min(best.receive, t.receive)};
      }
      m.bursts.push_back(best);
    }
    return m;
  }

  // --- patterns and collectives

  void keep(double& best, const measurement& m) {
    best = std::min(best, m.us * 1e-6);
    spreads_.push_back(m.noise);
    ++result_.measurements;
  }

  static mode mode_for(std::size_t bytes) { return bytes < loop_limit_bytes ? mode::loop : mode::single; }

  void measure_pattern(pattern_time& t, double budget_ms) {
    bound_pattern one(messages_, t.what, job_, ranks_.rank());
    ranks_.active = one.role().active;
    keep(t.seconds, measure(ranks_, mode_for(t.what.bytes), budget_ms, one, one));
    ranks_.active = true;
  }

  void measure_collective(collective_time& t, double budget_ms) {
    measured_call work(t.what, t.bytes, ranks_.rank(), ranks_.size(), false);
    detail::communicator_handle& where = communicators_[t.what];
    if (!where) where = fixture_.communicator(t.what, t.algorithm, "");
    const std::size_t bytes = work.call().count * work.call().type.size;
    keep(t.seconds,
         measure(
             ranks_, mode_for(bytes), budget_ms, [&] { detail::run_call(*where, work.call()); }, work));
  }

  // Each round measures everything once, so that a disturbance hits one round only.
  void measure_rounds() {
    constexpr int max_rounds = 5;
    std::vector<pattern_time>& patterns = result_.times.patterns;
    std::vector<collective_time>& collectives = result_.times.collectives;
    const auto count = static_cast<double>(patterns.size() + collectives.size());
    // A measurement takes about twice its budget: it first finds the length of its loop.
    const double budget_ms = std::clamp((budget_ - since_start()) * 1e3 / count / 2 / 3, 1.0, 60.0);
    double last = 0;
    for (int round = 0; round < max_rounds; ++round) {
      const double begin = since_start();
      if (round > 0 && begin + last > budget_) break;
      for (pattern_time& t : patterns) {
        report(text_of(t.what));
        measure_pattern(t, budget_ms);
      }
      for (collective_time& t : collectives) {
        report(t.algorithm);
        measure_collective(t, budget_ms);
      }
      last = since_start() - begin;
    }
  }

  benchmark_fixture& fixture_;
  measuring_ranks ranks_;
  pattern_communicator messages_;
  job_shape job_;
  double budget_;
  const progress& report_progress_;
  clock::time_point start_ = clock::now();
  measured_machine result_;
  std::map<collective, detail::communicator_handle> communicators_;
  std::vector<double> spreads_;
};

}  // namespace

std::string why_no_machine(const endpoint& ep) {
  const hierarchy& all = ep.topology();
  const int level = ep.node_level(), each = all.ranks_per_node(level);
  if (each == 0) return "the nodes have different numbers of ranks; start the same number on each node";
  for (int r = 0; r < ep.size(); ++r)
    if (all.node_of(r, level) != r / each)
      return "the ranks of a node are not consecutive; start them node by node (mpirun --map-by slot)";
  return "";
}

measured_machine measure_machine(benchmark_fixture& fixture, endpoint& ep, double seconds,
                                 const hosts_known& known, const progress& report) {
  const job_shape job{ep.size(), ep.topology().ranks_per_node(ep.node_level())};
  return machine_campaign(fixture, job, seconds, report).run(known);
}

}  // namespace tutti::tuning
