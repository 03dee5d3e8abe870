// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/varying_blocks.hpp"

#include <algorithm>
#include <utility>

#include "engines/mpi/mpi_endpoint.hpp"
#include "transport/shm/length_mismatch.hpp"

namespace tutti::mpi {
namespace {

using memory = shm::process_memory;

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t line_bytes = node_memory::collectives::inline_bytes;
constexpr std::size_t in_slot_bytes = line_bytes + 1;  // any length that needs a slot

}  // namespace

bool varying_blocks::reads(const call& c, int reader, int owner) const noexcept {
  if (reader == owner) return false;
  return c.what == collective::gatherv ? reader == c.root : c.what != collective::scatterv || owner == c.root;
}

int varying_blocks::readers_of(const call& c, int owner) const noexcept {
  switch (c.what) {
    case collective::gatherv:
      return owner == c.root ? 0 : 1;
    case collective::scatterv:
      return owner == c.root ? of_.size() - 1 : 0;
    default:
      return of_.size() - 1;
  }
}

std::size_t varying_blocks::word_of(const call& c, int reader, int owner) const noexcept {
  if (c.what == collective::gatherv) return 0;
  return static_cast<std::size_t>(reader < owner ? reader : reader - 1);
}

varying_blocks::block varying_blocks::block_for(const call& c, int reader) const noexcept {
  const auto* const input = static_cast<const std::byte*>(c.input);
  if (c.what == collective::gatherv) return {input, c.count * c.type.size};
  // In place, an alltoallv sends the blocks that it replaces.
  const bool in_output = c.what == collective::alltoallv && c.in_place;
  const counts_view& counts = in_output ? c.out_counts : c.in_counts;
  const counts_view& displs = in_output ? c.out_displs : c.in_displs;
  const std::size_t bytes = counts[static_cast<std::size_t>(reader)] * c.type.size;
  if (bytes == 0) return {nullptr, 0};
  const auto* const from = in_output ? static_cast<const std::byte*>(c.output) : input;
  return {from + block_offset(counts, displs, reader) * c.type.size, bytes};
}

varying_blocks::place varying_blocks::place_of(const call& c, int owner) const noexcept {
  auto* const output = static_cast<std::byte*>(c.output);
  if (c.what == collective::scatterv) return {output, c.count * c.type.size};
  const std::size_t bytes = c.out_counts[static_cast<std::size_t>(owner)] * c.type.size;
  if (bytes == 0) return {nullptr, 0};
  return {output + offset_in_output(c, owner), bytes};
}

void varying_blocks::copy_own(const call& c) const noexcept {
  const int me = of_.member();
  if (c.in_place || (c.what != collective::alltoallv && me != c.root)) return;
  const block own = block_for(c, me);
  const place to = place_of(c, me);
  memory::read(to.data, own.data, std::min(own.bytes, to.bytes));
}

// In member order, each block that still fits is in the post, and the others are messages. The
// messages follow the post, so that no reader waits for them before it reads its block. The reader
// that takes the block of this member first gets its message first.
bool varying_blocks::post(const call& c, memory_progress& p) {
  const int me = of_.member(), readers = readers_of(c, me);
  if (readers == 0) return true;
  if (!of_.may_post(p.number, line_bytes)) return false;
  const std::size_t head = static_cast<std::size_t>(readers) * word_bytes;
  std::size_t all = head;
  for (int i = 0; i < of_.size(); ++i)
    if (reads(c, i, me)) all += block_for(c, i).bytes;
  const bool in_line = word_bytes + all <= line_bytes;
  if (!in_line && !of_.may_post(p.number, in_slot_bytes)) return false;
  const std::uint64_t place_word = in_line ? 0 : 1;
  std::byte* const line = of_.operand(p.number, line_bytes);
  memory::write(line, &place_word, word_bytes);
  std::byte* const to =
      in_line ? line + word_bytes : of_.operand(p.number, std::clamp(all, in_slot_bytes, of_.slot_bytes()));
  const std::size_t end = in_line ? all : of_.slot_bytes();
  std::size_t at = head;
  bool has_messages = false;
  for (int i = 0; i < of_.size(); ++i) {
    if (!reads(c, i, me)) continue;
    const block one = block_for(c, i);
    std::uint64_t word = std::uint64_t{at} << offset_bits | one.bytes;
    if (one.bytes > end - at) {
      word = as_message | one.bytes;
      has_messages = true;
    } else {
      memory::write(to + at, one.data, one.bytes);
      at += one.bytes;
    }
    memory::write(to + word_of(c, i, me) * word_bytes, &word, word_bytes);
  }
  of_.post(p.number, p.digest);
  if (!has_messages) return true;
  for (int d = 1; d < of_.size(); ++d) {
    const int i = (me + of_.size() - d) % of_.size();
    if (!reads(c, i, me)) continue;
    std::uint64_t word = 0;
    memory::read(&word, to + word_of(c, i, me) * word_bytes, word_bytes);
    if ((word & as_message) != 0) send(c, p.number, i);
  }
  of_.wake_members();  // this member waits longer than the readers of its post
  return true;
}

void varying_blocks::send(const call& c, std::uint64_t n, int reader) {
  block one = block_for(c, reader);
  aligned_bytes copy;
  if (c.what == collective::alltoallv && c.in_place) {  // a block that arrives replaces it
    copy = allocate_aligned(one.bytes);
    memory::read(copy.get(), one.data, one.bytes);
    one.data = copy.get();
  }
  messages_.send(n, of_.rank_of(reader), one.data, one.bytes, std::move(copy));
}

bool varying_blocks::take(const call& c, memory_progress& p, int owner) {
  const place to = place_of(c, owner);
  std::uint64_t place_word = 0, word = 0;
  const std::byte* const line = of_.operand_of(p.number, owner, line_bytes);
  memory::read(&place_word, line, word_bytes);
  const std::byte* const post =
      place_word == 0 ? line + word_bytes : of_.operand_of(p.number, owner, in_slot_bytes);
  memory::read(&word, post + word_of(c, of_.member(), owner) * word_bytes, word_bytes);
  const bool is_message = (word & as_message) != 0;
  const std::size_t bytes = is_message ? word & ~as_message : word & max_bytes_in_post;
  const int rank = of_.rank_of(owner);
  if (bytes != to.bytes) [[unlikely]] {
    // The call goes on, so that nobody waits for this member, and throws at its end.
    if (is_message && !messages_.discard(p.number, rank, bytes, site_of(c))) return false;
    p.wrong_owner = owner;
    p.at = bytes;
    return true;
  }
  if (is_message) return messages_.receive(p.number, rank, to.data, bytes, site_of(c));
  memory::read(to.data, post + (word >> offset_bits), bytes);
  return true;
}

void varying_blocks::throw_wrong_length(const call& c, const memory_progress& p) const {
  const auto job_rank = [&](int member) { return ep_.job_rank_of(of_.rank_of(member)); };
  detail::throw_length_mismatch(site_of(c).operation, ep_.rank(),
                                {job_rank(p.wrong_owner), ep_.rank(), p.at, place_of(c, p.wrong_owner).bytes},
                                [](const auto& e) { throw e; });
}

bool varying_blocks::advance(const call& c, memory_progress& p, bool overlaps) {
  if (!p.posted) {
    if (!post(c, p)) return false;
    if (overlaps) of_.wake_members();
    copy_own(c);
    p.next = 1;
    p.posted = true;
  }
  messages_.progress();
  for (; p.next < of_.size(); ++p.next) {
    const int i = (of_.member() + p.next) % of_.size();
    if (!reads(c, of_.member(), i)) continue;
    if (!of_.has_posted(p.number, i)) return false;
    if (const std::uint64_t other = of_.digest_of(p.number, i); other != p.digest) [[unlikely]]
      on_mismatch_(p.digest, i, other);
    if (!take(c, p, i)) return false;
  }
  if (!messages_.all_sent(p.number, p.number, site_of(c))) return false;
  messages_.end(p.number);
  of_.finish(p.number++);
  p.rounds_left = 0;
  if (p.wrong_owner >= 0) [[unlikely]]
    throw_wrong_length(c, p);
  return true;
}

}  // namespace tutti::mpi
