// SPDX-License-Identifier: Apache-2.0
//
// A call that is told from the last one before it is laid down (tutti/detail/repeat_call.hpp): the shortest
// way of all. What differs returns false, and comes back by run_call().
#include <algorithm>
#include <cstring>
#include <utility>

#include "communicator/cached_call.hpp"

namespace tutti::detail {

// What the call can be told by, where it has no counts; with counts cache_call() says it.
void communicator_impl::cache_last(const call& c, cached_call& r) {
  if (!r.kept) r.kept = std::make_unique<repeat_call>();
  repeat_call& kept = *r.kept;
  kept.last = c;
  kept.last.op.state = &kept;  // of empty function objects, which do not look at it
  const bool native = r.found->bound != nullptr && r.found->chosen.pure == nullptr;
  kept.ready = native && r.quick ? where_->make_ready(c) : ready_native{};
  r.key = r.indirect_key = no_call_key;
  if (!r.quick || inter() || c.type.size > max_keyed_element_bytes || c.label != nullptr ||
      c.input == nullptr || c.output == nullptr)
    return;
  r.key = call_key(c.what, c.type, c.op.which, c.op.commutative, c.in_place) | root_bits_of_call_key(c.root);
  r.one_buffer = c.input == c.output;
  r.combine = c.op.combine;
}

inline bool communicator_impl::run_cached(std::uint64_t key, const void* input, void* output,
                                          std::size_t count, combine_function combine) {
  cached_call& r = cache_[key & 0xff];
  if (key != r.key || combine != r.combine || input == nullptr || output == nullptr ||
      (input == output) != r.one_buffer || !runs_here()) [[unlikely]]
    return false;
  if (count != r.count) [[unlikely]]
    return run_cached_other_count(r, input, output, count);
  if (r.go != nullptr && shared_->active.empty()) [[likely]]
    run_ready(r, input, output);
  else
    run_built(r, input, output);
  return true;
}

bool communicator_impl::run_cached_other_count(cached_call& r, const void* input, void* output,
                                               std::size_t count) {
  if (!take_count_interval(count, r)) return false;
  run_built(r, input, output);
  return true;
}

void communicator_impl::run_built(cached_call& r, const void* input, void* output) {
  call& c = r.kept->last;
  c.input = input;
  c.output = output;
  c.count = r.count;
  run_cached_call(c, r);
}

// --- with counts

namespace {

// As the caller's type has them; false where one does not fit.
bool take_numbers(std::vector<std::byte>& to, const counts_view& from, bool wide) {
  const std::size_t width = wide ? sizeof(std::size_t) : sizeof(int);
  to.resize(from.size() * width);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t number = from[i];
    if (!wide && number > 0x7fffffff) return false;
    const auto narrow = static_cast<int>(number);
    std::memcpy(to.data() + i * width, wide ? static_cast<const void*>(&number) : &narrow, width);
  }
  return true;
}

template <class Word>
Word difference(const void* a, const void* b, std::size_t at) noexcept {
  Word x, y;
  std::memcpy(&x, static_cast<const std::byte*>(a) + at, sizeof x);
  std::memcpy(&y, static_cast<const std::byte*>(b) + at, sizeof y);
  return x ^ y;
}

}  // namespace

bool communicator_impl::last_side::take(const counts_view& c, const counts_view& d, bool left_out,
                                        bool wide) {
  if (!take_numbers(far_counts, c, wide) || !take_numbers(far_displs, d, wide)) return false;
  if (left_out) {
    dense = std::move(far_displs);
    far_displs = far_counts;
  }
  const std::size_t bytes = far_counts.size();
  whole = bytes / 8 * 8;
  odd = bytes % 8 != 0;
  if (bytes > max_near) return true;
  std::copy(far_counts.begin(), far_counts.end(), counts);
  std::copy(far_displs.begin(), far_displs.end(), displs);
  far_counts.clear();
  far_displs.clear();
  return true;
}

// What one or two sides have that differs from the last call's, in the word at a place.
template <class Word>
[[gnu::always_inline]] inline Word communicator_impl::difference_of_side(const last_side& side,
                                                                         const void* counts,
                                                                         const void* displs,
                                                                         std::size_t at) noexcept {
  return difference<Word>(counts, side.counts, at) | difference<Word>(displs, side.displs, at);
}

// A few numbers are compared faster here than by a function; where both sides have some, as many each.
template <array_sides Sides>
[[gnu::always_inline]] inline bool communicator_impl::same_numbers(const last_counted& last,
                                                                   const counted_call& c) noexcept {
  const auto differs = [&]<class Word>(Word, std::size_t at) -> Word {
    Word w = 0;
    if constexpr (Sides != array_sides::out)
      w = difference_of_side<Word>(last.in, c.in_counts, c.in_displs, at);
    if constexpr (Sides != array_sides::in)
      w |= difference_of_side<Word>(last.out, c.out_counts, c.out_displs, at);
    return w;
  };
  const last_side& side = Sides == array_sides::in ? last.in : last.out;
  std::size_t i = 0;
  for (; i < side.whole; i += 8)
    if (differs(std::uint64_t{}, i) != 0) return false;
  return !side.odd || differs(std::uint32_t{}, i) == 0;
}

bool communicator_impl::last_side::same_far(const void* c, const void* d) const noexcept {
  const bool far = !far_counts.empty();
  const std::size_t bytes = far ? far_counts.size() : whole + (odd ? 4 : 0);
  return bytes == 0 || (std::memcmp(c, far ? far_counts.data() : counts, bytes) == 0 &&
                        std::memcmp(d, far ? far_displs.data() : displs, bytes) == 0);
}

template <array_sides Sides>
[[gnu::always_inline]] inline bool communicator_impl::run_cached_with_counts(counted_call& c,
                                                                             std::uint64_t key) {
  cached_call& r = cache_[key & 0xff];
  if (key != r.key || !shared_->active.empty() || !runs_here()) [[unlikely]]
    return run_cached_indirect(r, c, key);
  const last_counted& last = *r.counted;
  if (c.input_length != last.input_length || c.output_length != last.output_length) [[unlikely]]
    return false;
  if (c.input != last.input || c.output != last.output) [[unlikely]]
    if (!same_pointers(c.input, c.output, nullptr, r)) return false;
  if (!same_numbers<Sides>(last, c)) [[unlikely]]
    return false;
  ++next_;
  guarded([&] { last.ready.go_counted(last.ready, c); });
  return true;
}

// The same among calls under way, of displacements that were left out, of many numbers, and where the engine
// has no way of its own.
bool communicator_impl::run_cached_indirect(cached_call& r, counted_call& c, std::uint64_t key) {
  if ((key != r.key && key != r.indirect_key) || !runs_here()) return false;
  const last_counted& last = *r.counted;
  if (c.input_length != last.input_length || c.output_length != last.output_length ||
      !same_pointers(c.input, c.output, nullptr, r) || !last.in.same_far(c.in_counts, c.in_displs) ||
      !last.out.same_far(c.out_counts, c.out_displs))
    return false;
  const bool dense_in = !has(key, given_arrays::in_displs), dense_out = !has(key, given_arrays::out_displs);
  if (last.ready.go_counted == nullptr || !shared_->active.empty()) {
    run_built(r, c, dense_in, dense_out);
    return true;
  }
  if (dense_in) c.in_displs = last.in.dense.data();
  if (dense_out) c.out_displs = last.out.dense.data();
  ++next_;
  guarded([&] { last.ready.go_counted(last.ready, c); });
  return true;
}

// Displacements that were left out stay those of dense blocks, and so does the place of this rank's length.
void communicator_impl::run_built(cached_call& r, const counted_call& c, bool dense_in, bool dense_out) {
  call& full = r.kept->last;
  full.input = c.input;
  full.output = c.output;
  if (c.in_counts != nullptr) full.in_counts = full.in_counts.at(c.in_counts);
  if (c.in_counts != nullptr && !dense_in) full.in_displs = full.in_displs.at(c.in_displs);
  if (c.out_counts != nullptr) full.out_counts = full.out_counts.at(c.out_counts);
  if (c.out_counts != nullptr && !dense_out) full.out_displs = full.out_displs.at(c.out_displs);
  run_cached_call(full, r);
}

void communicator_impl::cache_call(std::uint64_t key, const counted_call& c, const call& made) {
  cached_call& r = cache_[key & 0xff];
  r.key = r.indirect_key = no_call_key;
  if (shared_->set.check || shared_->trace || r.found == nullptr || r.found->bound == nullptr) return;
  if (r.how == way::simple) r.how = way::plain;
  if (!r.counted) r.counted = std::make_unique<last_counted>();
  last_counted& last = *r.counted;
  call& full = r.kept->last;
  full = with_displacements(made, last.dense_in, last.dense_out);
  // This rank's own length is the frame's, which goes.
  if (c.in_counts == nullptr && made.in_counts.given()) full.in_counts = {&full.count, 1};
  if (c.out_counts == nullptr && made.out_counts.given()) full.out_counts = {&full.count, 1};
  const bool wide = has(key, given_arrays::wide);
  const auto take = [&](last_side& side, const void* counts, const counts_view& c, const counts_view& d,
                        given_arrays displs) {
    const counts_view none(static_cast<const int*>(nullptr), 0);
    return side.take(counts != nullptr ? c : none, counts != nullptr ? d : none, !has(key, displs), wide);
  };
  if (!take(last.in, c.in_counts, full.in_counts, full.in_displs, given_arrays::in_displs) ||
      !take(last.out, c.out_counts, full.out_counts, full.out_displs, given_arrays::out_displs))
    return;
  last.input_length = c.input_length;
  last.output_length = c.output_length;
  last.input = c.input;
  last.output = c.output;
  last.ready = r.how == way::native && !wide ? where_->make_ready(full) : ready_native{};
  const bool left_out = (c.in_counts != nullptr && !has(key, given_arrays::in_displs)) ||
                        (c.out_counts != nullptr && !has(key, given_arrays::out_displs));
  const bool exchanges = made.what == collective::alltoallv || made.what == collective::neighbor_alltoallv;
  const bool differ = exchanges && (last.in.whole != last.out.whole || last.in.odd != last.out.odd);
  const bool direct = !left_out && !differ && last.ready.go_counted != nullptr &&
                      last.in.far_counts.empty() && last.out.far_counts.empty();
  (direct ? r.key : r.indirect_key) = key;
}

// --- the door (tutti/detail/repeat_call.hpp)

bool run_cached(communicator_impl& c, std::uint64_t key, const void* input, void* output, std::size_t count,
                combine_function combine) {
  return c.run_cached(key, input, output, count, combine);
}
template <array_sides Sides>
bool run_cached_with_counts(communicator_impl& c, counted_call& call, std::uint64_t key) {
  return c.run_cached_with_counts<Sides>(call, key);
}
template bool run_cached_with_counts<array_sides::in>(communicator_impl&, counted_call&, std::uint64_t);
template bool run_cached_with_counts<array_sides::out>(communicator_impl&, counted_call&, std::uint64_t);
template bool run_cached_with_counts<array_sides::both>(communicator_impl&, counted_call&, std::uint64_t);
void cache_call(communicator_impl& c, std::uint64_t key, const counted_call& call, const tutti::call& made) {
  c.cache_call(key, call, made);
}

}  // namespace tutti::detail
