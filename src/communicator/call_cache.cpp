// SPDX-License-Identifier: Apache-2.0
#include "communicator/call_cache.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tutti::detail {

// --- one entry

void cached_call::forget() noexcept {
  key = out_of_line_key = ready_key = no_call_key;
  fast_path = repeatable = any_root = false;
  ready_function = nullptr;
  intervals = nullptr;
}

// --- all entries

// Nothing is ever written to these, and they match no call.
cached_call* call_cache::empty() noexcept {
  static const std::array<cached_call, collective_names.size()> none;
  return const_cast<cached_call*>(none.data());
}

void call_cache::open() {
  storage_.reset(new cached_call[collective_names.size()]);
  entries_ = storage_.get();
}

void call_cache::forget_all() noexcept {
  if (!is_open()) return;
  for (cached_call& r : std::span(entries_, collective_names.size())) r.forget();
}

bool call_cache::contains(const call& c) noexcept {
  cached_call& r = entry(c.what);
  return r.repeatable && r.same_head(c) && r.same_pointers(c.input, c.output, c.op.combine) &&
         (c.count == r.count || r.try_set_count(c.count));
}

bool call_cache::repeats_head(const call& c) noexcept {
  const cached_call& r = entry(c.what);
  std::uint64_t head[4];
  write_head(c, head);
  return r.prepared != nullptr && std::memcmp(r.head, head, sizeof head) == 0;
}

call_path call_cache::path_of(const prepared_call& p, std::uint64_t bytes, bool other_kernel) noexcept {
  if (other_kernel || p.is_composed()) return call_path::executor;
  if (p.is_native()) return call_path::native;
  return p.bound->serves_simple(bytes) ? call_path::simple : call_path::executor;
}

cached_call& call_cache::store(const call& c, prepared_call& p, mode how, combine_function kernel,
                               context* engine) {
  cached_call& r = entry(c.what);
  write_head(c, r.head);
  r.count = c.count;
  r.pointer_bits = cached_call::pointer_bits_of(c.input, c.output, c.op.combine);
  r.has_distinct_buffers = c.input != nullptr && c.output != nullptr && c.input != c.output;
  r.repeatable =
      !is_vector_form(c.what) && !how.compared && c.algorithm == nullptr && c.composition == nullptr;
  r.fast_path = r.repeatable && !how.traced;
  r.any_root = false;
  r.other_roots = 0;
  r.kernel = kernel;
  r.prepared = &p;
  r.intervals = nullptr;
  r.key = r.out_of_line_key = r.ready_key = no_call_key;  // make_ready() may throw
  r.ready_function = nullptr;

  if (!r.stored) r.stored = std::make_unique<cached_call::stored_call>();
  r.stored->algorithm = p.name;
  r.stored->site = {called(c), reported_algorithm(c, p.name), "the other members", -1, -1, 0};
  r.stored->full = c;
  r.stored->full.op.state = r.stored.get();  // an empty function object does not read it
  r.stored->ready =
      engine != nullptr && p.is_native() && r.fast_path ? engine->make_ready(c) : ready_native{};

  const bool one_buffer = c.in_place || c.what == collective::bcast;
  const bool has_key = r.fast_path && !how.inter && c.type.size <= max_cached_element_bytes &&
                       c.label == nullptr && c.input != nullptr && c.output != nullptr &&
                       (c.input == c.output) == one_buffer;
  if (has_key) {
    r.key =
        call_key(c.what, c.type, c.op.which, c.op.commutative, c.in_place) | root_bits_of_call_key(c.root);
    r.combine = c.op.combine;
  }
  r.set_path(path_of(p, c.count * c.type.size, kernel != nullptr));
  return r;
}

// --- other counts

count_intervals* call_cache::intervals_of(const call& c) noexcept {
  std::uint64_t head[4];
  write_head(c, head);
  for (const auto& one : intervals_)
    if (std::memcmp(one->head, head, sizeof head) == 0) return one.get();
  return nullptr;
}

prepared_call* call_cache::find_prepared(const call& c) noexcept {
  if (c.count == 0 || is_vector_form(c.what) || c.algorithm != nullptr || c.composition != nullptr)
    return nullptr;
  count_intervals* const known = intervals_of(c);
  return known == nullptr ? nullptr : known->at(c.count).prepared;
}

count_intervals& call_cache::add_intervals(const call& c, std::vector<std::uint64_t> bounds) {
  constexpr std::size_t max_heads = 256;  // a program may change its root with every call
  if (intervals_.size() == max_heads) {
    for (cached_call& r : std::span(entries_, collective_names.size())) r.intervals = nullptr;
    intervals_.clear();
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  if (bounds.empty() || bounds.back() != ~std::uint64_t{0}) bounds.push_back(~std::uint64_t{0});
  auto made = std::make_unique<count_intervals>();
  write_head(c, made->head);
  for (const std::uint64_t upper_bound : bounds) made->all.push_back({upper_bound});
  intervals_.push_back(std::move(made));
  return *intervals_.back();
}

void call_cache::use_intervals(cached_call& r, count_intervals& intervals, std::uint64_t element_bytes) {
  r.intervals = &intervals;
  count_interval& one = intervals.at(r.count);
  one.prepared = r.prepared;
  one.kernel = r.kernel;
  // The last interval gets more bytes than any block has.
  const bool open = one.upper_bound >= PTRDIFF_MAX / element_bytes;
  one.path = path_of(*r.prepared, open ? PTRDIFF_MAX : one.upper_bound * element_bytes, r.kernel != nullptr);
}

// --- calls with counts

cached_counts& call_cache::counts_of(std::uint64_t key) {
  cached_call& r = entry_of_key(key);
  if (!r.counted) r.counted = std::make_unique<cached_counts>();
  return *r.counted;
}

void call_cache::store_counts(std::uint64_t key, const void* input, void* output, const counted_call& c,
                              const call& made, const call& with, context* engine) {
  cached_call& r = entry_of_key(key);
  r.key = r.out_of_line_key = no_call_key;
  if (r.path == call_path::simple) r.path = call_path::executor;
  cached_counts& last = counts_of(key);
  call& full = r.stored->full;
  full = with;
  // The caller's object that holds this rank's own length is about to go.
  if (c.in_counts == nullptr && made.in_counts.given()) full.in_counts = {&full.count, 1};
  if (c.out_counts == nullptr && made.out_counts.given()) full.out_counts = {&full.count, 1};
  const bool wide = has(key, given_arrays::size_t_counts);
  const auto store = [&](cached_side& side, const void* counts, const counts_view& n, const counts_view& d,
                         given_arrays displs) {
    const counts_view none(static_cast<const int*>(nullptr), 0);
    side.given = counts != nullptr;
    return side.store(counts != nullptr ? n : none, counts != nullptr ? d : none, !has(key, displs), wide);
  };
  if (!store(last.in, c.in_counts, full.in_counts, full.in_displs, given_arrays::in_displs) ||
      !store(last.out, c.out_counts, full.out_counts, full.out_displs, given_arrays::out_displs))
    return;
  last.input_length = c.input_length;
  last.output_length = c.output_length;
  last.input = input;
  last.output = output;
  last.ready =
      engine != nullptr && r.path == call_path::native && !wide ? engine->make_ready(full) : ready_native{};
  const bool left_out = (c.in_counts != nullptr && !has(key, given_arrays::in_displs)) ||
                        (c.out_counts != nullptr && !has(key, given_arrays::out_displs));
  const bool exchanges = made.what == collective::alltoallv || made.what == collective::neighbor_alltoallv;
  const bool differ =
      exchanges && (last.in.word_bytes != last.out.word_bytes || last.in.half_word != last.out.half_word);
  const bool direct = !left_out && !differ && last.ready.run_counted != nullptr &&
                      last.in.heap_counts.empty() && last.out.heap_counts.empty();
  (direct ? r.key : r.out_of_line_key) = key;
}

}  // namespace tutti::detail
