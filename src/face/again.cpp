// SPDX-License-Identifier: Apache-2.0
//
// A call that is told from the last one before it is laid down (tutti/core/again.hpp): the shortest way of
// all. What differs returns false, and comes back by run_call().
#include <algorithm>
#include <cstring>
#include <utility>

#include "face/warm.hpp"

namespace tutti::detail {

// What the call can be told by, where it has no counts; with counts keep_like() says it.
void core::keep_last(const call& c, recent& r) {
  if (!r.kept) r.kept = std::make_unique<again>();
  again& kept = *r.kept;
  kept.last = c;
  kept.last.op.state = &kept;  // of empty function objects, which do not look at it
  const bool native = r.found->bound != nullptr && r.found->chosen.pure == nullptr;
  kept.ready = native && r.quick ? where_->make_ready(c) : ready_native{};
  r.like = r.roundabout = never_alike;
  if (!r.quick || inter() || c.type.size > most_alike || c.label != nullptr || c.input == nullptr ||
      c.output == nullptr)
    return;
  r.like = likeness(c.what, c.type, c.op.which, c.op.commutative, c.in_place) | likeness_of_root(c.root);
  r.one_buffer = c.input == c.output;
  r.combine = c.op.combine;
}

inline bool core::run_like_last(std::uint64_t like, const void* input, void* output, std::size_t count,
                                combine_function combine) {
  recent& r = recent_[like & 0xff];
  if (like != r.like || combine != r.combine || input == nullptr || output == nullptr ||
      (input == output) != r.one_buffer || !carried_here()) [[unlikely]]
    return false;
  if (count != r.count) [[unlikely]]
    return run_like_other_count(r, input, output, count);
  if (r.go != nullptr && shared_->active.empty()) [[likely]]
    run_ready(r, input, output);
  else
    run_laid(r, input, output);
  return true;
}

bool core::run_like_other_count(recent& r, const void* input, void* output, std::size_t count) {
  if (!take_spell(count, r)) return false;
  run_laid(r, input, output);
  return true;
}

void core::run_laid(recent& r, const void* input, void* output) {
  call& c = r.kept->last;
  c.input = input;
  c.output = output;
  c.count = r.count;
  run_again(c, r);
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

bool core::last_side::take(const counts_view& c, const counts_view& d, bool left_out, bool wide) {
  if (!take_numbers(far_counts, c, wide) || !take_numbers(far_displs, d, wide)) return false;
  if (left_out) {
    dense = std::move(far_displs);
    far_displs = far_counts;
  }
  const std::size_t bytes = far_counts.size();
  whole = bytes / 8 * 8;
  odd = bytes % 8 != 0;
  if (bytes > most_near) return true;
  std::copy(far_counts.begin(), far_counts.end(), counts);
  std::copy(far_displs.begin(), far_displs.end(), displs);
  far_counts.clear();
  far_displs.clear();
  return true;
}

// What one or two sides have that differs from the last call's, in the word at a place.
template <class Word>
[[gnu::always_inline]] inline Word core::difference_of_side(const last_side& side, const void* counts,
                                                            const void* displs, std::size_t at) noexcept {
  return difference<Word>(counts, side.counts, at) | difference<Word>(displs, side.displs, at);
}

// A few numbers are compared faster here than by a function; where both sides have some, as many each.
template <number_sides Sides>
[[gnu::always_inline]] inline bool core::same_numbers(const last_counted& last,
                                                      const counted_call& c) noexcept {
  const auto differs = [&]<class Word>(Word, std::size_t at) -> Word {
    Word w = 0;
    if constexpr (Sides != number_sides::out)
      w = difference_of_side<Word>(last.in, c.in_counts, c.in_displs, at);
    if constexpr (Sides != number_sides::in)
      w |= difference_of_side<Word>(last.out, c.out_counts, c.out_displs, at);
    return w;
  };
  const last_side& side = Sides == number_sides::in ? last.in : last.out;
  std::size_t i = 0;
  for (; i < side.whole; i += 8)
    if (differs(std::uint64_t{}, i) != 0) return false;
  return !side.odd || differs(std::uint32_t{}, i) == 0;
}

bool core::last_side::same_far(const void* c, const void* d) const noexcept {
  const bool far = !far_counts.empty();
  const std::size_t bytes = far ? far_counts.size() : whole + (odd ? 4 : 0);
  return bytes == 0 || (std::memcmp(c, far ? far_counts.data() : counts, bytes) == 0 &&
                        std::memcmp(d, far ? far_displs.data() : displs, bytes) == 0);
}

template <number_sides Sides>
[[gnu::always_inline]] inline bool core::run_counted_like_last(counted_call& c, std::uint64_t like) {
  recent& r = recent_[like & 0xff];
  if (like != r.like || !shared_->active.empty() || !carried_here()) [[unlikely]]
    return run_roundabout(r, c, like);
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
bool core::run_roundabout(recent& r, counted_call& c, std::uint64_t like) {
  if ((like != r.like && like != r.roundabout) || !carried_here()) return false;
  const last_counted& last = *r.counted;
  if (c.input_length != last.input_length || c.output_length != last.output_length ||
      !same_pointers(c.input, c.output, nullptr, r) || !last.in.same_far(c.in_counts, c.in_displs) ||
      !last.out.same_far(c.out_counts, c.out_displs))
    return false;
  const bool dense_in = !has(like, given_numbers::in_displs),
             dense_out = !has(like, given_numbers::out_displs);
  if (last.ready.go_counted == nullptr || !shared_->active.empty()) {
    run_laid(r, c, dense_in, dense_out);
    return true;
  }
  if (dense_in) c.in_displs = last.in.dense.data();
  if (dense_out) c.out_displs = last.out.dense.data();
  ++next_;
  guarded([&] { last.ready.go_counted(last.ready, c); });
  return true;
}

// Displacements that were left out stay those of dense blocks, and so does the place of this rank's length.
void core::run_laid(recent& r, const counted_call& c, bool dense_in, bool dense_out) {
  call& full = r.kept->last;
  full.input = c.input;
  full.output = c.output;
  if (c.in_counts != nullptr) full.in_counts = full.in_counts.at(c.in_counts);
  if (c.in_counts != nullptr && !dense_in) full.in_displs = full.in_displs.at(c.in_displs);
  if (c.out_counts != nullptr) full.out_counts = full.out_counts.at(c.out_counts);
  if (c.out_counts != nullptr && !dense_out) full.out_displs = full.out_displs.at(c.out_displs);
  run_again(full, r);
}

void core::keep_like(std::uint64_t like, const counted_call& c, const call& made) {
  recent& r = recent_[like & 0xff];
  r.like = r.roundabout = never_alike;
  if (shared_->set.check || shared_->trace || r.found == nullptr || r.found->bound == nullptr) return;
  if (r.how == way::straight) r.how = way::plain;
  if (!r.counted) r.counted = std::make_unique<last_counted>();
  last_counted& last = *r.counted;
  call& full = r.kept->last;
  full = with_displacements(made, last.dense_in, last.dense_out);
  // This rank's own length is the frame's, which goes.
  if (c.in_counts == nullptr && made.in_counts.given()) full.in_counts = {&full.count, 1};
  if (c.out_counts == nullptr && made.out_counts.given()) full.out_counts = {&full.count, 1};
  const bool wide = has(like, given_numbers::wide);
  const auto take = [&](last_side& side, const void* counts, const counts_view& c, const counts_view& d,
                        given_numbers displs) {
    const counts_view none(static_cast<const int*>(nullptr), 0);
    return side.take(counts != nullptr ? c : none, counts != nullptr ? d : none, !has(like, displs), wide);
  };
  if (!take(last.in, c.in_counts, full.in_counts, full.in_displs, given_numbers::in_displs) ||
      !take(last.out, c.out_counts, full.out_counts, full.out_displs, given_numbers::out_displs))
    return;
  last.input_length = c.input_length;
  last.output_length = c.output_length;
  last.input = c.input;
  last.output = c.output;
  last.ready = r.how == way::native && !wide ? where_->make_ready(full) : ready_native{};
  const bool left_out = (c.in_counts != nullptr && !has(like, given_numbers::in_displs)) ||
                        (c.out_counts != nullptr && !has(like, given_numbers::out_displs));
  const bool exchanges = made.what == collective::alltoallv || made.what == collective::neighbor_alltoallv;
  const bool differ = exchanges && (last.in.whole != last.out.whole || last.in.odd != last.out.odd);
  const bool direct = !left_out && !differ && last.ready.go_counted != nullptr &&
                      last.in.far_counts.empty() && last.out.far_counts.empty();
  (direct ? r.like : r.roundabout) = like;
}

// --- the door (tutti/core/again.hpp)

bool run_like_last(core& c, std::uint64_t like, const void* input, void* output, std::size_t count,
                   combine_function combine) {
  return c.run_like_last(like, input, output, count, combine);
}
template <number_sides Sides>
bool run_counted_like_last(core& c, counted_call& call, std::uint64_t like) {
  return c.run_counted_like_last<Sides>(call, like);
}
template bool run_counted_like_last<number_sides::in>(core&, counted_call&, std::uint64_t);
template bool run_counted_like_last<number_sides::out>(core&, counted_call&, std::uint64_t);
template bool run_counted_like_last<number_sides::both>(core&, counted_call&, std::uint64_t);
void keep_like(core& c, std::uint64_t like, const counted_call& call, const tutti::call& made) {
  c.keep_like(like, call, made);
}

}  // namespace tutti::detail
