// SPDX-License-Identifier: Apache-2.0
//
// The warm call: one like the last of its collective, of which all is known. Every instruction here is paid
// by every call, so the short ways come first and alone, and what differs leaves for communicator_impl.cpp.
#include "communicator/cached_call.hpp"

#include <cstddef>
#include <cstring>

namespace tutti::detail {

// All agreed fields but the pointers and the count, as words: the first 24 bytes of a call, and what is known
// of its operator; and no names, which are never those of the call before. One test, since all of it usually
// holds.
inline bool communicator_impl::same_head(const call& c, const cached_call& r) noexcept {
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

// The last call with another count: what it needs is known, if such a count was asked for before.
bool communicator_impl::take_count_interval(std::uint64_t count, cached_call& r) noexcept {
  if (r.by_count == nullptr || count == 0) return false;
  const count_interval& one = r.by_count->at(count);
  if (one.found == nullptr) return false;
  r.count = count;
  r.kernel = one.kernel;
  choose_way(r, one.how);
  r.found = one.found;
  r.algorithm = r.site.algorithm = one.found->name;
  return true;
}

// Whether the call may take what was found for the last one, or for one of that stretch of counts.
bool communicator_impl::is_in_cache(const call& c, cached_call& r) noexcept {
  return r.steady && same_head(c, r) && same_pointers(c.input, c.output, c.op.combine, r) &&
         (c.count == r.count || take_count_interval(c.count, r));
}

void communicator_impl::choose_way(cached_call& r, way how) noexcept {
  r.how = how;
  r.go = how == way::native && r.count <= r.kept->ready.most ? r.kept->ready.go : nullptr;
}

void communicator_impl::remember(const call& c, prepared& p) {
  cached_call& r = cache_[static_cast<std::size_t>(c.what)];
  std::uint64_t head[4];
  std::memcpy(head, static_cast<const void*>(&c), 24);
  std::memcpy(head + 3, &c.op.which, 8);
  // What other counts need is looked for when there is one: most communicators of short lives see none.
  const bool counts_differ = r.found != nullptr && std::memcmp(r.head, head, sizeof head) == 0;
  std::memcpy(r.head, head, sizeof head);
  r.count = c.count;
  r.pointers = pointers_of(c.input, c.output, c.op.combine);
  r.two = c.input != nullptr && c.output != nullptr && c.input != c.output;
  r.steady =
      !is_vector_form(c.what) && !shared_->set.check && c.algorithm == nullptr && c.composition == nullptr;
  r.quick = r.steady && shared_->trace == nullptr;
  r.kernel = kernel_for(c);
  r.found = &p;
  cache_last(c, r);
  choose_way(r, way_of(p, c.count * c.type.size, r.kernel != nullptr));
  r.algorithm = p.name;
  r.site = {name_of(c.what).data(), p.name, "the other members", -1, -1, 0};
  r.by_count = nullptr;
  if (!r.steady || !shared_->by->trees || c.count == 0) return;
  r.by_count = count_intervals_of(c, counts_differ);
  if (r.by_count == nullptr) return;
  count_interval& one = r.by_count->at(c.count);
  one.found = &p;
  one.kernel = r.kernel;
  // More bytes than any block has, where the stretch is open.
  one.how =
      way_of(p, one.upper_bound < PTRDIFF_MAX / c.type.size ? one.upper_bound * c.type.size : PTRDIFF_MAX,
             r.kernel != nullptr);
}

// The shortest that serves blocks of so many bytes and fewer.
communicator_impl::way communicator_impl::way_of(const prepared& p, std::uint64_t bytes,
                                                 bool other_kernel) const noexcept {
  if (other_kernel || p.bound == nullptr) return way::plain;
  if (p.chosen.pure == nullptr) return way::native;
  return p.bound->serves_simple(bytes) ? way::simple : way::plain;
}

// Part of whoever calls it: the way to a native collective is short enough for a call to be felt.
[[gnu::always_inline]] inline void communicator_impl::dispatch_cached_call(const call& c, cached_call& r) {
  if (!shared_->active.empty()) [[unlikely]]
    return run_with_progress(c, r);
  switch (r.how) {
    case way::native:
      if (r.go != nullptr) return run_ready(r, c.input, c.output);
      r.site.run = next_number_of_call();
      return guarded([&] { where_->native(c, r.site); });
    case way::simple:
      return guarded([&] { r.found->blocking->run_simple(*r.found->bound, c, next_number_of_call()); });
    case way::plain:
      return run_with_progress(c, r);
  }
}

void communicator_impl::run_cached_call(const call& c, cached_call& r) { dispatch_cached_call(c, r); }

void communicator_impl::run_blocking(const call& c) {
  check_thread(name_of(c.what).data());
  cached_call& r = cache_[static_cast<std::size_t>(c.what)];
  if (!r.quick || !same_head(c, r) || !same_pointers(c.input, c.output, c.op.combine, r)) [[unlikely]]
    return run_uncached(c);
  if (c.count != r.count) [[unlikely]]
    return run_other_count(c, r);
  dispatch_cached_call(c, r);
}

void communicator_impl::run_other_count(const call& c, cached_call& r) {
  if (!take_count_interval(c.count, r)) [[unlikely]]
    return run_uncached(c);
  run_cached_call(c, r);
}

}  // namespace tutti::detail
