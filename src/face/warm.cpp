// SPDX-License-Identifier: Apache-2.0
//
// The warm call: one like the last of its collective, of which all is known. Every instruction here is paid
// by every call, so the short ways come first and alone, and what differs leaves for core.cpp.
#include <cstddef>
#include <cstring>

#include "face/core.hpp"

namespace tutti::detail {

// All agreed fields but the pointers and the count, as words: the first 24 bytes of a call, and what is known
// of its operator; and no names, which are never those of the call before. One test, since all of it usually
// holds.
inline bool core::same_head(const call& c, const recent& r) noexcept {
  static_assert(offsetof(call, count) == 24 && offsetof(operation, unused) == offsetof(operation, which) + 2);
  const auto word = [](const void* at, std::size_t i) {
    std::uint64_t w;
    std::memcpy(&w, static_cast<const std::byte*>(at) + i * sizeof w, sizeof w);
    return w;
  };
  const auto named =
      reinterpret_cast<std::uintptr_t>(c.algorithm) | reinterpret_cast<std::uintptr_t>(c.composition);
  return ((word(&c, 0) ^ r.head[0]) | (word(&c, 1) ^ r.head[1]) | (word(&c, 2) ^ r.head[2]) |
          (word(&c.op.which, 0) ^ r.head[3]) | named) == 0;
}

// Which pointers there are, and whether the buffers are one.
inline std::uint8_t core::pointers_of(const call& c) noexcept {
  return static_cast<std::uint8_t>((c.input != nullptr) | (c.output != nullptr) << 1 |
                                   (c.input == c.output) << 2 | (c.op.combine != nullptr) << 3);
}

// Two buffers are the usual case, and quickly told; then the operator is taken to be there as it was before.
inline bool core::same_pointers(const call& c, const recent& r) noexcept {
  if (r.two) [[likely]]
    return c.input != nullptr && c.output != nullptr && c.input != c.output;
  return r.pointers == pointers_of(c);
}

// The last call with another count: what it needs is known, if such a count was asked for before.
inline bool core::take_spell(std::uint64_t count, recent& r) noexcept {
  if (r.by_count == nullptr || count == 0) return false;
  const spell& one = r.by_count->at(count);
  if (one.found == nullptr) return false;
  r.count = count;
  r.kernel = one.kernel;
  r.how = one.how;
  r.found = one.found;
  r.algorithm = r.site.algorithm = one.found->name;
  return true;
}

// Whether the call may take what was found for the last one, or for one of that stretch of counts.
bool core::is_like(const call& c, recent& r) noexcept {
  return r.steady && same_head(c, r) && same_pointers(c, r) && (c.count == r.count || take_spell(c.count, r));
}

void core::remember(const call& c, prepared& p) {
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  std::memcpy(r.head, static_cast<const void*>(&c), 24);
  std::memcpy(r.head + 3, &c.op.which, 8);
  r.count = c.count;
  r.pointers = pointers_of(c);
  r.two = c.input != nullptr && c.output != nullptr && c.input != c.output;
  r.steady =
      !is_vector_form(c.what) && !shared_->set.check && c.algorithm == nullptr && c.composition == nullptr;
  r.quick = r.steady && shared_->trace == nullptr;
  r.kernel = kernel_for(c);
  r.how = way_of(p, c.count * c.type.size, r.kernel != nullptr);
  r.found = &p;
  r.algorithm = p.name;
  r.site = {name_of(c.what).data(), p.name, "the other members", -1, -1, 0};
  r.by_count = nullptr;
  r.counts = nullptr;
  if (!r.steady || !shared_->by->trees || c.count == 0) return;
  r.by_count = &spells_of(c);
  spell& one = r.by_count->at(c.count);
  one.found = &p;
  one.kernel = r.kernel;
  // More bytes than any block has, where the stretch is open.
  one.how = way_of(p, one.upto < PTRDIFF_MAX / c.type.size ? one.upto * c.type.size : PTRDIFF_MAX,
                   r.kernel != nullptr);
}

// The shortest that serves blocks of so many bytes and fewer.
core::way core::way_of(const prepared& p, std::uint64_t bytes, bool other_kernel) const noexcept {
  if (other_kernel || p.bound == nullptr) return way::plain;
  if (p.chosen.pure == nullptr) return mixing_ && where_->door().node() == nullptr ? way::plain : way::native;
  return p.bound->serves_straight(bytes) ? way::straight : way::plain;
}

// Part of whoever calls it: the way to a native collective is short enough for a call to be felt.
[[gnu::always_inline]] inline void core::go_again(const call& c, recent& r) {
  if (!shared_->active.empty()) [[unlikely]]
    return run_plainly(c, r);
  switch (r.how) {
    case way::native:
      r.site.run = next_++;
      return guarded([&] { where_->native(c, r.site); });
    case way::straight:
      return guarded([&] { r.found->blocking->run_straight(*r.found->bound, c, next_++); });
    case way::plain:
      return run_plainly(c, r);
  }
}

void core::run_again(const call& c, recent& r) { go_again(c, r); }

void core::run_blocking(const call& c) {
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  if (!r.quick || !same_head(c, r) || !same_pointers(c, r)) [[unlikely]]
    return run_otherwise(c);
  if (c.count != r.count) [[unlikely]]
    return run_another_count(c, r);
  go_again(c, r);
}

// --- calls with counts

void core::numbers::take(const counts_view& v) {
  size = v.given() ? v.size() : 0;
  width = v.given() ? v.width() : 0;
  const auto* from = static_cast<const std::byte*>(v.data());
  copy.assign(from, from + size * width);
}

// A few numbers are compared faster here than by a function.
inline bool core::numbers::same(const counts_view& v) const noexcept {
  if (v.data() == nullptr) return width == 0;
  if (v.size() != size || v.width() != width) return false;
  const std::size_t bytes = size * width;
  const auto *a = static_cast<const std::byte*>(v.data()), *b = copy.data();
  if (bytes > 64) [[unlikely]]
    return std::memcmp(a, b, bytes) == 0;
  for (std::size_t i = 0; i < bytes; i += 4) {
    std::uint32_t x, y;
    std::memcpy(&x, a + i, 4);
    std::memcpy(&y, b + i, 4);
    if (x != y) return false;
  }
  return true;
}

bool core::run_like_last(call& c, std::size_t input_length, std::size_t output_length) {
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  const last_counts* const last = r.counts;
  if (last == nullptr || !same_head(c, r) || !same_pointers(c, r) || c.count != r.count ||
      input_length != last->input_length || output_length != last->output_length ||
      !last->in_counts.same(c.in_counts) || !last->in_displs.same(c.in_displs) ||
      !last->out_counts.same(c.out_counts) || !last->out_displs.same(c.out_displs))
    return false;
  if (!c.in_displs.given()) c.in_displs = {last->dense_in.data(), last->dense_in.size()};
  if (!c.out_displs.given()) c.out_displs = {last->dense_out.data(), last->dense_out.size()};
  go_again(c, r);
  return true;
}

void core::keep_lengths(const call& c, std::size_t input_length, std::size_t output_length) {
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  if (shared_->set.check || shared_->trace || c.algorithm != nullptr || c.composition != nullptr ||
      r.found == nullptr || r.found->bound == nullptr)
    return;
  if (r.how == way::straight) r.how = way::plain;
  last_counts_.resize(recent_.size());
  auto& kept = last_counts_[static_cast<std::size_t>(c.what)];
  if (!kept) kept = std::make_unique<last_counts>();
  kept->in_counts.take(c.in_counts);
  kept->in_displs.take(c.in_displs);
  kept->out_counts.take(c.out_counts);
  kept->out_displs.take(c.out_displs);
  with_displacements(c, kept->dense_in, kept->dense_out);
  kept->input_length = input_length;
  kept->output_length = output_length;
  r.counts = kept.get();
}

void core::run_another_count(const call& c, recent& r) {
  if (!take_spell(c.count, r)) [[unlikely]]
    return run_otherwise(c);
  run_again(c, r);
}

}  // namespace tutti::detail
