// SPDX-License-Identifier: Apache-2.0
#include "simulation/event_run.hpp"

#include <algorithm>

namespace tutti::simulation {
namespace {

// Events whose times differ by less are simultaneous. It is far below any cost of a machine, and
// above the rounding errors of times that are equal on paper.
double precision_at(double now) noexcept { return 1e-16 + now * 1e-11; }

constexpr std::uint64_t progress_interval = 10'000;  // messages

constexpr std::uint64_t header_bytes = 16;  // of a put and of a signal

}  // namespace

void event_run::reset(const simulation_options& options, observer& o, double expected_messages) {
  observer_ = &o;
  recording_ = options.max_recorded != 0;
  must_record_ = options.must_record;
  max_recorded_ = options.max_recorded;
  progress_ = options.progress;
  expected_messages_ = expected_messages;
  next_report_ = 0;
  within_ = options.within;
  flows_.reset(network_.bandwidths());
  cores_.assign(static_cast<std::size_t>(network_.ranks()), {});
  runs_.clear();
  free_runs_.clear();
  messages_.clear();
  free_messages_.clear();
  queues_.clear();
  words_.clear();
  events_ = {};
  sequence_ = message_count_ = byte_count_ = 0;
  unfinished_ = 0;
  rounds_.clear();
  recorded_.clear();
}

std::uint32_t event_run::add(int rank, std::uint32_t context, rank_schedule&& s,
                             std::span<const int> members) {
  std::uint32_t number;
  if (free_runs_.empty()) {
    number = static_cast<std::uint32_t>(runs_.size());
    runs_.emplace_back();
  } else {
    number = free_runs_.back();
    free_runs_.pop_back();
  }
  run& r = runs_[number];
  r = run{};
  r.schedule = std::move(s);
  r.members = members;
  r.rank = rank;
  r.context = context;
  ++unfinished_;
  return number;
}

int event_run::member(const run& r, int peer) const {
  if (representatives_ != 0) return peer % (2 * representatives_);
  const auto size = static_cast<int>(r.members.size());
  if (peer < 0 || (size != 0 && peer >= size))
    throw not_simulated("its schedule names a rank that does not exist");
  return size == 0 ? peer : r.members[static_cast<std::size_t>(peer)];
}

void event_run::release(std::uint32_t number) {
  runs_[number].schedule = rank_schedule();
  free_runs_.push_back(number);
}

void event_run::begin(std::uint32_t number, double now, std::int32_t previous) {
  runs_[number].round = previous;
  advance(number, now);
}

double event_run::occupy(int rank, double now, double seconds) {
  core& c = cores_[at(rank)];
  c.free = std::max(c.free, now) + seconds;
  c.busy += seconds;
  return c.free;
}

double event_run::work_time(const local_work& w) const noexcept {
  return static_cast<double>(w.copied) / machine_.copy_speed +
         static_cast<double>(w.reduced) / machine_.reduce_speed;
}

std::int32_t event_run::record_work(int rank, double begin, double end, std::int32_t previous) {
  if (!recording_) return previous;
  rounds_.push_back({rank, cores_[at(rank)].rounds++, begin, begin, begin, end, previous, none});
  return static_cast<std::int32_t>(rounds_.size() - 1);
}

// Opens rounds until one must wait for another rank.
void event_run::advance(std::uint32_t number, double now) {
  for (;;) {
    run& r = runs_[number];
    const bool more = r.schedule.open(planned_);
    if (const double work = work_time(planned_.before); work > 0) {
      const double begin = std::max(now, free_at(r.rank));
      now = occupy(r.rank, begin, work);
      r.round = record_work(r.rank, begin, now, r.round);
    }
    if (!more) {
      r.complete = true;
      --unfinished_;
      observer_->complete(number, now);
      return;
    }
    r.open = r.posting = true;
    r.outstanding = 0;
    r.round_end = std::max(now, free_at(r.rank));
    r.cause = none;
    if (recording_) open_record(r, r.round_end);
    early_.clear();
    for (std::size_t i = planned_.sends; i < planned_.transfers.size(); ++i) {
      const planned_transfer& t = planned_.transfers[i];
      const std::uint32_t m = post_receive(number, member(r, t.peer), t, r.round_end);
      if (messages_[m].arrived) early_.push_back(m);
    }
    for (std::size_t i = 0; i < planned_.sends; ++i) post_sends(number, planned_.transfers[i]);
    if (planned_.sends != 0) r.round_end = std::max(r.round_end, free_at(r.rank));
    if (recording_) rounds_[static_cast<std::size_t>(r.round)].sent = r.round_end;
    if (early_.size() > 1)
      std::stable_sort(early_.begin(), early_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return messages_[a].arrival < messages_[b].arrival;
      });
    for (std::size_t i = 0; i < early_.size(); ++i) process(early_[i], r.round_end);
    r.posting = false;
    if (r.outstanding != 0) return;
    now = close_round(r);
  }
}

void event_run::stop_recording() {
  if (must_record_) throw too_many_messages();
  recording_ = false;
  rounds_ = {};
  recorded_ = {};
}

void event_run::open_record(run& r, double now) {
  rounds_.push_back({r.rank, cores_[at(r.rank)].rounds++, now, now, now, now, r.round, none});
  r.round = static_cast<std::int32_t>(rounds_.size() - 1);
}

// All transfers of the round are complete. Returns the end of its local steps.
double event_run::close_round(run& r) {
  r.open = false;
  const double end = occupy(r.rank, r.round_end, work_time(r.schedule.close()));
  if (recording_) {
    simulated_round& one = rounds_[static_cast<std::size_t>(r.round)];
    one.received = r.round_end;
    one.cause = r.cause;
    one.end = end;
  }
  return end;
}

std::uint32_t event_run::new_message() {
  if (free_messages_.empty()) {
    messages_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t m = free_messages_.back();
  free_messages_.pop_back();
  messages_[m] = message{};
  return m;
}

void event_run::post_sends(std::uint32_t number, const planned_transfer& t) {
  if (t.kind == step_kind::signal) return post_send(number, t, part::signal, header_bytes);
  if (t.kind == step_kind::put) post_send(number, t, part::put_header, header_bytes);
  post_send(number, t, t.kind == step_kind::put ? part::put_data : part::message, t.bytes);
}

void event_run::post_send(std::uint32_t number, const planned_transfer& t, part which, std::uint64_t bytes) {
  run& r = runs_[number];
  const int to = member(r, t.peer);
  if (to >= network_.ranks()) throw not_simulated("its schedule names a rank that does not exist");
  network_.find(r.rank, to, route_);
  const double ready = occupy(r.rank, r.round_end, route_.with->send_overhead);
  const std::uint64_t key = key_of(r, r.rank, to, t.peer);
  const auto posted = queues_.take(key, false);
  const std::uint32_t number_of_message = posted ? *posted : new_message();
  message& m = messages_[number_of_message];
  m.what = which;
  m.bytes = bytes;
  m.has_send = true;
  m.eager = bytes < route_.with->eager_limit;
  m.send_ready = ready;
  m.sender = number;
  m.from = r.rank;
  m.to = to;
  ++message_count_;
  byte_count_ += bytes;
  if (recording_ && recorded_.size() == max_recorded_) stop_recording();
  if (recording_) {
    m.record = static_cast<std::int32_t>(recorded_.size());
    recorded_.push_back({m.from, m.to, r.round, posted ? runs_[m.receiver].round : none, bytes, m.eager,
                         ready, m.receive_ready, 0, 0, 0});
  }
  if (t.carries_words) {
    const auto from = r.schedule.words().subspan(t.first_word, bytes / sizeof(std::uint64_t));
    words_[number_of_message].assign(from.begin(), from.end());
  }
  if (!m.eager) ++r.outstanding;
  if (!posted) queues_.append(key, true, number_of_message);
  start_if_ready(number_of_message);
}

std::uint32_t event_run::post_receive(std::uint32_t number, int from, const planned_transfer& t, double now) {
  run& r = runs_[number];
  // A message to another node goes to the second node; this rank receives in place of that one.
  const bool from_another = representatives_ != 0 && from >= representatives_;
  const int to = r.rank + (from_another ? representatives_ : 0);
  if (from_another) from -= representatives_;
  const std::uint64_t key = key_of(r, from, to, t.peer);
  const auto posted = queues_.take(key, true);
  const std::uint32_t number_of_message = posted ? *posted : new_message();
  message& m = messages_[number_of_message];
  m.has_receive = true;
  m.receive_ready = now;
  m.receiver = number;
  m.reduces = t.kind == step_kind::recv_reduce;
  m.awaits = t.kind == step_kind::await_signal;
  m.first_word = t.first_word;
  ++r.outstanding;
  if (!posted) {
    queues_.append(key, false, number_of_message);
    return number_of_message;
  }
  if (recording_) {
    recorded_[static_cast<std::size_t>(m.record)].received_in = r.round;
    recorded_[static_cast<std::size_t>(m.record)].receive_ready = now;
  }
  if (!m.eager) start_if_ready(number_of_message);
  return number_of_message;
}

void event_run::start_if_ready(std::uint32_t number) {
  const message& m = messages_[number];
  if (!m.eager && !(m.has_send && m.has_receive)) return;
  network_.find(m.from, m.to, route_);
  double time = m.send_ready;
  if (!m.eager) time = std::max(time, m.receive_ready) + route_.with->handshake;
  events_.push({time + route_.latency, ++sequence_, what::begin_flow, number});
}

// The last byte of a message has arrived.
void event_run::arrive(std::uint32_t number, double now) {
  message& m = messages_[number];
  m.arrival = now;
  const bool eager = m.eager;
  const std::uint32_t sender = m.sender;
  const std::int32_t record = m.record;
  if (recording_) recorded_[static_cast<std::size_t>(record)].arrival = now;
  if (m.has_receive)
    process(number, now);
  else
    m.arrived = true;
  if (!eager) transfer_done(sender, now, record);
}

// The receiver takes a message that has arrived.
void event_run::process(std::uint32_t number, double now) {
  const message m = messages_[number];
  run& r = runs_[m.receiver];
  const protocol& p = network_.protocol_between(m.from, m.to);
  double cost = m.eager ? p.receive_overhead : p.rendezvous_overhead;
  if (m.reduces) cost += static_cast<double>(m.bytes) / machine_.reduce_speed;
  const double begin = std::max(now, free_at(r.rank)), end = occupy(r.rank, begin, cost);
  if (recording_) {
    simulated_message& one = recorded_[static_cast<std::size_t>(m.record)];
    one.process_begin = begin;
    one.process_end = end;
  }
  if (const auto carried = words_.find(number); carried != words_.end()) {
    const auto words = r.schedule.words();
    for (std::size_t i = 0; i < carried->second.size() && m.first_word + i < words.size(); ++i)
      words[m.first_word + i] = carried->second[i];
    words_.erase(carried);
  }
  messages_[number].arrived = false;
  free_messages_.push_back(number);
  if (m.awaits && m.what != part::signal) {  // a part of a put: the next one follows
    --r.outstanding;
    const std::uint32_t next = post_receive(m.receiver, m.from, {.kind = step_kind::await_signal}, end);
    if (messages_[next].arrived) process(next, end);
    return;
  }
  transfer_done(m.receiver, end, m.record);
}

void event_run::transfer_done(std::uint32_t number, double now, std::int32_t record) {
  run& r = runs_[number];
  --r.outstanding;
  if (now >= r.round_end) {
    r.round_end = now;
    r.cause = record;
  }
  if (r.outstanding == 0 && !r.posting) advance(number, close_round(r));
}

void event_run::execute() {
  for (;;) {
    const double now = std::min(events_.empty() ? unlimited : events_.top().time, flows_.next_end());
    if (!(now < unlimited)) break;
    if (now > within_.seconds) throw too_slow();
    if (message_count_ > within_.messages || flows_.computed() > within_.rates) throw too_laborious();
    const double precision = precision_at(now);
    for (;;) {
      bool any = false;
      while (!events_.empty() && events_.top().time <= now + precision) {
        const event e = events_.top();
        events_.pop();
        any = true;
        if (e.kind == what::resume) {
          observer_->resume(static_cast<int>(e.number), now);
          continue;
        }
        const message& m = messages_[e.number];
        network_.find(m.from, m.to, route_);
        flows_.begin(route_, static_cast<double>(m.bytes + route_.with->envelope), e.number, now);
      }
      ended_.clear();
      flows_.end(now, precision, ended_);
      for (std::size_t i = 0; i < ended_.size(); ++i) arrive(ended_[i], now);
      if (!any && ended_.empty()) break;
    }
    flows_.share(now);
    if (progress_ && message_count_ >= next_report_) {
      progress_({static_cast<double>(message_count_), expected_messages_});
      next_report_ = message_count_ + progress_interval;
    }
  }
  if (unfinished_ != 0) report_deadlock();
}

void event_run::report_deadlock() const {
  for (const run& r : runs_)
    if (!r.complete && r.open)
      throw not_simulated("its schedules wait for one another: rank " + std::to_string(r.rank) +
                          " cannot end a round (tutti check finds the fault)");
  throw not_simulated("its schedules wait for one another (tutti check finds the fault)");
}

}  // namespace tutti::simulation
