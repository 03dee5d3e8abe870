// SPDX-License-Identifier: Apache-2.0
//
// The search. A process of a state is run up to its next operation, by a replay of the results so
// far.
//
// Longer than a file should be: the states, the steps from them and the replay are one machine
#include <algorithm>
#include <unordered_set>

#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model {
namespace {

struct suspended {};
struct broken {
  std::string what;
};

struct piece {
  std::uint32_t at;
  std::vector<std::byte> bytes;
  bool overlaps(std::uint32_t other, std::size_t n) const noexcept {
    return at < other + n && other < at + bytes.size();
  }
};
struct buffered_store {
  std::vector<piece> pieces;
  store_kind kind;
};

enum class action : std::uint8_t {
  load,
  remote_load,
  drain,
  exchange,
  wake,
  sleep,
  barrier,
  locked,
  poll,
  none
};
struct operation {
  action what = action::none;
  std::uint32_t at = 0, bytes = 0, value = 0;
  bool may_fail = false;  // of a remote load
  bool plain = false;     // of a load
};

struct process_state {
  std::vector<std::byte> results;
  std::uint32_t stores = 0;  // issued so far
  std::vector<buffered_store> buffer;
  operation pending;
  std::uint32_t barrier_stage = 0;
  bool asleep = false, finished = false;
};
struct machine {
  std::vector<std::byte> memory;
  std::vector<process_state> processes;
};

// The process that runs, and how far its replay is.
struct replay {
  machine* all = nullptr;
  process_state* process = nullptr;
  const scenario* of = nullptr;
  std::size_t cursor = 0;
  std::uint32_t stores = 0;
  std::size_t poll_cursor = 0;
  std::uint32_t poll_stores = 0;
  std::vector<delayed_read> delayed;
  bool joins = false;  // loads are part of the operation that was made last
  bool has_lock = false;
};
replay now;
machine* initial = nullptr;  // during scenario::prepare

std::uint32_t offset_of(const void* at) {
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(at) - shared);
}

// Reads as the process does: from its buffered stores, and from memory where it has none.
void read_as(const machine& m, const process_state& p, std::uint32_t at, std::size_t bytes, std::byte* to) {
  if (bytes != 0) std::memcpy(to, m.memory.data() + at, bytes);
  for (const buffered_store& s : p.buffer)
    for (const piece& one : s.pieces)
      for (std::size_t i = 0; i < one.bytes.size(); ++i)
        if (one.at + i >= at && one.at + i < at + bytes) to[one.at + i - at] = one.bytes[i];
}

// Whether this process alone writes what it loads. Then the load commutes with all steps of others,
// and need not be an operation.
bool is_own(const operation& o) {
  const std::vector<int>& writers = now.of->writers;
  const int me = static_cast<int>(now.process - now.all->processes.data());
  for (std::size_t line = o.at / 64; line <= (o.at + o.bytes - 1) / 64; ++line)
    if (line >= writers.size() || writers[line] != me) return false;
  return true;
}

bool needs_no_step(const operation& o) {
  const options& h = now.of->how;
  if (o.what != action::load) return false;
  return now.joins && (h.joined || (h.plain_loads_join && o.plain)) ? true : is_own(o);
}

// Replays the result of an operation, or stops the process there.
void perform(const operation& o, void* to, std::size_t bytes) {
  process_state& p = *now.process;
  if (now.cursor == p.results.size()) {
    if (!needs_no_step(o)) {
      p.pending = o;
      throw suspended{};
    }
    p.results.resize(now.cursor + bytes);
    read_as(*now.all, p, o.at, o.bytes, p.results.data() + now.cursor);
  }
  if (bytes != 0) std::memcpy(to, p.results.data() + now.cursor, bytes);
  now.cursor += bytes;
}
// An operation without a result has a result of one byte, which marks it as complete.
void perform(const operation& o) {
  std::byte mark;
  perform(o, &mark, 1);
}

void make_visible(std::vector<std::byte>& memory, const buffered_store& s) {
  for (const piece& one : s.pieces)
    if (!one.bytes.empty()) std::memcpy(memory.data() + one.at, one.bytes.data(), one.bytes.size());
}

void run(const scenario& s, machine& m, std::size_t i) {
  process_state& p = m.processes[i];
  const bool joins = p.pending.what == action::load || p.pending.what == action::remote_load;
  const bool has_lock = p.pending.what == action::locked;
  p.pending = {};
  now = {&m, &p, &s, 0, 0, 0, 0, {}, joins, has_lock};
  try {
    s.processes[i]();
    p.finished = true;
  } catch (const suspended&) {
  }
}

bool poll_succeeds(const scenario& s, const machine& m, std::size_t i);

bool is_enabled(const scenario& s, const machine& m, std::size_t i) {
  const process_state& p = m.processes[i];
  if (p.finished || p.asleep) return false;
  switch (p.pending.what) {
    case action::load:
    case action::remote_load:
      return p.buffer.empty() || !s.how.prompt;
    case action::wake:
      return true;
    case action::poll:
      return (p.buffer.empty() || !s.how.prompt) && poll_succeeds(s, m, i);
    // The system call begins with a barrier of its own processor.
    case action::barrier:
      return p.buffer.empty() && m.processes[p.barrier_stage].buffer.empty();
    default:
      return p.buffer.empty();
  }
}

void push_result(process_state& p, const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  p.results.insert(p.results.end(), first, first + bytes);
}

// Makes the pending operation of process i, or lets it fail. Returns the processes that continue.
std::vector<std::size_t> execute(machine& m, std::size_t i, bool fails = false) {
  process_state& p = m.processes[i];
  const operation o = p.pending;
  constexpr std::byte mark{1};
  std::byte seen[128];
  std::uint32_t word;
  switch (o.what) {
    case action::load:
      read_as(m, p, o.at, o.bytes, seen);
      push_result(p, seen, o.bytes);
      break;
    case action::remote_load:
      p.results.push_back(std::byte{!fails});
      push_result(p, m.memory.data() + o.at, o.bytes);
      break;
    case action::exchange:
      push_result(p, m.memory.data() + o.at, sizeof word);
      std::memcpy(m.memory.data() + o.at, &o.value, sizeof word);
      break;
    case action::poll:    // the process tries again
    case action::locked:  // the process makes the operation
      break;
    case action::sleep:
      std::memcpy(&word, m.memory.data() + o.at, sizeof word);
      if (word == o.value) {
        p.asleep = true;
        return {};
      }
      push_result(p, &mark, 1);
      break;
    case action::wake: {
      std::vector<std::size_t> woken{i};
      push_result(p, &mark, 1);
      for (std::size_t k = 0; k < m.processes.size(); ++k)
        if (process_state& q = m.processes[k]; q.asleep && q.pending.at == o.at) {
          q.asleep = false;
          push_result(q, &mark, 1);
          woken.push_back(k);
        }
      return woken;
    }
    case action::barrier:
      if (++p.barrier_stage < m.processes.size()) return {};
      p.barrier_stage = 0;
      push_result(p, &mark, 1);
      break;
    default:
      push_result(p, &mark, 1);
  }
  return {i};
}

// Returns whether the process would continue if the memory did not change during its next attempt.
// An attempt begins at begin_poll(), whose results poll() has removed.
bool poll_succeeds(const scenario& s, const machine& m, std::size_t i) {
  machine attempt = m;
  process_state& p = attempt.processes[i];
  const std::uint32_t stores = p.stores;
  for (run(s, attempt, i); p.pending.what == action::load; run(s, attempt, i)) execute(attempt, i);
  return p.finished || p.pending.what != action::poll || p.stores != stores;
}

bool may_flush(const process_state& p, std::size_t k, bool tso) {
  if (k == 0) return true;
  const buffered_store& s = p.buffer[k];
  if (tso || s.kind == store_kind::release) return false;
  for (std::size_t e = 0; e < k; ++e)
    for (const piece& earlier : p.buffer[e].pieces)
      for (const piece& one : s.pieces)
        if (earlier.overlaps(one.at, one.bytes.size())) return false;
  return true;
}

class hasher {
 public:
  void add(const void* from, std::size_t bytes) noexcept {
    const auto* at = static_cast<const std::byte*>(from);
    for (; bytes >= 8; bytes -= 8, at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      mix(word);
    }
    std::uint64_t rest = bytes;
    if (bytes != 0) std::memcpy(&rest, at, bytes);
    mix(rest ^ bytes << 56);
  }
  void mix(std::uint64_t word) noexcept {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

std::uint64_t hash_of(const machine& m) {
  hasher h;
  h.add(m.memory.data(), m.memory.size());
  for (const process_state& p : m.processes) {
    h.mix(p.results.size());
    h.add(p.results.data(), p.results.size());
    h.mix(p.stores | std::uint64_t{p.barrier_stage} << 32 | std::uint64_t{p.asleep} << 40 |
          std::uint64_t{p.pending.what == action::poll} << 41);
    for (const buffered_store& s : p.buffer) {
      h.mix(s.pieces.size() << 2 | static_cast<std::uint64_t>(s.kind));
      for (const piece& one : s.pieces) {
        h.mix(one.at);
        h.add(one.bytes.data(), one.bytes.size());
      }
    }
  }
  return h.value();
}

class searcher {
 public:
  searcher(const scenario& s, std::size_t max_states) : scenario_(s), max_states_(max_states) {}

  result go() {
    machine m;
    m.memory.resize(scenario_.memory_bytes);
    m.processes.resize(scenario_.processes.size());
    if (scenario_.prepare) {
      initial = &m;
      scenario_.prepare();
      initial = nullptr;
    }
    try {
      for (std::size_t i = 0; i < m.processes.size(); ++i) run(scenario_, m, i);
      add(std::move(m));
      while (!open_.empty()) {
        const machine next = std::move(open_.back());
        open_.pop_back();
        expand(next);
      }
    } catch (const broken& b) {
      return {b.what, seen_.size()};
    }
    return {{}, seen_.size()};
  }

 private:
  void add(machine&& m) {
    if (!seen_.insert(hash_of(m)).second) return;
    if (seen_.size() > max_states_) throw broken{"there are too many states"};
    open_.push_back(std::move(m));
  }
  void expand(const machine& m) {
    bool moved = false, finished = true;
    for (std::size_t i = 0; i < m.processes.size(); ++i) {
      const process_state& p = m.processes[i];
      finished = finished && p.finished;
      if (is_enabled(scenario_, m, i)) {
        moved = true;
        for (int fails = 0; fails <= (p.pending.may_fail ? 1 : 0); ++fails) {
          machine next = m;
          for (const std::size_t k : execute(next, i, fails != 0)) run(scenario_, next, k);
          add(std::move(next));
        }
      }
      for (std::size_t k = 0; k < p.buffer.size(); ++k) {
        if (!may_flush(p, k, scenario_.how.tso)) continue;
        moved = true;
        machine next = m;
        std::vector<buffered_store>& buffer = next.processes[i].buffer;
        store_kind visible;
        do {
          visible = buffer[k].kind;
          make_visible(next.memory, buffer[k]);
          buffer.erase(buffer.begin() + static_cast<std::ptrdiff_t>(k));
        } while (scenario_.how.joined && k == 0 && visible == store_kind::plain && !buffer.empty());
        add(std::move(next));
      }
    }
    if (!moved && !finished) throw broken{"deadlock"};
    if (!moved && scenario_.at_end) scenario_.at_end(m.memory.data());
  }

  const scenario& scenario_;
  std::size_t max_states_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<machine> open_;
};

}  // namespace

result search(const scenario& s, std::size_t max_states) { return searcher(s, max_states).go(); }

void require(bool condition, const char* what) {
  if (!condition) throw broken{what};
}

void load(void* to, const void* at, std::size_t bytes, bool plain) {
  perform({action::load, offset_of(at), static_cast<std::uint32_t>(bytes), 0, false, plain}, to, bytes);
}
bool remote_load(void* to, const void* at, std::size_t bytes, bool may_fail) {
  require(is_shared(at), "an address is not valid");
  std::vector<std::byte> result(1 + bytes);
  perform({action::remote_load, offset_of(at), static_cast<std::uint32_t>(bytes), 0, may_fail}, result.data(),
          result.size());
  if (result[0] == std::byte{0}) return false;
  std::memcpy(to, result.data() + 1, bytes);
  return true;
}
void store(void* at, const void* from, std::size_t bytes, store_kind kind) {
  const auto* first = static_cast<const std::byte*>(from);
  piece one{offset_of(at), {first, first + bytes}};
  if (initial != nullptr) return make_visible(initial->memory, {{one}, kind});
  if (now.stores++ < now.process->stores) return;
  ++now.process->stores;
  now.joins = false;
  std::vector<buffered_store>& buffer = now.process->buffer;
  // Plain stores to one cache line become visible together. A receiver reads them only after a
  // release store.
  if (kind == store_kind::plain && !buffer.empty() && buffer.back().kind == kind &&
      buffer.back().pieces.back().at / 64 == one.at / 64) {
    buffer.back().pieces.push_back(std::move(one));
  } else {
    buffer.push_back({{std::move(one)}, kind});
  }
}
void begin_poll() {
  now.poll_cursor = now.cursor;
  now.poll_stores = now.stores;
}
void poll() {
  process_state& p = *now.process;
  if (now.stores != now.poll_stores || now.cursor != p.results.size()) return;
  p.results.resize(now.poll_cursor);
  p.pending = {action::poll};
  throw suspended{};
}
void drain() { perform({action::drain}); }
std::uint32_t exchange(const void* at, std::uint32_t value) {
  std::uint32_t old;
  perform({action::exchange, offset_of(at), 4, value}, &old, sizeof old);
  return old;
}
void wake_sleeper(const void* at) { perform({action::wake, offset_of(at), 4, 0}); }
void sleep_on(const void* at, std::uint32_t value) { perform({action::sleep, offset_of(at), 4, value}); }
std::uint64_t locked(const std::function<std::uint64_t()>& operation) {
  if (now.cursor == now.process->results.size() && std::exchange(now.has_lock, false)) {
    std::vector<std::byte>& memory = now.all->memory;
    std::memcpy(shared, memory.data(), memory.size());
    const std::uint64_t made = operation();
    std::memcpy(memory.data(), shared, memory.size());
    push_result(*now.process, &made, sizeof made);
  }
  std::uint64_t result;
  perform({action::locked}, &result, sizeof result);
  return result;
}
void barrier() { perform({action::barrier}); }
const options& how() noexcept { return now.of->how; }
std::vector<delayed_read>& delayed_reads() noexcept { return now.delayed; }

}  // namespace tutti::shm::model
