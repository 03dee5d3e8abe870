// SPDX-License-Identifier: Apache-2.0
//
// Runs a schedule for one rank. The same code serves blocking calls, which wait inside, and
// nonblocking calls. A nonblocking call returns where it would wait, and continues there later.
//
// A schedule is bound once to a communicator, which resolves the channels of each constant peer.
// Then a run needs no look-up. It does not allocate if its scratch memory fits into that of an
// earlier run of the same object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/executor/progressable.hpp"
#include "schedule/schedule.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/channel.hpp"

namespace tutti::detail {

/// The two channels to a peer. Null if the peer is reached by messages of the engine.
struct link {
  shm::channel* out = nullptr;
  shm::channel* in = nullptr;
};

/// The links of a communicator. Each is made on first use. They are stored in pages, so that memory
/// is allocated on use.
class links {
 public:
  explicit links(context& c);
  /// O(1), except for the first use of a peer.
  const link& to(int peer);

 private:
  static constexpr int page_size = 64;
  context& context_;
  std::vector<std::unique_ptr<link[]>> pages_;
};

/// A range of whole blocks of the caller's buffers.
struct block_range {
  buffer where = buffer::input;
  std::int32_t first = 0, blocks = 0;
};

/// A round of at most one message each way, over channels to constant peers, with its resolved
/// operands.
struct bound_exchange {
  bool simple = false;
  bool combines = false, received_left = false;  // how the received data are used
  const step* out = nullptr;
  const step* in = nullptr;
  shm::channel* to = nullptr;
  shm::channel* from = nullptr;
  block_range sent, operand, result;  // if the schedule is simple
};

/// A schedule bound to a communicator.
struct bound_schedule {
  /// `ranks`: the members of a part of the communicator, indexed by the ranks of the schedule.
  /// Empty: all members.
  bound_schedule(const char* schedule_name, schedule s, context& where, links& peers,
                 std::vector<std::int32_t> ranks = {});

  int address(int peer) const noexcept {
    return ranks.empty() ? peer : ranks[static_cast<std::size_t>(peer)];
  }

  const char* name;  // "allreduce/ring"
  schedule plan;
  std::vector<std::int32_t> ranks;
  std::vector<link> step_links;           // by step; empty if the peer is not constant
  std::vector<bound_exchange> exchanges;  // by item
  std::uint64_t tag_base = 0;             // tags: 40 bits of the communicator, 24 of the call
  std::size_t max_sends = 0, max_recvs = 0;
  /// Whether run_simple() can run a call with blocks of `block_bytes`.
  bool serves_simple(std::uint64_t block_bytes) const noexcept {
    return simple && block_bytes <= shm::channel::cell_bytes / max_blocks;
  }

  bool simple = false;         // only simple exchanges of whole blocks: see run_simple()
  std::size_t max_blocks = 1;  // in one message of a simple schedule
  bool interleaves = false;
  // For scratch, or for received operands that the engine cannot provide in place.
  bool needs_memory = false;
  bool sized_by_counts = false;  // the size of scratch depends on the counts of a call
  context& where;
  links& peers;

 private:
  bool bind_simple(bound_exchange& e);
};

/// Marks inner calls of a composed call, whose messages never match those of the communicator's own
/// calls.
inline constexpr std::uint32_t inner_run = std::uint32_t{1} << 31;

/// The algorithm for reports: `name`, unless the call is an exchange of the library's own on behalf
/// of another call.
const char* reported_algorithm(const call& c, const char* name) noexcept;

/// One run of a schedule on one rank. It may be reused after it is over.
class schedule_run final : public progressable {
 public:
  schedule_run() = default;
  schedule_run(const schedule_run&) = delete;
  schedule_run& operator=(const schedule_run&) = delete;

  /// `call_id`: the sequence number of the call on this communicator, the same on all ranks,
  /// combined with inner_run for inner calls. `c` and what it refers to must stay valid. Vector
  /// forms must have displacements.
  void begin(bound_schedule& b, const call& c, std::uint32_t call_id);
  /// Combines begin() and advance(true), for a call for which serves_simple() is true.
  void run_simple(bound_schedule& b, const call& c, std::uint32_t call_id);
  bool advance(bool blocking) override;
  bool is_complete() const noexcept { return complete_; }
  std::uint32_t call_id() const noexcept { return call_id_; }  ///< of the last begin()
  std::uint64_t progress_count() const noexcept override { return progress_count_; }
  shm::wait_site site(const char* what = "", int peer = -1) const noexcept override;

 private:
  struct range {
    std::byte* data;
    std::size_t bytes;
    bool exists;
  };
  struct sending {
    std::atomic<std::uint32_t> done{1};  // rendezvous
    std::uint64_t header[2] = {};        // of a put: offset and bytes
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

  // The operand. With in_place it is in the output; scatter and scatterv have it in the input in
  // any case.
  static std::byte* operand_of(const call& c) noexcept {
    const bool in_output = c.in_place && c.what != collective::scatter && c.what != collective::scatterv;
    return static_cast<std::byte*>(in_output ? c.output : const_cast<void*>(c.input));
  }
  static std::uint64_t tag_of(const bound_schedule& b, std::uint32_t call_id) noexcept {
    return b.tag_base | (call_id & 0xffffffu);
  }
  void set_up(bound_schedule& b, const call& c, std::uint32_t call_id) noexcept;
  bool native(bool blocking);
  bool round(const item& r, bool blocking);
  static shm::wait_site site_of(const bound_schedule& b, const bound_exchange& e, const call& c,
                                std::uint32_t call_id, const char* what, int peer) noexcept;
  static void wait_to_send(bound_schedule& b, const bound_exchange& e, const call& c, std::uint32_t call_id);
  const std::byte* wait_to_receive(bound_schedule& b, const bound_exchange& e, const call& c,
                                   std::uint32_t call_id);
  void receive(const step& in, shm::channel& from);
  void exchange(const step* out, shm::channel* to, const step* in, shm::channel* from);
  void wait_for_space(shm::channel& c);
  void wait_for_message(shm::channel& c, shm::arrival& a);
  void wait_until_read(shm::channel& c);
  void engine_exchange(const step* out, const step* in);
  bool all_transfers(const item& r, bool blocking);
  void open_round(const item& r);
  bool try_send(sending& s, const step& what, const link& l);
  bool try_receive(receiving& r, const step& what, const link& l);
  bool try_await(receiving& r, const step& what, const link& l);
  void wait_for_one(const item& r);
  void deliver(const step& s, const range& to, const std::byte* data, std::size_t bytes);
  void deliver_remote(const step& s, const range& to, const shm::arrival& a);
  void local(const step& s);
  const link& link_of(const item& r, std::size_t i);
  [[noreturn]] void throw_wrong_length(const step& s, std::size_t received, std::size_t expected) const;
  int resolve(const index& i) const noexcept;
  int peer_of(const step& s) const noexcept { return bound_->address(resolve(s.peer)); }
  range locate(const place& p) const noexcept;
  range locate_indexed(const place& p) const noexcept;
  void locate_blocks(const place& p, int first, std::size_t& offset, std::size_t& bytes) const noexcept;
  std::uint64_t words_prefix(std::int32_t origin, std::int32_t first) const noexcept;
  std::size_t segment_bytes() const noexcept;
  std::size_t max_bytes(const place& p) const noexcept;
  std::int32_t trips(const trip_count& t) const noexcept;
  void allocate_scratch();
  void reserve(const place& p);

  bound_schedule* bound_ = nullptr;
  const call* call_ = nullptr;
  std::byte* base_[buffer_count] = {};
  std::size_t unit_ = 0;  // bytes of `count` elements
  std::uint64_t tag_ = 0;
  std::uint32_t call_id_ = 0;
  std::uint32_t pc_ = 0;
  int depth_ = 0;
  loop_state loops_[2] = {};
  bool complete_ = true, opened_ = false, native_begun_ = false, interleaves_ = false;
  std::size_t remaining_ = 0;
  std::uint64_t progress_count_ = 0;
  std::atomic<std::uint32_t> sent_done_{1};
  std::unique_ptr<std::byte[]> memory_;  // scratch and staging
  std::size_t memory_bytes_ = 0;
  std::byte* staging_ = nullptr;
  struct reserved {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;
  };
  std::unique_ptr<reserved[]> reserved_;  // by scratch buffer; made by the first reserve step
  std::vector<std::uint64_t> words_;
  // The last sum of words that was computed. Reset whenever a word may change.
  struct words_sum {
    std::int32_t origin = -1, first = 0;
    std::uint64_t sum = 0;
  };
  mutable words_sum prefix_;
  std::size_t scratch_unit_ = 0, scratch_element_ = 0;  // the sizes for which memory_ is divided
  const bound_schedule* scratch_owner_ = nullptr;
  std::unique_ptr<sending[]> sendings_;
  std::unique_ptr<receiving[]> receivings_;
  std::size_t sending_count_ = 0, receiving_count_ = 0;
  native_state native_;
};

}  // namespace tutti::detail
