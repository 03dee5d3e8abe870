// SPDX-License-Identifier: Apache-2.0
//
// The interface through which an algorithm writes its schedule: rounds of transfers, loops, local
// steps.
#pragma once

#include <algorithm>
#include <utility>

#include "schedule/schedule.hpp"
#include "schedule/shape.hpp"

// Algorithms and the parts that they share see the names of this module.
namespace tutti::algorithms {
using namespace tutti::detail;
}
namespace tutti::parts {
using namespace tutti::detail;
}

namespace tutti::detail {

// --- places
constexpr place blocks(buffer b, index first, int n, partition t = partition::uniform) {
  place p;
  p.where = b;
  p.how = t;
  p.blocks = n;
  p.first = first;
  return p;
}
constexpr place blocks(buffer b, int first, int n, partition t = partition::uniform) {
  return blocks(b, index{first}, n, t);
}
constexpr place block(buffer b, index i, partition t = partition::uniform) { return blocks(b, i, 1, t); }
constexpr place block(buffer b, int i, partition t = partition::uniform) { return blocks(b, index{i}, 1, t); }
constexpr place whole(buffer b) { return block(b, 0); }
/// Places the blocks at the beginning of their buffer, not at the offset that the partition states.
constexpr place packed(place p) {
  p.packed = true;
  return p;
}
/// The block with index permutation(i) (builder::permute).
constexpr place permuted(buffer b, index i, partition t = partition::uniform) {
  place p = block(b, i, t);
  p.permuted = true;
  return p;
}
/// `n` blocks without gaps, of words[first], words[first + 1] ... elements. Block `origin` begins
/// at the start of the buffer.
constexpr place dense(buffer b, index first, int n = 1, int origin = 0) {
  place p = blocks(b, first, n, partition::dense);
  p.origin = origin;
  return p;
}
constexpr place dense(buffer b, int first, int n = 1, int origin = 0) {
  return dense(b, index{first}, n, origin);
}
constexpr place word(index i) { return block(buffer::words, i); }
constexpr place word(int i) { return block(buffer::words, i); }
constexpr place words(int first, int n) { return blocks(buffer::words, first, n); }
/// The partition into all ranks' blocks in the operand of a reduce_scatter(_block).
/// result_partition is the same for the result of an allgather(v) or gather(v). Files that write
/// the regular form and the vector form use both.
constexpr partition operand_partition(const shape& s) {
  return s.what == collective::reduce_scatter_block ? partition::uniform : partition::input_counts;
}
constexpr partition result_partition(const shape& s) {
  return is_vector_form(s.what) ? partition::output_counts : partition::uniform;
}
constexpr place segment(place p, index s) {
  p.segmented = true;
  p.segment = s;
  return p;
}

/// Piece number s of n nearly equal pieces. If n does not divide the length, the first pieces are
/// one element longer.
constexpr place piece(place p, index s, int n) {
  p.pieces = n;
  return segment(p, s);
}

// --- indices in loops
/// base + inner * (innermost counter). If `modulus` is not 0, the index is reduced modulo it.
constexpr index at(int base, int inner = 0, int modulus = 0) { return {base, 0, inner, modulus}; }
constexpr index at_outer(int base, int outer, int modulus = 0) { return {base, outer, 0, modulus}; }
constexpr index plus(index i, int d) {
  i.base += d;
  return i;
}

/// Writes the schedule of one rank. The steps of one round may come in any order, but a transfer
/// after a local step begins the next round.
class builder {
 public:
  void send(index to, place from) { transfer({step_kind::send, false, to, from, {}, {}}); }
  void recv(index from, place to) { transfer({step_kind::recv, false, from, {}, {}, to}); }
  void send(int to, place from) { send(index{to}, from); }
  void recv(int from, place to) { recv(index{from}, to); }
  void exchange(int to, place source, int from, place target) {
    send(to, source);
    recv(from, target);
  }
  void exchange(index to, place source, index from, place target) {
    send(to, source);
    recv(from, target);
  }
  /// Receives and combines: target = own op received.
  void recv_reduce_right(index from, place own, place target) {
    transfer({step_kind::recv_reduce, false, from, own, {}, target});
  }
  /// Receives and combines: target = received op own.
  void recv_reduce_left(index from, place own, place target) {
    transfer({step_kind::recv_reduce, true, from, own, {}, target});
  }
  /// Receives and combines; the received operand is the left one if `from_is_left` is true.
  void recv_reduce(int from, bool from_is_left, place own, place target) {
    transfer({step_kind::recv_reduce, from_is_left, index{from}, own, {}, target});
  }
  void put(int to, place source, place remote) {
    transfer({step_kind::put, false, index{to}, source, {}, remote});
  }
  void signal(int to) { transfer({step_kind::signal, false, index{to}, {}, {}, {}}); }
  void await_signal(int from) { transfer({step_kind::await_signal, false, index{from}, {}, {}, {}}); }

  void copy(place source, place target) { local({step_kind::copy, false, {}, source, {}, target}); }
  void reduce(place left, place right, place target) {
    local({step_kind::reduce, false, {}, left, right, target});
  }

  void measure(place what, place word) { local({step_kind::measure, false, {}, what, {}, word}); }
  void maximum(place a, place b, place word) { local({step_kind::maximum, false, {}, a, b, word}); }
  void reserve(place what) { local({step_kind::reserve, false, {}, {}, {}, what}); }

  /// Ends the current round. It has no effect if the round is empty.
  void round() {
    if (sends_.empty() && recvs_.empty() && locals_.empty()) return;
    item r;
    r.first = static_cast<std::uint32_t>(schedule_.steps.size());
    r.sends = static_cast<std::uint32_t>(sends_.size());
    r.recvs = static_cast<std::uint32_t>(recvs_.size());
    r.locals = static_cast<std::uint32_t>(locals_.size());
    for (auto* part : {&sends_, &recvs_, &locals_}) {
      schedule_.steps.insert(schedule_.steps.end(), part->begin(), part->end());
      part->clear();
    }
    schedule_.items.push_back(r);
  }

  /// Repeats the items that `body` writes. Loops nest two deep: the outer counter is
  /// `index::outer`, the inner one `index::inner`. A loop that is not nested uses the inner
  /// counter.
  template <class Body>
  void loop(trip_count trips, Body&& body) {
    round();
    const auto head = schedule_.items.size();
    item start;
    start.kind = item_kind::loop;
    start.trips = trips;
    schedule_.items.push_back(start);
    body();
    round();
    item end;
    end.kind = item_kind::end_loop;
    end.first = static_cast<std::uint32_t>(head);
    schedule_.items[head].first = static_cast<std::uint32_t>(schedule_.items.size());
    schedule_.items.push_back(end);
  }
  template <class Body>
  void loop(int trips, Body&& body) {
    loop(trip_count{trips, 0}, std::forward<Body>(body));
  }

  /// Calls the engine's native collective.
  void native() {
    round();
    item n;
    n.kind = item_kind::native;
    schedule_.items.push_back(n);
  }

  /// Declares a scratch buffer of `blocks` blocks. Each is as long as the longest block of the
  /// partition.
  void scratch(buffer which, int blocks, partition how = partition::uniform) {
    schedule_.scratch[static_cast<int>(which) - static_cast<int>(buffer::scratch0)] = {how, blocks, 0};
  }
  void words(int how_many, int width = 0) {
    schedule_.words = how_many;
    schedule_.width = width;
  }
  void permute(std::int32_t (*permutation)(std::int32_t, std::int32_t), int ranks) {
    schedule_.permutation = permutation;
    schedule_.ranks = ranks;
  }
  void split_into(int parts) { schedule_.parts = parts; }
  void segments_of(std::size_t bytes) { schedule_.segment_bytes = bytes; }

  schedule finish() {
    round();
    for (step& s : schedule_.steps) {
      for (place* p : {&s.source, &s.other, &s.target})
        p->plain = p->how == partition::uniform && !p->segmented && !p->packed && !p->permuted &&
                   p->where != buffer::words && p->first.is_constant() && p->first.modulus == 0;
      if (!is_local(s.kind) && s.peer.is_constant()) schedule_.peers.push_back(s.peer.base);
    }
    std::sort(schedule_.peers.begin(), schedule_.peers.end());
    schedule_.peers.erase(std::unique(schedule_.peers.begin(), schedule_.peers.end()), schedule_.peers.end());
    schedule_.items.shrink_to_fit();
    schedule_.steps.shrink_to_fit();
    return std::move(schedule_);
  }

 private:
  void transfer(const step& s) {
    if (!locals_.empty()) round();
    const bool out = s.kind == step_kind::send || s.kind == step_kind::put || s.kind == step_kind::signal;
    (out ? sends_ : recvs_).push_back(s);
  }
  void local(const step& s) { locals_.push_back(s); }

  schedule schedule_;
  std::vector<step> sends_, recvs_, locals_;
};

}  // namespace tutti::detail
