// SPDX-License-Identifier: Apache-2.0
//
// Resolves places whose bytes depend on the counts of a call: tables, segments and scratch.
#include "runtime/executor/places.hpp"

#include <algorithm>

namespace tutti::detail {

std::size_t schedule_run::segment_bytes() const noexcept {
  const std::size_t element = call_->type.size, requested = bound_->plan.segment_bytes;
  return std::max<std::size_t>(requested - requested % element, element);
}

// Loops go from block to block, so the sum continues from the last one.
std::uint64_t schedule_run::words_prefix(std::int32_t origin, std::int32_t first) const noexcept {
  if (prefix_.origin != origin || prefix_.first > first) prefix_ = {origin, origin, 0};
  for (; prefix_.first < first; ++prefix_.first)
    prefix_.sum += words_[static_cast<std::size_t>(prefix_.first)];
  return prefix_.sum;
}

void schedule_run::locate_blocks(const place& p, int first, std::size_t& offset,
                                 std::size_t& bytes) const noexcept {
  const std::size_t element = call_->type.size;
  const auto from = static_cast<std::size_t>(first);
  if (p.where == buffer::words) {
    prefix_.origin = -1;
    offset = from * sizeof(std::uint64_t);
    bytes = static_cast<std::size_t>(p.blocks) * sizeof(std::uint64_t);
    return;
  }
  switch (p.how) {
    case partition::uniform:
      offset = from * unit_;
      bytes = static_cast<std::size_t>(p.blocks) * unit_;
      return;
    case partition::split: {
      const auto parts = static_cast<std::size_t>(bound_->plan.parts);
      const std::size_t quotient = call_->count / parts, rest = call_->count % parts;
      const std::size_t to = from + static_cast<std::size_t>(p.blocks);
      offset = (from * quotient + std::min(from, rest)) * element;
      bytes = (to * quotient + std::min(to, rest)) * element - offset;
      return;
    }
    case partition::input_counts:
      offset = call_->in_displs[from] * element;
      bytes = 0;  // several blocks only if they are packed
      for (std::size_t i = from; i < from + static_cast<std::size_t>(p.blocks); ++i)
        bytes += call_->in_counts[i] * element;
      return;
    case partition::output_counts:
      offset = call_->out_displs[from] * element;
      bytes = 0;
      for (std::size_t i = from; i < from + static_cast<std::size_t>(p.blocks); ++i)
        bytes += call_->out_counts[i] * element;
      return;
    case partition::dense: {
      const std::uint64_t before = words_prefix(p.origin, first);
      std::uint64_t sum = 0;
      for (std::size_t i = from; i < from + static_cast<std::size_t>(p.blocks); ++i) sum += words_[i];
      offset = before * element;
      bytes = sum * element;
      return;
    }
    case partition::spaced:
    case partition::padded: {
      const std::size_t width = words_[static_cast<std::size_t>(bound_->plan.width)] * element;
      offset = from * width;
      bytes =
          p.how == partition::spaced ? words_[from] * element : static_cast<std::size_t>(p.blocks) * width;
      return;
    }
  }
  offset = bytes = 0;
}

schedule_run::range schedule_run::locate_indexed(const place& p) const noexcept {
  int first = resolve(p.first);
  if (p.permuted) first = bound_->plan.permutation(first, bound_->plan.ranks);
  std::byte* const base = base_[static_cast<int>(p.where)];
  if (p.how == partition::uniform && !p.segmented && !p.packed && p.where != buffer::words)
    return {base + static_cast<std::size_t>(first) * unit_, static_cast<std::size_t>(p.blocks) * unit_, true};
  std::size_t offset, bytes;
  locate_blocks(p, first, offset, bytes);
  if (p.packed) offset = 0;
  if (p.segmented) {
    const int segment = resolve(p.segment);
    if (p.pieces > 0) {
      if (segment < 0 || segment >= p.pieces) return {base, 0, false};
      const std::size_t element = call_->type.size, all = bytes / element,
                        n = static_cast<std::size_t>(p.pieces);
      const std::size_t at = static_cast<std::size_t>(segment), each = all / n, rest = all % n;
      const std::size_t from = at * each + std::min(at, rest), to = (at + 1) * each + std::min(at + 1, rest);
      return {base + offset + from * element, (to - from) * element, true};
    }
    const std::size_t each = segment_bytes();
    const std::size_t at = static_cast<std::size_t>(segment) * each;
    if (segment < 0 || at >= bytes) return {base, 0, false};
    return {base + offset + at, std::min(each, bytes - at), true};
  }
  return {base + offset, bytes, true};
}

std::int32_t schedule_run::trips(const trip_count& t) const noexcept {
  if (t.per_segment == 0) return t.fixed;
  const std::size_t element = call_->type.size;
  std::size_t max_bytes = unit_;
  if (t.per_segment == 2) {
    const auto parts = static_cast<std::size_t>(bound_->plan.parts);
    max_bytes = (call_->count + parts - 1) / parts * element;
  }
  const std::size_t each = segment_bytes();
  return t.fixed + static_cast<std::int32_t>((max_bytes + each - 1) / each);
}

// The maximum number of bytes of a place, for all values of the loop counters.
std::size_t schedule_run::max_bytes(const place& p) const noexcept {
  const auto n = static_cast<std::size_t>(std::max(1, p.blocks));
  // Places with tables of words are never combined.
  if (p.how != partition::input_counts && p.how != partition::output_counts) return n * unit_;
  const counts_view& counts = p.how == partition::input_counts ? call_->in_counts : call_->out_counts;
  std::size_t max_count = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) max_count = std::max(max_count, counts[i]);
  return n * max_count * call_->type.size;
}

// Allocates the scratch buffers. If the engine cannot provide received operands in place, it also
// allocates staging memory for them.
void schedule_run::allocate_scratch() {
  const schedule& s = bound_->plan;
  std::size_t sizes[scratch_count], sum = 0;
  for (int i = 0; i < scratch_count; ++i) {
    const scratch_size& size = s.scratch[i];
    std::size_t block = unit_;
    if (size.how == partition::split) {
      const auto parts = static_cast<std::size_t>(s.parts);
      block = (call_->count + parts - 1) / parts * call_->type.size;
    } else if (size.how == partition::input_counts || size.how == partition::output_counts) {
      place one;
      one.how = size.how;
      block = max_bytes(one);
    }
    sizes[i] = (std::max(static_cast<std::size_t>(size.blocks) * block, size.bytes) + 63) / 64 * 64;
    sum += sizes[i];
  }
  std::size_t staging = 0;
  if (bound_->where.ep().node() == nullptr)
    for (const step& one : s.steps)
      if (one.kind == step_kind::recv_reduce) staging = std::max(staging, max_bytes(one.target));
  staging = (staging + 63) / 64 * 64;
  const std::size_t all = sum + staging * std::max<std::size_t>(1, bound_->max_recvs);
  if (all > memory_bytes_) {
    memory_.reset(new std::byte[all + 64]);
    memory_bytes_ = all;
  }
  auto* at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory_.get()) + 63) / 64 * 64);
  for (int i = 0; i < scratch_count; ++i) {
    base_[static_cast<int>(buffer::scratch0) + i] = at;
    at += sizes[i];
  }
  staging_ = at;
  scratch_owner_ = bound_;
  scratch_unit_ = unit_;
  scratch_element_ = call_->type.size;
}

// Allocates scratch memory whose size is known only now. It is kept for the next run, which usually
// needs no more.
void schedule_run::reserve(const place& p) {
  std::size_t offset, bytes;
  locate_blocks(p, resolve(p.first), offset, bytes);
  if (!reserved_) reserved_.reset(new reserved[scratch_count]);
  reserved& r = reserved_[static_cast<int>(p.where) - static_cast<int>(buffer::scratch0)];
  if (offset + bytes > r.bytes || r.memory == nullptr) {
    r.bytes = std::max<std::size_t>(offset + bytes, 64);
    r.memory.reset();
    r.memory.reset(new std::byte[r.bytes]);
  }
  base_[static_cast<int>(p.where)] = r.memory.get();
  scratch_owner_ = nullptr;  // forces the next run to call allocate_scratch()
}

}  // namespace tutti::detail
