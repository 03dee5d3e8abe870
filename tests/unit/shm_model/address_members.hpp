// SPDX-License-Identifier: Apache-2.0
//
// The members of calls by address in modelled memory. Their steps are those of the engine
// (engines/mpi/address_steps.hpp). Readers that the kernel refuses get messages through modelled
// channels. Each member overwrites its buffers when its call returns. So a reader that is late, or
// an owner that is early, gets a wrong result.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "engines/mpi/address_steps.hpp"
#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_receiver.hpp"
#include "transport/shm/process_sender.hpp"
#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model {
namespace by_address {

// Call n uses the line and the word of call n - 2.
struct small_calls {
  static constexpr std::uint32_t line_count = 2, line_count_with_slots = 2, slot_count = 2;
};
// A message of at most 16 bytes needs one slot, and one of 24 bytes needs three.
struct small_channels {
  static constexpr std::uint32_t slot_count = 2;
  static constexpr std::size_t inline_bytes = 16;
  static constexpr std::uint32_t rendezvous_count = 2;
  static constexpr bool pieces_without_cells = true;
};

/// Errors that the search must find.
enum class fault {
  none,
  owner_does_not_wait,     // for its readers
  requests_nothing,        // a member that cannot read does not say so
  requests_of_any_call,    // an owner sends messages also for calls that their reader has finished
  requests_of_later_calls  // an owner sends messages only for calls after the refused one
};

class calls_with_faults : public node_collectives<model_memory, small_calls> {
 public:
  using base = node_collectives<model_memory, small_calls>;
  using base::base;

  bool has_finished(std::uint64_t n, int i) const {
    return what == fault::owner_does_not_wait || base::has_finished(n, i);
  }
  void request_messages() {
    if (what != fault::requests_nothing) base::request_messages();
  }
  bool has_requested_messages(std::uint64_t n, int i) const {
    if (what == fault::requests_of_any_call && i != member()) return base::has_requested_messages(n + 2, i);
    if (what == fault::requests_of_later_calls && i != member())
      return base::has_requested_messages(n - 1, i);
    return base::has_requested_messages(n, i);
  }

  fault what = fault::none;
};

constexpr std::size_t slot_bytes = 64;
constexpr std::size_t block_bytes = (calls_with_faults::bytes(slot_bytes) + 127) / 128 * 128;
using lines = process_lines<small_channels>;

struct layout {
  int size;
  static constexpr std::size_t blocks = 128;
  std::size_t block(int i) const { return blocks + static_cast<std::size_t>(i) * block_bytes; }
  std::size_t channel(int from, int to) const {
    return block(size) + static_cast<std::size_t>(from * size + to) * sizeof(lines);
  }
  // What member i shares.
  std::size_t data(int i) const { return channel(size, 0) + static_cast<std::size_t>(i) * 128; }
  std::size_t bytes() const { return data(size); }

  std::vector<int> writers() const {
    std::vector<int> all(bytes() / 64, -1);
    const auto set = [&](std::size_t from, std::size_t n, int who) {
      std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(from / 64), n / 64, who);
    };
    for (int i = 0; i < size; ++i) {
      set(block(i), block_bytes, i);
      set(data(i), 128, i);
      for (int to = 0; to < size; ++to) {
        set(channel(i, to), offsetof(lines, consumed), i);
        set(channel(i, to) + offsetof(lines, consumed), sizeof(lines) - offsetof(lines, consumed), to);
      }
    }
    return all;
  }
};

/// What part_messages needs of an endpoint, on the channels of a member.
class model_endpoint {
 public:
  using sender = process_sender<model_memory, small_channels>;
  using receiver = process_receiver<model_memory, small_channels>;

  model_endpoint(layout l, const wakeup_words<model_memory>& words)
      : layout_(l), words_(words), pool_(nullptr, 0, 8) {}

  model_endpoint* messages_on_node() noexcept { return this; }
  int job_rank_of(int rank) const noexcept { return rank; }
  void isend(int to, std::uint64_t tag, const std::byte* data, std::size_t bytes, detail::transfer& t) {
    send_request& r = sends_.emplace_back();
    r.tag = tag;
    r.data = data;
    r.bytes = bytes;
    sender_to(to).start(r);
    mark(t, {nullptr, nullptr, &r, &sender_to(to)});
  }
  void irecv(int from, int, std::uint64_t tag, void* data, std::size_t bytes, detail::transfer& t) {
    recv_request& r = receives_.emplace_back();
    r.tag = tag;
    r.target = static_cast<std::byte*>(data);
    r.capacity = bytes;
    receiver_from(from).start(r);
    mark(t, {&r, &receiver_from(from), nullptr, nullptr});
  }
  void progress_all() {
    for (const auto& one : senders_)
      if (one && one->is_busy()) one->progress();
    for (const auto& one : receivers_)
      if (one && one->is_busy()) one->progress();
  }
  bool finished_on_node(const detail::transfer& t, const wait_site&) {
    transfer_state s;
    std::memcpy(&s, t.state, sizeof s);
    if (s.received != nullptr) {
      if (!s.received->is_complete()) s.from->progress();
      return s.received->is_complete();
    }
    if (!s.sent->is_complete()) s.to->progress();
    return s.sent->is_complete();
  }

 private:
  struct transfer_state {
    recv_request* received;
    receiver* from;
    send_request* sent;
    sender* to;
  };
  static void mark(detail::transfer& t, const transfer_state& s) { std::memcpy(t.state, &s, sizeof s); }
  lines& channel(int from, int to) const {
    return *reinterpret_cast<lines*>(shared + layout_.channel(from, to));
  }
  sender& sender_to(int to) {
    auto& one = senders_[static_cast<std::size_t>(to)];
    if (!one) one = std::make_unique<sender>(channel(words_.rank(), to), pool_, words_, to);
    return *one;
  }
  receiver& receiver_from(int from) {
    auto& one = receivers_[static_cast<std::size_t>(from)];
    if (!one)
      one = std::make_unique<receiver>(channel(from, words_.rank()),
                                       typename receiver::peer{from, from, nullptr, 8}, words_, refusals_);
    return *one;
  }

  layout layout_;
  const wakeup_words<model_memory>& words_;
  cell_pool<sender> pool_;
  refusal_report refusals_;
  std::array<std::unique_ptr<sender>, 3> senders_;
  std::array<std::unique_ptr<receiver>, 3> receivers_;
  std::deque<send_request> sends_;
  std::deque<recv_request> receives_;
};

struct environment {
  using memory = model_memory;
  using collectives = calls_with_faults;
  using endpoint = model_endpoint;
  static constexpr std::size_t combined_piece_bytes = 8;

  static remote_read read(int rank, void* to, std::uint64_t address, std::size_t bytes) {
    int error = 0;
    return model_memory::read_remote(rank, to, address, bytes, error);
  }
};

class member {
 public:
  member(layout l, int index, fault what, std::uint64_t start)
      : layout_(l),
        words_(shared, l.size, index, how().fenced),
        calls_(blocks(l), ranks(l.size), index, slot_bytes, words_, start),
        messages_(l, words_),
        steps_({}, calls_, messages_, 1,
               [](std::uint64_t, int, std::uint64_t) { require(false, "the calls differ"); }) {
    calls_.what = what;
  }
  int index() const noexcept { return calls_.member(); }
  int size() const noexcept { return calls_.size(); }

  /// Operand k of a member, in the memory that it shares.
  std::uint64_t* word(std::size_t k) const {
    return reinterpret_cast<std::uint64_t*>(shared + layout_.data(index())) + k;
  }
  static std::uint64_t value(int i, std::uint64_t k) { return 100 * static_cast<std::uint64_t>(i + 1) + k; }

  /// A call and its buffers, from word `first` on.
  struct under_way {
    call c;
    std::size_t first, input_words;
    std::vector<std::uint64_t> result;  // private, if nobody reads it
    mpi::memory_progress progress;
    bool complete = false;
  };
  static void add(const void* left, const void* right, void* result, std::size_t n, void*) {
    const auto* const l = static_cast<const std::byte*>(left);
    const auto* const r = static_cast<const std::byte*>(right);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t a, b;
      model_memory::read(&a, l + 8 * i, 8);
      model_memory::read(&b, r + 8 * i, 8);
      a += b;
      model_memory::read(static_cast<std::byte*>(result) + 8 * i, reinterpret_cast<const std::byte*>(&a), 8);
    }
  }
  static std::uint64_t rounds(collective what) { return what == collective::allreduce ? 2 : 1; }

  void begin(under_way& u, collective what, int root, std::size_t count, std::size_t first, bool in_place) {
    const auto p = static_cast<std::size_t>(size());
    u.first = first;
    u.input_words = what == collective::alltoall || what == collective::scatter ? p * count : count;
    u.c.what = what;
    u.c.root = root;
    u.c.type = element_of<std::uint64_t>();
    u.c.count = count;
    u.c.in_place = in_place;
    u.c.op.combine = add;
    for (std::size_t k = 0; k < u.input_words; ++k)
      model_memory::set(*word(first + k), value(index(), first + k));
    u.c.input = word(first);
    if (what == collective::allreduce) {  // the second round shares the output
      u.c.output = word(first + (in_place ? 0 : count));
    } else if (what == collective::bcast && index() == root) {
      u.c.output = word(first);
      u.c.in_place = true;
    } else {
      u.result.assign(what == collective::bcast || what == collective::scatter ? count : p * count, 0);
      u.c.output = u.result.data();
    }
    mpi::memory_progress& now = u.progress;
    now.pieces.unit = combines(what) ? 8 : 1;
    now.pieces.length = combines(what) ? count : 8 * count;
    now.rounds_left = rounds(what);
    now.number = calls_.begin(now.rounds_left);
    now.digest = static_cast<std::uint64_t>(what) | static_cast<std::uint64_t>(root + 1) << 8;
    now.by_address = true;
  }
  void check(under_way& u) {
    const std::size_t count = u.c.count;
    const auto seen = [&](std::size_t i) {
      std::uint64_t w;
      model_memory::read(&w, static_cast<const std::byte*>(u.c.output) + 8 * i, 8);
      return w;
    };
    const auto expect = [](std::uint64_t is, std::uint64_t expected) {
      require(is == expected, "a result is not intact");
    };
    for (std::size_t k = 0; k < count; ++k) {
      if (u.c.what == collective::bcast) expect(seen(k), value(u.c.root, u.first + k));
      if (u.c.what == collective::scatter)
        expect(seen(k), value(u.c.root, u.first + static_cast<std::size_t>(index()) * count + k));
      if (u.c.what == collective::allreduce) {
        std::uint64_t sum = 0;
        for (int i = 0; i < size(); ++i) sum += value(i, u.first + k);
        expect(seen(k), sum);
      }
      for (int i = 0; i < size(); ++i) {
        const std::size_t block = static_cast<std::size_t>(i) * count;
        if (u.c.what == collective::allgather) expect(seen(block + k), value(i, u.first + k));
        if (u.c.what == collective::alltoall)
          expect(seen(block + k), value(i, u.first + static_cast<std::size_t>(index()) * count + k));
      }
    }
    // The caller reuses its buffers.
    for (std::size_t k = 0; k < u.input_words; ++k) model_memory::set(*word(u.first + k), std::uint64_t{7});
    if (u.c.what == collective::allreduce)
      for (std::size_t k = 0; k < count; ++k)
        model_memory::set(static_cast<std::uint64_t*>(u.c.output)[k], std::uint64_t{7});
  }
  bool advance(under_way& u, bool overlaps) {
    if (u.complete || !steps_.advance(u.c, u.progress, overlaps)) return u.complete;
    check(u);
    return u.complete = true;
  }

  struct request {
    collective what;
    int root = 0;
    std::size_t count = 1;
    bool in_place = false;
  };
  /// One call after the other. They share the same words.
  void one_by_one(const std::vector<request>& all) {
    for (const request& one : all) {
      under_way u;
      begin(u, one.what, one.root, one.count, 0, one.in_place);
      calls_.wait(reasons, waiter_, [&] { return advance(u, false); });
    }
  }
  std::size_t size_of(const request& one) const {
    const bool has_blocks = one.what == collective::alltoall || one.what == collective::scatter;
    return has_blocks ? static_cast<std::size_t>(size()) * one.count : one.count;
  }
  /// All calls at the same time. Each has words of its own.
  void overlapping(const std::vector<request>& all) {
    std::deque<under_way> calls;
    std::size_t first = 0;
    for (const request& one : all) {
      begin(calls.emplace_back(), one.what, one.root, one.count, first, one.in_place);
      first += 2 * size_of(one);
    }
    calls_.wait(reasons, waiter_, [&] {
      bool complete = true;
      for (std::size_t i = calls.size(); i-- > 0;) complete = advance(calls[i], true) && complete;
      return complete;
    });
  }

 private:
  static constexpr std::uint32_t reasons =
      wait_for_post | wait_for_acknowledgement | wait_for_message | wait_for_space;
  static std::vector<std::byte*> blocks(layout l) {
    std::vector<std::byte*> all;
    for (int i = 0; i < l.size; ++i) all.push_back(shared + l.block(i));
    return all;
  }
  static std::vector<int> ranks(int size) {
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(i);
    return all;
  }

  layout layout_;
  wakeup_words<model_memory> words_;
  calls_with_faults calls_;
  model_endpoint messages_;
  mpi::address_steps<environment> steps_;
  model_waiter waiter_;
};

}  // namespace by_address
}  // namespace tutti::shm::model
