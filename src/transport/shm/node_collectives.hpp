// SPDX-License-Identifier: Apache-2.0
//
// Collectives of processes without messages. A call has one post of each member, or of some
// members. Barriers, and bcasts and allreduces that fit in a post, are functions here. Other
// collectives are sequences of calls, which a caller makes in steps.
//
// Each member has a block of lines that it alone writes:
//
//   acknowledgement      the member has finished all calls before this number
//   request              the calls in which the member needs messages, see request_messages()
//   8 or 64 post lines   sequence number, digest of the call, up to 48 bytes
//   64 words             the last calls by address that the member has finished
//   4 slots              longer operands, up to slot_bytes
//
// With L lines, call n uses post line n % L and slot n % 4. A member that takes part in call n
// publishes n + 1 in its post line. The others read the operand there. A member writes its line in
// call n if all others have acknowledged call n - L. It writes its slot if all have acknowledged
// call n - 4. The line also says which calls its member had finished. So a sequence of allreduces
// reads no acknowledgements, and the root of a bcast reads them once in L calls. A root does not
// wait for the members of the current call, unless it has posted an address.
//
// Wake-ups. A member that has got all it waits for wakes those that still sleep, after its
// acknowledgement. A member that must still wait wakes nobody. The last member to arrive always
// gets all it waits for. So a barrier of p sleeping members needs p - 1 wake-ups, and not p * p.
//
// All members begin the same calls in the same order. The digests reveal it if they do not. Calls
// may overlap: a member that cannot post yet tries again later. Sequence numbers have 64 bits;
// their comparison wraps.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/process_memory.hpp"
#include "transport/shm/process_wakeup.hpp"

namespace tutti::shm {

struct node_collectives_traits {
  // Powers of two, at most 64. Members with slots have more lines, because a root that waits for
  // free lines waits less often for ranks that share its core.
  static constexpr std::uint32_t line_count = 8, line_count_with_slots = 64, slot_count = 4;
};

/// The node has no memory for an operand of so many bytes.
struct lack_of_pages {
  std::size_t bytes;
};

template <class M, class T = node_collectives_traits>
class node_collectives {
 public:
  static constexpr std::size_t inline_bytes = 48;
  static constexpr int digest_bits = 56;
  /// The bits of finished_later_.
  static constexpr std::uint64_t max_calls_finished_later = 64;
  /// A member prefetches the line of this later post.
  static constexpr std::uint64_t lines_ahead = 2;

  /// The memory of one member, initially 0. `slot_bytes` may be 0: then operands of at most
  /// inline_bytes are served. It is a multiple of 64.
  static constexpr std::size_t bytes(std::size_t slot_bytes) noexcept {
    return head_bytes(slot_bytes) + T::slot_count * slot_bytes;
  }
  /// The part before the slots, which alone must be 0 initially.
  static constexpr std::size_t head_bytes(std::size_t slot_bytes) noexcept {
    const std::size_t words = slot_bytes > 0 ? T::line_count_with_slots * sizeof(std::uint64_t) : 0;
    return sizeof(block) + lines_of(slot_bytes) * sizeof(post_line) + words;
  }
  /// `blocks[i]`: the memory of member i, `ranks[i]`: its rank in `words`. `start`: the first
  /// sequence number, the same on all members. `slots_have_pages`: if not, a slot gets its pages
  /// when its member first writes as much, so that a member takes only the memory that it needs.
  node_collectives(const std::vector<std::byte*>& blocks, const std::vector<int>& ranks, int member,
                   std::size_t slot_bytes, const wakeup_words<M>& words, std::uint64_t start = 0,
                   bool slots_have_pages = true)
      : words_(&words),
        ranks_(ranks),
        member_(member),
        slot_bytes_(slot_bytes),
        line_count_(lines_of(slot_bytes)),
        next_(start),
        unfinished_(start) {
    for (std::byte* b : blocks) blocks_.push_back(reinterpret_cast<block*>(b));
    finished_.assign(blocks.size(), start);
    with_pages_.fill(slots_have_pages ? slot_bytes : 0);
  }
  /// Before the first call of any member, if `start` is not 0.
  static void start_at(std::byte* memory, std::size_t slot_bytes, std::uint64_t start) noexcept {
    block& b = *reinterpret_cast<block*>(memory);
    b.acknowledged.store(start, std::memory_order_relaxed);
    auto* const lines = reinterpret_cast<post_line*>(&b + 1);
    for (std::uint32_t i = 0; i < lines_of(slot_bytes); ++i)
      lines[i].sequence.store(start, std::memory_order_relaxed);
    // The words of calls by address, which only members with slots have, follow the lines.
    auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(lines + lines_of(slot_bytes));
    for (std::uint32_t i = 0; slot_bytes > 0 && i < lines_of(slot_bytes); ++i)
      words[i].store(start, std::memory_order_relaxed);
  }

  int size() const noexcept { return static_cast<int>(blocks_.size()); }
  int member() const noexcept { return member_; }
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }

  // --- the steps of a call

  /// The number of a new call, or of the first of several that follow one another.
  std::uint64_t begin(std::uint64_t calls = 1) noexcept {
    next_ += calls;
    return next_ - calls;
  }
  /// Whether this member may write an operand of this length for call n now.
  bool may_post(std::uint64_t n, std::size_t bytes) {
    // All members must have finished the calls before this one.
    const std::uint64_t needed = n + 1 - (bytes <= inline_bytes ? line_count_ : T::slot_count);
    if (!has_reached(unfinished_, needed)) [[unlikely]]
      return false;
    for (int i = 0; i < size(); ++i) {
      if (i == member_ || has_reached(finished_[index(i)], needed)) continue;
      finished_[index(i)] = M::acquire(blocks_[index(i)]->acknowledged);
      if (!has_reached(finished_[index(i)], needed)) return false;
    }
    return true;
  }
  /// The address for the operand of this member, aligned to 16. Requires may_post(n, bytes). Throws
  /// lack_of_pages.
  std::byte* operand(std::uint64_t n, std::size_t bytes) {
    if (bytes > inline_bytes && bytes > with_pages_[n % T::slot_count]) [[unlikely]]
      get_pages(n, bytes);
    return place(member_, n, bytes);
  }
  /// `digest` has 56 bits.
  void post(std::uint64_t n, std::uint64_t digest) {
    post_line& line = line_of(member_, n);
    M::set(line.digest, digest | (n - unfinished_) << digest_bits);
    words_->publish(line.sequence, n + 1);
    M::prefetch_for_write(&line_of(member_, n + lines_ahead));
  }
  bool has_posted(std::uint64_t n, int i) {
    const post_line& line = line_of(i, n);
    if (!has_reached(M::acquire(line.sequence), n + 1)) return false;
    const std::uint64_t finished = n - (M::view(line.digest) >> digest_bits);
    if (has_reached(finished, finished_[index(i)])) finished_[index(i)] = finished;
    return true;
  }
  /// The operand and digest of a member that has posted, valid until finish(n).
  const std::byte* operand_of(std::uint64_t n, int i, std::size_t bytes) const noexcept {
    return const_cast<node_collectives*>(this)->place(i, n, bytes);
  }
  std::uint64_t digest_of(std::uint64_t n, int i) const {
    return M::view(line_of(i, n).digest) & ((std::uint64_t{1} << digest_bits) - 1);
  }
  /// Whether this member may finish call n before earlier ones. Only needed for calls in which it
  /// has not waited for a post; others are near enough.
  bool may_finish(std::uint64_t n) const noexcept { return n - unfinished_ <= max_calls_finished_later; }
  /// Ends the call: this member reads no operand of it any more. Wakes members that sleep.
  void finish(std::uint64_t n) {
    if (n == unfinished_) [[likely]] {
      for (++unfinished_; (finished_later_ & 1) != 0; ++unfinished_) finished_later_ >>= 1;
      finished_later_ >>= 1;
      words_->publish(blocks_[index(member_)]->acknowledged, unfinished_);
    } else {
      finished_later_ |= std::uint64_t{1} << (n - unfinished_ - 1);
    }
    wake_members();
  }
  /// Waits until `ready()`, which may make steps, returns true.
  template <class Ready>
  void wait(std::uint32_t reasons, process_waiter& waiter, Ready&& ready) {
    wait_until(*words_, reasons, waiter, ready);
  }
  /// A member calls it between post() and its first wait, if the members of its call do not all
  /// wait for the same posts.
  void wake_members() const {
    for (int i = 0; i < size(); ++i)
      if (i != member_) words_->signal(ranks_[index(i)], wait_for_post | wait_for_acknowledgement);
  }

  // --- calls by address, of members with slots

  // Each member posts an address or reads one, or both. A member that posts one keeps its memory
  // until has_finished(n, i) for all readers. It does not wait for the acknowledgement, which comes
  // after all calls before n.
  void finish_by_address(std::uint64_t n) {
    words_->publish(finished_word(member_, n), n + 1);
    finish(n);
  }
  /// Also true if the word already has a later call. That one was posted after all members had
  /// acknowledged call n.
  bool has_finished(std::uint64_t n, int i) const {
    return has_reached(M::acquire(finished_word(i, n)), n + 1);
  }
  /// This member cannot read the memory of others. It requests messages in all calls that it has
  /// not finished. Requires that it has a call under way.
  void request_messages() {
    block& mine = *blocks_[index(member_)];
    if (M::acquire(mine.requested) != 0) return;
    M::set(mine.requested_from, unfinished_);
    M::set(mine.finished_later, finished_later_);
    words_->publish(mine.requested, std::uint64_t{1});
    wake_members();
  }
  /// Whether member i has requested messages in call n. The result may become true while the member
  /// has not finished the call, and never later. So a member that has finished it without a message
  /// has requested none.
  bool has_requested_messages(std::uint64_t n, int i) const {
    const block& of = *blocks_[index(i)];
    if (M::acquire(of.requested) == 0) [[likely]]
      return false;
    const std::uint64_t from = M::view(of.requested_from);
    if (!has_reached(n, from)) return false;
    const std::uint64_t later = n - from - 1;  // 2^64 - 1 for the first one
    return later >= 64 || (M::view(of.finished_later) >> later & 1) == 0;
  }
  /// The rank of a member in the words.
  int rank_of(int i) const noexcept { return ranks_[index(i)]; }

  // --- blocking calls

  // They call `on_mismatch(i, digest)` if member i makes another call. It must throw.
  template <class Mismatch>
  void barrier(std::uint64_t digest, process_waiter& waiter, Mismatch&& on_mismatch) {
    const std::uint64_t n = begin();
    wait_to_post(n, 0, waiter);
    finish_after(n, [&] {
      post(n, digest);
      wait_for_posts(n, digest, waiter, on_mismatch);
    });
  }
  template <class Mismatch>
  void bcast(void* data, std::size_t bytes, int root, std::uint64_t digest, process_waiter& waiter,
             Mismatch&& on_mismatch) {
    const std::uint64_t n = begin();
    if (member_ == root) wait_to_post(n, bytes, waiter);
    finish_after(n, [&] {
      if (member_ == root) {
        M::write(operand(n, bytes), data, bytes);
        post(n, digest);
      } else {
        wait(wait_for_post, waiter, [&] { return has_posted(n, root); });
        if (const std::uint64_t other = digest_of(n, root); other != digest) [[unlikely]]
          on_mismatch(root, other);
        M::read(data, operand_of(n, root, bytes), bytes);
      }
    });
  }
  /// `combine(accumulator, operand)` sets accumulator = accumulator op operand. The call combines
  /// in member order. `result` may be `data`.
  template <class Combine, class Mismatch>
  void allreduce(const void* data, void* result, std::size_t bytes, std::uint64_t digest, Combine&& combine,
                 process_waiter& waiter, Mismatch&& on_mismatch) {
    const std::uint64_t n = begin();
    wait_to_post(n, bytes, waiter);
    finish_after(n, [&] {
      M::write(operand(n, bytes), data, bytes);
      post(n, digest);
      wait_for_posts(n, digest, waiter, on_mismatch);
      M::read(result, operand_of(n, 0, bytes), bytes);
      for (int i = 1; i < size(); ++i) combine(result, operand_of(n, i, bytes));
    });
  }

  /// A call of one round. This member posts an operand, which `write(to)` writes, if `posts`. Then
  /// `take(i, operand)` gets the operands of the members from `first` to before `end`, in order,
  /// with that of this member. `bytes(i)`: of the operand of member i.
  template <class Bytes, class Write, class Take, class Mismatch>
  void round(std::uint64_t digest, bool posts, int first, int end, Bytes&& bytes, Write&& write, Take&& take,
             process_waiter& waiter, Mismatch&& on_mismatch) {
    const std::uint64_t n = begin();
    if (posts) wait_to_post(n, bytes(member_), waiter);
    finish_after(n, [&] {
      if (posts) {
        write(operand(n, bytes(member_)));
        post(n, digest);
      }
      for (int i = first; i < end; ++i) {
        if (i != member_) {
          if (!has_posted(n, i)) wait(wait_for_post, waiter, [&] { return has_posted(n, i); });
          if (const std::uint64_t other = digest_of(n, i); other != digest) [[unlikely]]
            on_mismatch(i, other);
        }
        take(i, operand_of(n, i, bytes(i)));
      }
    });
  }

 private:
  // Ends a call also if it throws, so that the next calls work.
  template <class Steps>
  void finish_after(std::uint64_t n, Steps&& steps) {
    if constexpr (M::exceptions_end_calls) {
      try {
        steps();
      } catch (...) {
        finish(n);
        throw;
      }
    } else {
      steps();
    }
    finish(n);
  }
  struct alignas(64) post_line {
    std::byte data[inline_bytes];  // aligned for every element that fits
    std::uint64_t digest = 0;
    std::atomic<std::uint64_t> sequence{0};
  };
  struct block {
    alignas(128) std::atomic<std::uint64_t> acknowledged{0};
    // In a line that hardly ever changes, because the others poll it.
    alignas(64) std::atomic<std::uint64_t> requested{0};
    std::uint64_t requested_from = 0, finished_later = 0;
  };
  static_assert(sizeof(post_line) == 64);

  static constexpr std::uint32_t lines_of(std::size_t slot_bytes) noexcept {
    return slot_bytes > 0 ? T::line_count_with_slots : T::line_count;
  }
  static std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }
  static bool has_reached(std::uint64_t value, std::uint64_t wanted) noexcept {
    return static_cast<std::int64_t>(value - wanted) >= 0;
  }
  post_line& line_of(int i, std::uint64_t n) const noexcept {
    return reinterpret_cast<post_line*>(blocks_[index(i)] + 1)[n & (line_count_ - 1)];
  }
  std::atomic<std::uint64_t>& finished_word(int i, std::uint64_t n) const noexcept {
    std::byte* const words =
        reinterpret_cast<std::byte*>(blocks_[index(i)] + 1) + line_count_ * sizeof(post_line);
    return reinterpret_cast<std::atomic<std::uint64_t>*>(words)[n & (line_count_ - 1)];
  }
  std::byte* place(int i, std::uint64_t n, std::size_t bytes) noexcept {
    if (bytes <= inline_bytes) return line_of(i, n).data;
    return reinterpret_cast<std::byte*>(blocks_[index(i)]) + head_bytes(slot_bytes_) +
           n % T::slot_count * slot_bytes_;
  }

  // In steps, so that short calls take little memory, and ones of growing length ask seldom.
  [[gnu::noinline, gnu::cold]] void get_pages(std::uint64_t n, std::size_t bytes) {
    std::size_t& now = with_pages_[n % T::slot_count];
    now = 0;  // a failure takes what there was
    std::size_t wanted = std::min(slot_bytes_, first_pages);
    while (wanted < bytes) wanted = std::min(slot_bytes_, 4 * wanted);
    std::byte* const slot = place(member_, n, bytes);
    if (!M::allocate(slot, wanted) && !M::allocate(slot, wanted = bytes)) throw lack_of_pages{bytes};
    now = wanted;
  }
  void wait_to_post(std::uint64_t n, std::size_t bytes, process_waiter& waiter) {
    if (!may_post(n, bytes)) [[unlikely]]
      wait(wait_for_acknowledgement, waiter, [&] { return may_post(n, bytes); });
  }
  template <class Mismatch>
  void wait_for_posts(std::uint64_t n, std::uint64_t digest, process_waiter& waiter, Mismatch&& on_mismatch) {
    int next = 0;
    wait(wait_for_post, waiter, [&] {
      while (next < size() && (next == member_ || has_posted(n, next))) ++next;
      return next == size();
    });
    for (int i = 0; i < size(); ++i)
      if (i != member_)
        if (const std::uint64_t other = digest_of(n, i); other != digest) [[unlikely]]
          on_mismatch(i, other);
  }

  const wakeup_words<M>* words_;
  std::vector<block*> blocks_;
  std::vector<int> ranks_;
  std::vector<std::uint64_t> finished_;  // the member has finished the calls before (known so far)
  int member_;
  std::size_t slot_bytes_;
  static constexpr std::size_t first_pages = 4096;
  std::array<std::size_t, T::slot_count> with_pages_;  // of each slot of this member, in bytes
  std::uint32_t line_count_;
  std::uint64_t next_;                // the next call
  std::uint64_t unfinished_;          // the first call that this member has not finished
  std::uint64_t finished_later_ = 0;  // bit i: this member has finished call unfinished_ + 1 + i
};

}  // namespace tutti::shm
