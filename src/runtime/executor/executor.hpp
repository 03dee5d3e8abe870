// SPDX-License-Identifier: Apache-2.0
//
// Runs a schedule for one rank. The same code serves blocking calls (it waits inside) and nonblocking ones
// (it returns where it would wait, and goes on later from there).
//
// A schedule is bound once to a communicator: each constant peer gets its channels. A run then needs no
// look-up, and no allocation as long as its scratch fits what an earlier run of the same object needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/executor/progressable.hpp"
#include "schedule/schedule.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/channel.hpp"

namespace tutti {

/// The two channels to a peer; null where the peer is reached by messages of the engine.
struct link {
  shm::channel* out = nullptr;
  shm::channel* in = nullptr;
};

/// A communicator's links, made when first used and kept in pages, so that memory follows use.
class links {
 public:
  explicit links(context& c);
  /// O(1) but for a peer's first time.
  const link& to(int peer);

 private:
  static constexpr int page_size = 64;
  context& context_;
  std::vector<std::unique_ptr<link[]>> pages_;
};

/// Whole blocks of the caller's buffers.
struct block_range {
  buffer where = buffer::input;
  std::int32_t first = 0, blocks = 0;
};

/// A round that is at most one message each way, over channels to constant peers: what it needs at hand.
struct bound_exchange {
  bool simple = false;
  bool combines = false, received_left = false;  // of what is received
  const step* out = nullptr;
  const step* in = nullptr;
  shm::channel* to = nullptr;
  shm::channel* from = nullptr;
  block_range sent, own, result;  // where the schedule is straight
};

/// A schedule with what a communicator adds to it.
struct bound_schedule {
  /// `ranks`: the members of a part of the communicator, by the schedule's ranks; empty: all of it.
  bound_schedule(const char* its_name, schedule s, context& where, links& peers,
                 std::vector<std::int32_t> ranks = {});

  int address(int peer) const noexcept {
    return ranks.empty() ? peer : ranks[static_cast<std::size_t>(peer)];
  }

  const char* name;  // "allreduce/ring"
  schedule plan;
  std::vector<std::int32_t> ranks;
  std::vector<link> step_links;           // by step; empty where the peer is not constant
  std::vector<bound_exchange> exchanges;  // by item
  std::uint64_t tag_base = 0;             // tags: 40 bits of the communicator, 24 of the call
  std::size_t max_sends = 0, max_recvs = 0;
  /// Whether run_simple() does a call with blocks of so many bytes.
  bool serves_simple(std::uint64_t block_bytes) const noexcept {
    return simple && block_bytes <= shm::channel::cell_bytes / max_blocks;
  }

  bool simple = false;         // nothing but simple exchanges of whole blocks: see run_simple()
  std::size_t max_blocks = 1;  // in one message, where it is straight
  bool interleaves = false;
  bool needs_memory = false;     // scratch, or a place for operands that the engine cannot show in place
  bool sized_by_counts = false;  // scratch depends on a call's counts
  context& where;
  links& peers;

 private:
  bool bind_simple(bound_exchange& e);
};

/// Marks the calls that a composed call makes: their messages never meet those of the communicator's own.
inline constexpr std::uint32_t inner_run = std::uint32_t{1} << 31;

/// One run of one schedule on one rank; may be used again when it is over.
class schedule_run final : public progressable {
 public:
  schedule_run() = default;
  schedule_run(const schedule_run&) = delete;
  schedule_run& operator=(const schedule_run&) = delete;

  /// `number`: which call on this communicator, the same on all ranks (or'ed with inner_run). `c` and what it
  /// refers to must stay; vector forms have displacements.
  void begin(bound_schedule& b, const call& c, std::uint32_t number);
  /// begin() and go_on(true) in one, for a schedule that serves_simple().
  void run_simple(bound_schedule& b, const call& c, std::uint32_t number);
  bool go_on(bool blocking) override;
  bool over() const noexcept { return over_; }
  std::uint64_t moves() const noexcept override { return moves_; }
  shm::wait_site site(const char* what = "", int peer = -1) const noexcept override;

 private:
  struct range {
    std::byte* data;
    std::size_t bytes;
    bool exists;
  };
  struct sending {
    std::atomic<std::uint32_t> done{1};  // rendezvous
    std::uint64_t header[2] = {};        // of a put: offset, bytes
    transfer message;
    std::uint8_t stage = 0;
    bool complete = false;
  };
  struct receiving {
    std::uint64_t header[2] = {};
    transfer message;
    std::byte* into = nullptr;
    std::uint8_t stage = 0;
    bool complete = false;
  };
  struct loop_state {
    std::uint32_t head;
    std::int32_t i, n;
  };

  // Where the operand stands: in place in the output, but the blocks of a scatter in the input all the same.
  static std::byte* operand_of(const call& c) noexcept {
    const bool in_output = c.in_place && c.what != collective::scatter && c.what != collective::scatterv;
    return static_cast<std::byte*>(in_output ? c.output : const_cast<void*>(c.input));
  }
  static std::uint64_t tag_of(const bound_schedule& b, std::uint32_t number) noexcept {
    return b.tag_base | (number & 0xffffffu);
  }
  void set_up(bound_schedule& b, const call& c, std::uint32_t number) noexcept;
  bool native(bool blocking);
  bool round(const item& r, bool blocking);
  static shm::wait_site site_of(const bound_schedule& b, const bound_exchange& e, const call& c,
                                std::uint32_t number, const char* what, int peer) noexcept;
  static void wait_to_send(bound_schedule& b, const bound_exchange& e, const call& c, std::uint32_t number);
  const std::byte* wait_to_receive(bound_schedule& b, const bound_exchange& e, const call& c,
                                   std::uint32_t number);
  void receive(const step& in, shm::channel& from);
  void exchange(const step* out, shm::channel* to, const step* in, shm::channel* from);
  void wait_for_room(shm::channel& c);
  void wait_for_message(shm::channel& c, shm::arrival& a);
  void wait_for_reader(shm::channel& c);
  void engine_exchange(const step* out, const step* in);
  bool all_transfers(const item& r, bool blocking);
  void open_round(const item& r);
  bool try_send(sending& s, const step& what, const link& l);
  bool try_receive(receiving& r, const step& what, const link& l);
  bool try_await(receiving& r, const step& what, const link& l);
  void wait_for_one(const item& r);
  void deliver(const step& s, const range& to, const std::byte* data, std::size_t bytes);
  void deliver_from_afar(const step& s, const range& to, const shm::arrival& a);
  void local(const step& s);
  const link& link_of(const item& r, std::size_t i);
  [[noreturn]] void misfit(const step& s, std::size_t came, std::size_t expected) const;
  int resolve(const index& i) const noexcept;
  int peer_of(const step& s) const noexcept { return bound_->address(resolve(s.peer)); }
  range locate(const place& p) const noexcept;
  range locate_indexed(const place& p) const noexcept;
  void table_range(const place& p, int first, std::size_t& offset, std::size_t& bytes) const noexcept;
  std::uint64_t words_before(std::int32_t origin, std::int32_t first) const noexcept;
  std::size_t segment_bytes() const noexcept;
  std::size_t longest(const place& p) const noexcept;
  std::int32_t trips(const trip_count& t) const noexcept;
  void allot();
  void reserve(const place& p);

  bound_schedule* bound_ = nullptr;
  const call* call_ = nullptr;
  std::byte* base_[buffer_count] = {};
  std::size_t unit_ = 0;  // bytes of `count` elements
  std::uint64_t tag_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t pc_ = 0;
  int depth_ = 0;
  loop_state loops_[2] = {};
  bool over_ = true, opened_ = false, native_begun_ = false, interleaves_ = false;
  std::size_t left_ = 0;
  std::uint64_t moves_ = 0;
  std::atomic<std::uint32_t> sent_done_{1};
  std::unique_ptr<std::byte[]> memory_;  // scratch and staging
  std::size_t memory_bytes_ = 0;
  std::byte* staging_ = nullptr;
  struct reserved {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
  };
  std::unique_ptr<reserved[]> reserved_;  // by scratch; made by the first reserve step
  std::vector<std::uint64_t> words_;
  struct words_sum {  // the last that was asked for; forgotten whenever a word may change
    std::int32_t origin = -1, first = 0;
    std::uint64_t sum = 0;
  };
  mutable words_sum before_;
  std::size_t allotted_unit_ = 0, allotted_element_ = 0;  // what memory_ is divided for
  const bound_schedule* allotted_for_ = nullptr;
  std::unique_ptr<sending[]> sendings_;
  std::unique_ptr<receiving[]> receivings_;
  std::size_t sendings_made_ = 0, receivings_made_ = 0;
  native_state native_;
};

}  // namespace tutti
