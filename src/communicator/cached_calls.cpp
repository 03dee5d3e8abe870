// SPDX-License-Identifier: Apache-2.0
//
// The paths of repeated calls (the table in call_dispatcher.hpp). Every call pays for every
// instruction here, so the shortest paths are inline and all others are separate functions.
#include "communicator/call_dispatcher.hpp"
#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

// All paths end here. It is inline because the path to a native collective is so short that a
// function call matters.
[[gnu::always_inline]] inline void call_dispatcher::execute_cached(const call& c, cached_call& r) {
  if (has_active_operations()) [[unlikely]]
    return execute(c, *r.prepared, r.kernel);
  switch (r.path) {
    case call_path::native:
      if (r.ready_function != nullptr) {
        ++next_id_;
        return guarded([&] { r.run_ready(c.input, c.output); });
      }
      r.site.run = next_id_++;
      return guarded([&] { engine_->native(c, r.site); });
    case call_path::simple:
      return guarded([&] { r.prepared->blocking->run_simple(*r.prepared->bound, c, next_id_of_call()); });
    case call_path::executor:
      return execute(c, *r.prepared, r.kernel);
  }
}

// --- a complete call

[[gnu::always_inline]] inline void call_dispatcher::run_call(const call& c) {
  if (!is_current_rank()) [[unlikely]]
    state_.reject_thread(called(c));
  cached_call& r = cache_.entry(c.what);
  if (!r.fast_path || !r.same_head(c) || !r.same_pointers(c.input, c.output, c.op.combine)) [[unlikely]]
    return run_uncached(c);
  if (c.count != r.count) [[unlikely]]
    return void(run_full_call(c, r, true));
  execute_cached(c, r);
}

bool call_dispatcher::run_full_call(const call& c, cached_call& r, bool may_be_uncached) {
  if (c.count != r.count && !r.try_set_count(c.count)) [[unlikely]] {
    if (may_be_uncached) run_uncached(c);
    return may_be_uncached;
  }
  execute_cached(c, r);
  return true;
}

// --- a key, before there is a call

inline bool call_dispatcher::run_cached(std::uint64_t key, const void* input, void* output, std::size_t count,
                                        combine_function combine) {
  cached_call& r = cache_.entry_of_key(key);
  if (key != r.key || combine != r.combine || input == nullptr || output == nullptr ||
      (input == output) != r.one_buffer || !is_current_rank()) [[unlikely]]
    return false;
  if (count == r.count && r.ready_function != nullptr && !has_active_operations()) [[likely]] {
    ++next_id_;
    guarded([&] { r.run_ready(input, output); });
    return true;
  }
  call& c = r.stored->full;
  c.input = input;
  c.output = output;
  c.count = count;
  return run_full_call(c, r, false);
}

template <array_sides Sides>
[[gnu::always_inline]] inline bool call_dispatcher::run_cached_with_counts(counted_call& c,
                                                                           std::uint64_t key) {
  cached_call& r = cache_.entry_of_key(key);
  if (key != r.key || has_active_operations() || !is_current_rank()) [[unlikely]]
    return run_cached_with_any_counts(r, c, key);
  const cached_counts& last = *r.counted;
  if (c.input_length != last.input_length || c.output_length != last.output_length) [[unlikely]]
    return false;
  if (c.input != last.input || c.output != last.output) [[unlikely]]
    if (!r.same_pointers(c.input, c.output, nullptr)) return false;
  if (!last.matches_inline<Sides>(c)) [[unlikely]]
    return false;
  ++next_id_;
  guarded([&] { last.ready.run_counted(last.ready, c); });
  return true;
}

bool call_dispatcher::run_cached_with_any_counts(cached_call& r, counted_call& c, std::uint64_t key) {
  if ((key != r.key && key != r.out_of_line_key) || !is_current_rank()) return false;
  const cached_counts& last = *r.counted;
  if (c.input_length != last.input_length || c.output_length != last.output_length ||
      !r.same_pointers(c.input, c.output, nullptr) || !last.in.matches(c.in_counts, c.in_displs) ||
      !last.out.matches(c.out_counts, c.out_displs))
    return false;
  const bool dense_in = !has(key, given_arrays::in_displs), dense_out = !has(key, given_arrays::out_displs);
  if (last.ready.run_counted == nullptr || has_active_operations()) {
    // Displacements that were left out are still those of dense blocks, and this rank's own length
    // is where it was.
    call& full = r.stored->full;
    full.input = c.input;
    full.output = c.output;
    if (c.in_counts != nullptr) full.in_counts = full.in_counts.at(c.in_counts);
    if (c.in_counts != nullptr && !dense_in) full.in_displs = full.in_displs.at(c.in_displs);
    if (c.out_counts != nullptr) full.out_counts = full.out_counts.at(c.out_counts);
    if (c.out_counts != nullptr && !dense_out) full.out_displs = full.out_displs.at(c.out_displs);
    execute_cached(full, r);
    return true;
  }
  if (dense_in) c.in_displs = last.in.dense.data();
  if (dense_out) c.out_displs = last.out.dense.data();
  ++next_id_;
  guarded([&] { last.ready.run_counted(last.ready, c); });
  return true;
}

// --- tutti/detail/abi.hpp and call_key.hpp

void run_call(communicator_impl& c, const call& what) { c.calls().run_call(what); }

bool run_cached(communicator_impl& c, std::uint64_t key, const void* input, void* output, std::size_t count,
                combine_function combine) {
  return c.calls().run_cached(key, input, output, count, combine);
}

template <array_sides Sides>
bool run_cached_with_counts(communicator_impl& c, counted_call& call, std::uint64_t key) {
  return c.calls().run_cached_with_counts<Sides>(call, key);
}
template bool run_cached_with_counts<array_sides::in>(communicator_impl&, counted_call&, std::uint64_t);
template bool run_cached_with_counts<array_sides::out>(communicator_impl&, counted_call&, std::uint64_t);
template bool run_cached_with_counts<array_sides::both>(communicator_impl&, counted_call&, std::uint64_t);

void cache_call(communicator_impl& c, std::uint64_t key, const counted_call& call, const tutti::call& made) {
  c.calls().cache_counts(key, call, made);
}

}  // namespace tutti::detail
