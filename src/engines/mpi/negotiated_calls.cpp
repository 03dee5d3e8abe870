// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/negotiated_calls.hpp"

#include <algorithm>
#include <chrono>

#include "base/compute/kernels.hpp"
#include "engines/mpi/address_calls.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "transport/shm/shared_arena.hpp"

namespace tutti::mpi {
namespace {

using memory = shm::process_memory;
using step = memory_progress::negotiation_step;

// The buffers of a member that the others access.
struct buffers {
  bool input, output;
};
buffers accessed(collective what, bool is_root, bool is_first, bool in_place) noexcept {
  switch (what) {
    case collective::bcast:
      return {is_root, !is_root};
    case collective::scatter:
      return {is_root, false};
    case collective::gather:
      return {false, is_root};
    case collective::allgather:
      return {false, true};
    case collective::allgatherv:  // displacements are local, so the members pull
    case collective::reduce_scatter_block:
      return {true, false};
    case collective::alltoall:
      return {!in_place, in_place};
    case collective::reduce:
      return {!in_place, is_root};
    case collective::exscan:  // the first member has no result, only its operand
      return is_first ? buffers{!in_place, in_place} : buffers{!in_place, true};
    default:  // allreduce, scan
      return {!in_place, true};
  }
}

double microseconds_now() noexcept {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// The offset of no data. The arena begins with its header, so no buffer lies there.
constexpr std::uint64_t nothing = 0;

// What the others read through `input`.
const std::byte* shared_input(const call& c, int member) noexcept {
  const bool in_output = c.in_place && (c.what == collective::bcast || c.what == collective::allgatherv);
  const std::size_t at = in_output && c.what == collective::allgatherv ? offset_in_output(c, member) : 0;
  return static_cast<const std::byte*>(in_output ? c.output : c.input) + at;
}

struct lengths {
  std::size_t input, output;
};
lengths lengths_of(const call& c, int size, int member) noexcept {
  const auto p = static_cast<std::size_t>(size);
  const std::size_t block = c.count * c.type.size;
  switch (c.what) {
    case collective::scatter:
    case collective::reduce_scatter_block:
      return {p * block, block};
    case collective::gather:
    case collective::allgather:
      return {block, p * block};
    case collective::alltoall:
      return {p * block, p * block};
    case collective::allgatherv:
      return {c.out_counts[static_cast<std::size_t>(member)] * c.type.size, 0};
    default:
      return {block, block};
  }
}

}  // namespace

negotiated_calls::negotiated_calls(mpi_endpoint& ep, node_memory::collectives& of,
                                   std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch)
    : ep_(ep),
      of_(of),
      on_mismatch_(std::move(on_mismatch)),
      shares_(ep.memory().shares_buffers()),
      min_shared_bytes_(ep.memory().min_bytes_in_shared_buffers()),
      min_shared_block_bytes_(
          std::max<std::size_t>(1, min_shared_bytes_ / static_cast<std::size_t>(of.size()))),
      min_measured_(ep.memory().min_measured_part_bytes(ep.is_oversubscribed())),
      posted_times_(static_cast<std::size_t>(of.size())),
      calls_(posted_times_.size()),
      published_(calls_.size()) {
  for (std::size_t i = 0; i < calls_.size(); ++i) published_[i].what = &calls_[i];
}

bool negotiated_calls::looks_for_buffers(collective what, std::size_t bytes) const noexcept {
  const bool has_blocks =
      what == collective::gather || what == collective::allgather || detail::posts_blocks_for_all(what);
  return shares_ && bytes >= (has_blocks ? min_shared_block_bytes_ : min_shared_bytes_);
}

// A measured operand is at least as long as its parts.
std::size_t negotiated_calls::shortest(std::size_t min_shared) const noexcept {
  const std::size_t none = ~std::size_t{0};
  return std::max<std::size_t>(1, std::min(shares_ ? min_shared : none, min_measured_.value_or(none)));
}

std::size_t negotiated_calls::min_bytes() const noexcept { return shortest(min_shared_bytes_); }

std::size_t negotiated_calls::min_block_bytes() const noexcept { return shortest(min_shared_block_bytes_); }

bool negotiated_calls::choose_by_address(const memory_progress& p) {
  for (int i = 0; i < of_.size(); ++i)
    posted_times_[static_cast<std::size_t>(i)] = posted_info(p.number, i).times;
  return is_faster_by_address(posted_times_, p.by_address);
}

void negotiated_calls::record(const call& c, std::size_t bytes, const memory_progress& p) noexcept {
  constexpr float shortest = 0.001f;  // call_times are more than 0
  const auto took = static_cast<float>(microseconds_now() - p.began);
  times_.record(c, bytes, p.by_address, std::max(took, shortest));
}

bool negotiated_calls::advance(const call& c, std::size_t bytes, memory_progress& p, bool overlaps) {
  if (p.negotiation == step::exchange) {
    if (!p.posted) {
      member_info mine = info_of(c);
      if (p.chosen_by_time) mine.times = times_.of(c, bytes, !overlaps);
      if (!post(p, &mine, overlaps)) return false;
    }
    if (!all_have_posted(p)) return false;
    const bool shared = shares_ && are_shared(c, p.number);
    if (!shared && p.chosen_by_time) p.by_address = choose_by_address(p);
    if (shared) {
      // The others work in the buffers of this member, so it must not return before they have
      // finished.
      try {
        find_buffers(c, p.number);
        work(c);
      } catch (...) {
        failures_.emplace_back(p.number + p.rounds_left, std::current_exception());
      }
    }
    end_step(p);
    p.negotiation = shared ? step::finish : step::none;
    if (!shared) {
      --p.rounds_left;
      of_.finish(p.number++);  // that of step 3
      if (p.chosen_by_time) {
        p.began = microseconds_now();
        p.negotiation = step::skip_unneeded;
      }
    }
  }
  if (p.negotiation == step::skip_unneeded) {
    if (!skip(p, p.by_address ? address_calls::rounds(c.what) : p.pieces.rounds())) return false;
    p.negotiation = step::none;
  }
  if (p.negotiation == step::finish) {
    if (!p.posted && !post(p, nullptr, overlaps)) return false;
    // A member that has left the call has posted, and its program may have reused the buffers.
    if (!all_have_posted(p) || ep_.memory().segment().has_left_calls()) return false;
    end_step(p);
    p.by_address = p.chosen_by_time = false;
    p.negotiation = step::skip_all;
  }
  if (p.negotiation == step::skip_all) {
    if (!skip(p, 0)) return false;
    p.negotiation = step::none;
    if (!failures_.empty()) [[unlikely]]
      rethrow_failure(p.number);
  }
  return true;
}

// Finishes numbers until `left` of the call are left.
bool negotiated_calls::skip(memory_progress& p, std::uint64_t left) {
  for (; p.rounds_left > left; --p.rounds_left, ++p.number) {
    if (!of_.may_finish(p.number)) return false;
    of_.finish(p.number);
  }
  return true;
}

bool negotiated_calls::post(memory_progress& p, const member_info* of, bool overlaps) {
  if (!of_.may_post(p.number, sizeof(member_info))) return false;
  if (of != nullptr) memory::write(of_.operand(p.number, sizeof *of), of, sizeof *of);
  of_.post(p.number, p.digest);
  if (overlaps) of_.wake_members();
  p.next = 0;
  p.posted = true;
  return true;
}

// The last member to arrive wakes the others, before it works.
bool negotiated_calls::all_have_posted(memory_progress& p) {
  for (; p.next < of_.size(); ++p.next) {
    if (p.next == of_.member()) continue;
    if (!of_.has_posted(p.number, p.next)) return false;
    if (const std::uint64_t other = of_.digest_of(p.number, p.next); other != p.digest) [[unlikely]]
      on_mismatch_(p.digest, p.next, other);
  }
  of_.wake_members();
  return true;
}

void negotiated_calls::rethrow_failure(std::uint64_t end_of_call) {
  for (auto one = failures_.begin(); one != failures_.end(); ++one) {
    if (one->first != end_of_call) continue;
    const std::exception_ptr failure = one->second;
    failures_.erase(one);
    std::rethrow_exception(failure);
  }
}

void negotiated_calls::end_step(memory_progress& p) {
  of_.finish(p.number++);
  --p.rounds_left;
  p.next = 0;
  p.posted = false;
}

negotiated_calls::member_info negotiated_calls::info_of(const call& c) const {
  member_info mine;
  mine.in_place = c.in_place ? 1 : 0;
  if (!shares_) return mine;
  // In place, the result would overwrite what others read.
  if (c.what == collective::reduce_scatter_block && c.in_place) return mine;
  const int member = of_.member();
  const buffers needed = accessed(c.what, member == c.root, member == 0, c.in_place);
  const lengths bytes = lengths_of(c, of_.size(), member);
  const auto find = [](const void* buffer, std::size_t n) {
    return n == 0 ? nothing : static_cast<std::uint64_t>(shm::shared_arena::offset_of(buffer, n));
  };
  if (needed.input) mine.input = find(shared_input(c, member), bytes.input);
  if (needed.output) mine.output = find(c.output, bytes.output);
  if (!ep_.memory().publish_arena()) mine.input = mine.output = member_info::not_shared;
  return mine;
}

negotiated_calls::member_info negotiated_calls::posted_info(std::uint64_t number, int i) const {
  member_info at;
  memory::read(&at, of_.operand_of(number, i, sizeof at), sizeof at);
  return at;
}

// The same result on all members.
bool negotiated_calls::are_shared(const call& c, std::uint64_t number) const {
  static_assert(member_info::not_shared == shm::shared_arena::npos);
  for (int i = 0; i < of_.size(); ++i) {
    const member_info at = posted_info(number, i);
    const buffers needed = accessed(c.what, i == c.root, i == 0, at.in_place != 0);
    if ((needed.input && at.input == member_info::not_shared) ||
        (needed.output && at.output == member_info::not_shared))
      return false;
  }
  return true;
}

// Fills calls_. A member without data, or whose buffers nobody accesses, may have no arena.
void negotiated_calls::find_buffers(const call& c, std::uint64_t number) {
  for (int i = 0; i < of_.size(); ++i) {
    call& seen = calls_[static_cast<std::size_t>(i)];
    seen = c;
    if (i == of_.member()) {
      seen.input = shared_input(c, i);
      continue;
    }
    const member_info at = posted_info(number, i);
    const buffers needed = accessed(c.what, i == c.root, i == 0, at.in_place != 0);
    const auto find = [&](bool is_needed, std::uint64_t offset) {
      return is_needed && offset != nothing ? ep_.memory().arena_of(of_.rank_of(i), c) + offset : nullptr;
    };
    seen.in_place = at.in_place != 0;
    seen.input = find(needed.input, at.input);
    seen.output = find(needed.output, at.output);
  }
}

void negotiated_calls::work(const call& c) {
  ep_.memory().count_call_in_buffers();
  if (c.what != collective::allgatherv) return shm::work_slice({published_.data(), of_.size(), of_.member()});
  for (int d = 0; d < of_.size(); ++d) {  // not all members begin with the same one
    const int i = (of_.member() + d) % of_.size();
    std::byte* const to = static_cast<std::byte*>(c.output) + offset_in_output(c, i);
    const std::size_t bytes = c.out_counts[static_cast<std::size_t>(i)] * c.type.size;
    const void* const from = calls_[static_cast<std::size_t>(i)].input;
    if (bytes > 0 && to != from) compute::copy(to, from, bytes);
  }
}

}  // namespace tutti::mpi
