// SPDX-License-Identifier: Apache-2.0
//
// Short collectives of processes without messages: barrier, and bcast and allreduce of up to 4 KiB.
//
// Each member has a block of lines that it alone writes:
//
//   acknowledgement   the number of calls that the member has finished
//   8 post lines      sequence number, digest of the call, up to 48 bytes
//   2 slots           longer operands, up to slot_bytes
//
// Call n uses post line n % 8 and slot n % 2. A member that takes part in call n publishes n + 1 in
// its post line. The others read the operand there. After a call each member acknowledges. A member
// writes its line in call n if all others have finished call n - 8. It writes its slot if all have
// finished call n - 2. A post of call m shows that its member has finished call m - 1. So a
// sequence of allreduces reads no acknowledgements, and the root of a bcast reads them once in 8
// calls. A root does not wait for the members of the current call.
//
// Wake-ups. A member that has got all it waits for wakes those that still sleep, after its
// acknowledgement. A member that must still wait wakes nobody. The last member to arrive always
// gets all it waits for. So a barrier of p sleeping members needs p - 1 wake-ups, and not p * p.
//
// All members make the same calls in the same order. The digests reveal it if they do not. Sequence
// numbers have 64 bits; their comparison wraps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/process_memory.hpp"
#include "transport/shm/process_wakeup.hpp"

namespace tutti::shm {

struct node_collectives_traits {
  static constexpr std::uint32_t line_count = 8, slot_count = 2;  // powers of two
};

template <class M, class T = node_collectives_traits>
class node_collectives {
 public:
  static constexpr std::size_t inline_bytes = 48;

  /// The memory of one member, initially 0. `slot_bytes` may be 0: then operands of at most
  /// inline_bytes are served. It is a multiple of 64.
  static constexpr std::size_t bytes(std::size_t slot_bytes) noexcept {
    return sizeof(block) + T::slot_count * slot_bytes;
  }
  /// `blocks[i]`: the memory of member i, `ranks[i]`: its rank in `words`. `start`: the first
  /// sequence number, the same on all members.
  node_collectives(const std::vector<std::byte*>& blocks, const std::vector<int>& ranks, int member,
                   std::size_t slot_bytes, const wakeup_words<M>& words, std::uint64_t start = 0)
      : words_(&words), ranks_(ranks), member_(member), slot_bytes_(slot_bytes), next_(start) {
    for (std::byte* b : blocks) blocks_.push_back(reinterpret_cast<block*>(b));
    finished_.assign(blocks.size(), start);
  }
  /// Before the first call of any member, if `start` is not 0.
  static void start_at(std::byte* memory, std::uint64_t start) noexcept {
    block& b = *reinterpret_cast<block*>(memory);
    b.acknowledged.store(start, std::memory_order_relaxed);
    for (post_line& line : b.posts) line.sequence.store(start, std::memory_order_relaxed);
  }

  int size() const noexcept { return static_cast<int>(blocks_.size()); }
  std::uint64_t next() const noexcept { return next_; }  ///< the sequence number of the next call
  int member() const noexcept { return member_; }
  std::size_t max_bytes() const noexcept { return slot_bytes_ > inline_bytes ? slot_bytes_ : inline_bytes; }

  // --- the steps of a call

  // A nonblocking call makes them one by one.
  /// Whether this member may write an operand of this length now.
  bool may_post(std::size_t bytes) {
    // Calls that all others must have finished.
    const std::uint64_t needed = next_ + 1 - (bytes <= inline_bytes ? T::line_count : T::slot_count);
    for (int i = 0; i < size(); ++i) {
      if (i == member_ || has_reached(finished_[index(i)], needed)) continue;
      finished_[index(i)] = M::acquire(blocks_[index(i)]->acknowledged);
      if (!has_reached(finished_[index(i)], needed)) return false;
    }
    return true;
  }
  /// The address for the operand of this member, aligned to 16. Requires may_post(bytes).
  std::byte* operand(std::size_t bytes) noexcept { return place(member_, bytes); }
  void post(std::uint64_t digest) {
    post_line& line = line_of(member_);
    M::set(line.digest, digest);
    words_->publish(line.sequence, next_ + 1);
  }
  bool has_posted(int i) {
    if (!has_reached(M::acquire(line_of(i).sequence), next_ + 1)) return false;
    finished_[index(i)] = next_;
    return true;
  }
  /// The operand and digest of a member that has posted, valid until finish().
  const std::byte* operand_of(int i, std::size_t bytes) const noexcept {
    return const_cast<node_collectives*>(this)->place(i, bytes);
  }
  std::uint64_t digest_of(int i) const { return M::view(line_of(i).digest); }
  /// Ends the call: this member reads no operand of it any more. Wakes members that sleep.
  void finish() {
    words_->publish(blocks_[index(member_)]->acknowledged, ++next_);
    wake_members();
  }
  /// A member calls it between post() and its first wait, if the members of its call do not all
  /// wait for the same posts.
  void wake_members() const {
    for (int i = 0; i < size(); ++i)
      if (i != member_) words_->signal(ranks_[index(i)], wait_for_post | wait_for_acknowledgement);
  }

  /// Whether all members have finished all calls that this member has finished. Then no member
  /// reads this member's memory any more.
  bool all_have_finished() const {
    for (const block* b : blocks_)
      if (!has_reached(M::acquire(b->acknowledged), next_)) return false;
    return true;
  }

  // --- blocking calls

  // They call `on_mismatch(i, digest)` if member i makes another call. It must throw.
  template <class Mismatch>
  void barrier(std::uint64_t digest, process_waiter& waiter, Mismatch&& on_mismatch) {
    wait_to_post(0, waiter);
    post(digest);
    wait_for_posts(digest, waiter, on_mismatch);
    finish();
  }
  template <class Mismatch>
  void bcast(void* data, std::size_t bytes, int root, std::uint64_t digest, process_waiter& waiter,
             Mismatch&& on_mismatch) {
    if (member_ == root) {
      wait_to_post(bytes, waiter);
      M::write(operand(bytes), data, bytes);
      post(digest);
    } else {
      wait(wait_for_post, waiter, [&] { return has_posted(root); });
      if (const std::uint64_t other = digest_of(root); other != digest) [[unlikely]]
        on_mismatch(root, other);
      M::read(data, operand_of(root, bytes), bytes);
    }
    finish();
  }
  /// `combine(accumulator, operand)` sets accumulator = accumulator op operand. The call combines
  /// in member order. `result` may be `data`.
  template <class Combine, class Mismatch>
  void allreduce(const void* data, void* result, std::size_t bytes, std::uint64_t digest, Combine&& combine,
                 process_waiter& waiter, Mismatch&& on_mismatch) {
    wait_to_post(bytes, waiter);
    M::write(operand(bytes), data, bytes);
    post(digest);
    wait_for_posts(digest, waiter, on_mismatch);
    M::read(result, operand_of(0, bytes), bytes);
    for (int i = 1; i < size(); ++i) combine(result, operand_of(i, bytes));
    finish();
  }

 private:
  struct alignas(64) post_line {
    std::atomic<std::uint64_t> sequence{0};
    std::uint64_t digest = 0;
    alignas(16) std::byte data[inline_bytes];
  };
  struct block {
    alignas(128) std::atomic<std::uint64_t> acknowledged{0};
    alignas(128) post_line posts[T::line_count];
  };
  static_assert(sizeof(post_line) == 64);

  static std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }
  static bool has_reached(std::uint64_t value, std::uint64_t wanted) noexcept {
    return static_cast<std::int64_t>(value - wanted) >= 0;
  }
  post_line& line_of(int i) const noexcept { return blocks_[index(i)]->posts[next_ % T::line_count]; }
  std::byte* place(int i, std::size_t bytes) noexcept {
    if (bytes <= inline_bytes) return line_of(i).data;
    return reinterpret_cast<std::byte*>(blocks_[index(i)] + 1) + next_ % T::slot_count * slot_bytes_;
  }

  template <class Ready>
  void wait(std::uint32_t reasons, process_waiter& waiter, Ready&& ready) {
    wait_until(*words_, reasons, waiter, ready);
  }
  void wait_to_post(std::size_t bytes, process_waiter& waiter) {
    if (!may_post(bytes)) [[unlikely]]
      wait(wait_for_acknowledgement, waiter, [&] { return may_post(bytes); });
  }
  template <class Mismatch>
  void wait_for_posts(std::uint64_t digest, process_waiter& waiter, Mismatch&& on_mismatch) {
    int next = 0;
    wait(wait_for_post, waiter, [&] {
      while (next < size() && (next == member_ || has_posted(next))) ++next;
      return next == size();
    });
    for (int i = 0; i < size(); ++i)
      if (i != member_)
        if (const std::uint64_t other = digest_of(i); other != digest) [[unlikely]]
          on_mismatch(i, other);
  }

  const wakeup_words<M>* words_;
  std::vector<block*> blocks_;
  std::vector<int> ranks_;
  std::vector<std::uint64_t> finished_;  // calls that the member has finished, as far as known
  int member_;
  std::size_t slot_bytes_;
  std::uint64_t next_;  // the current call
};

}  // namespace tutti::shm
