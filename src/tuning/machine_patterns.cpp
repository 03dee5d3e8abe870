// SPDX-License-Identifier: Apache-2.0
#include "tuning/machine_patterns.hpp"

#include <algorithm>
#include <array>

#include "schedule/builder.hpp"

namespace tutti::tuning {
namespace {

using enum algorithm_parameter;

// The pairs as parameters of a schedule. Ranks below `leaders` form blocks of 2 * `region`; rank i
// of the first half of a block is paired with rank i of the second half, if i is below `radix`.
// Messages: `k`.
struct partner {
  int rank = -1;  // -1: this rank is idle
  bool first = false;
};
partner partner_of(const algorithm_parameter_values& values, int rank) {
  const auto of = [&](algorithm_parameter p) {
    return static_cast<int>(values[static_cast<std::size_t>(p)]);
  };
  const int distance = of(region), position = rank % (2 * distance);
  if (rank >= of(leaders) || position % distance >= of(radix)) return {};
  const bool first = position < distance;
  return {first ? rank + distance : rank - distance, first};
}

void send_all(builder& b, int to, int messages) {
  for (int i = 0; i < messages; ++i) b.send(to, whole(buffer::input));
}
void receive_all(builder& b, int from, int messages) {
  for (int i = 0; i < messages; ++i) b.recv(from, block(buffer::output, i));
}

void write_ping_pong(const shape& s, builder& b) {
  const partner p = partner_of(s.parameter_values, s.rank);
  if (p.rank < 0) return;
  if (p.first) b.send(p.rank, whole(buffer::input));
  b.round();
  b.recv(p.rank, whole(buffer::output));
  b.round();
  if (!p.first) b.send(p.rank, whole(buffer::input));
}

void write_exchange(const shape& s, builder& b) {
  const partner p = partner_of(s.parameter_values, s.rank);
  if (p.rank < 0) return;
  send_all(b, p.rank, s.of(k));
  receive_all(b, p.rank, s.of(k));
}

void write_burst(const shape& s, builder& b) {
  const partner p = partner_of(s.parameter_values, s.rank);
  if (p.rank < 0) return;
  if (p.first)
    send_all(b, p.rank, s.of(k));
  else
    receive_all(b, p.rank, s.of(k));
}

void write_stream(const shape& s, builder& b) {
  const partner p = partner_of(s.parameter_values, s.rank);
  if (p.rank < 0) return;
  write_burst(s, b);
  b.round();
  if (p.first)
    b.recv(p.rank, whole(buffer::output));
  else
    b.send(p.rank, whole(buffer::input));
}

void write_copy(const shape&, builder& b) { b.copy(whole(buffer::input), whole(buffer::output)); }
void write_reduce(const shape&, builder& b) {
  b.reduce(whole(buffer::input), whole(buffer::output), whole(buffer::output));
}

// Their calls are like those of an allreduce: input and output are vectors of the same length.
pure_algorithm algorithm_of(std::string_view name, void (*write)(const shape&, builder&)) {
  pure_algorithm a;
  a.name = name;
  a.what = collective::allreduce;
  a.write = write;
  return a;
}

struct kind_entry {
  std::string_view name;
  pure_algorithm algorithm;
};
const kind_entry& entry_of(pattern_kind what) {
  static const std::array<kind_entry, 6> all = {{
      {"ping-pong", algorithm_of("pattern/ping_pong", write_ping_pong)},
      {"exchange", algorithm_of("pattern/exchange", write_exchange)},
      {"stream", algorithm_of("pattern/stream", write_stream)},
      {"burst", algorithm_of("pattern/burst", write_burst)},
      {"copy", algorithm_of("pattern/copy", write_copy)},
      {"reduce", algorithm_of("pattern/reduce", write_reduce)},
  }};
  return all[static_cast<std::size_t>(what)];
}

void add_messages(std::vector<pattern>& all, const job_shape& job, bool between_nodes) {
  const auto add = [&](pattern_kind what, std::size_t bytes, int messages = 1, int pairs = 1) {
    pattern p{
        .what = what, .between_nodes = between_nodes, .messages = messages, .pairs = pairs, .bytes = bytes};
    all.push_back(p);
  };
  using enum pattern_kind;
  for (std::size_t bytes = 8; bytes <= std::size_t{2} << 20; bytes *= 4) add(ping_pong, bytes);
  for (const int messages : {4, 16}) add(stream, 8, messages);
  add(stream, 1024, 8);
  add(stream, 131072, 4);
  for (const int messages : {1, 4, 8}) add(exchange, 8, messages);
  for (const std::size_t bytes : {1024, 32768, 524288, 2097152}) add(exchange, bytes);
  const int max_pairs = between_nodes ? job.ranks_per_node : job.ranks_per_node / 2;
  for (int pairs = 2; pairs <= max_pairs;
       pairs = pairs < max_pairs ? std::min(2 * pairs, max_pairs) : pairs + 1) {
    for (const std::size_t bytes : {8, 32768, 524288}) add(ping_pong, bytes, 1, pairs);
    add(exchange, 524288, 1, pairs);
  }
}

}  // namespace

std::string_view name_of(pattern_kind what) noexcept { return entry_of(what).name; }

std::string text_of(const pattern& p) {
  std::string text(name_of(p.what));
  if (p.messages != 1) text += " of " + std::to_string(p.messages);
  if (p.pairs != 1) text += ", " + std::to_string(p.pairs) + " pairs";
  if (p.all_nodes) text += ", all nodes";
  return text;
}

choice choice_of(const pattern& p, const job_shape& job) {
  choice c;
  c.pure = &entry_of(p.what).algorithm;
  const auto set = [&](algorithm_parameter which, int value) {
    c.parameter_values[static_cast<std::size_t>(which)] = static_cast<std::uint32_t>(value);
  };
  set(k, p.messages);
  if (p.between_nodes) {
    const int block = 2 * job.ranks_per_node;
    set(region, job.ranks_per_node);
    set(radix, p.pairs);
    set(leaders, p.all_nodes ? job.ranks / block * block : block);
  } else {
    set(region, 1);
    set(radix, 1);
    set(leaders, 2 * p.pairs);
  }
  return c;
}

simulation::simulated_call call_of(const pattern& p) {
  simulation::simulated_call c;
  c.what = collective::allreduce;
  c.element_bytes = p.bytes % 8 == 0 ? 8 : 1;
  c.count = p.bytes / c.element_bytes;
  return c;
}

pattern_role role_of(const pattern& p, const job_shape& job, int rank) {
  if (p.is_local()) return {true, true};
  const partner other = partner_of(choice_of(p, job).parameter_values, rank);
  return {other.rank >= 0, other.first};
}

std::vector<pattern> patterns_of(const job_shape& job) {
  std::vector<pattern> all;
  if (job.ranks_per_node > 1) add_messages(all, job, false);
  if (job.nodes() > 1) add_messages(all, job, true);
  if (job.nodes() > 3)
    for (const std::size_t bytes : {32768, 524288})
      all.push_back({.what = pattern_kind::ping_pong,
                     .between_nodes = true,
                     .all_nodes = true,
                     .pairs = job.ranks_per_node,
                     .bytes = bytes});
  for (const pattern_kind what : {pattern_kind::copy, pattern_kind::reduce})
    for (const std::size_t bytes : {4096, 32768, 262144, 2097152})
      all.push_back({.what = what, .bytes = bytes});
  return all;
}

}  // namespace tutti::tuning
