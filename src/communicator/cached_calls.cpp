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
        r.ready_function(c.input, c.output, c.count, r.stored->ready);
        return;
      }
      r.stored->site.run = next_id_++;
      return guarded([&] { engine_->native(c, r.stored->site); });
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

// The last step of the two shortest paths is a jump to the function of the engine, and their other
// steps are jumps to functions with the same parameters. So they save no register.
[[gnu::always_inline]] inline bool call_dispatcher::run_cached(const void* input, void* output,
                                                               std::size_t count, communicator_impl& where,
                                                               std::uint64_t key, combine_function combine) {
  call_dispatcher& self = where.calls();
  const cached_call& r = self.cache_.entry_of_key(key);
  if (key != r.ready_key || combine != r.combine || count != r.count || self.has_active_operations() ||
      !self.is_current_rank()) [[unlikely]]
    return run_cached_by_call(input, output, count, where, key, combine);
  ++self.next_id_;
  return r.ready_function(input, output, count, r.stored->ready);
}

bool call_dispatcher::run_cached_by_call(const void* input, void* output, std::size_t count,
                                         communicator_impl& where, std::uint64_t key,
                                         combine_function combine) {
  call_dispatcher& self = where.calls();
  cached_call& r = self.cache_.entry_of_key(key);
  if (key != r.key || combine != r.combine || !self.is_current_rank()) [[unlikely]]
    return false;
  call& c = r.stored->full;
  c.input = input;
  c.output = output;
  c.count = count;
  return self.run_full_call(c, r, false);
}

template <array_sides Sides>
[[gnu::always_inline]] inline bool call_dispatcher::run_cached_with_counts(const void* input, void* output,
                                                                           counted_call& c, std::uint64_t key,
                                                                           communicator_impl& where) {
  call_dispatcher& self = where.calls();
  const cached_call& r = self.cache_.entry_of_key(key);
  if (key != r.key || self.has_active_operations() || !self.is_current_rank()) [[unlikely]]
    return run_cached_with_any_counts(input, output, c, key, where);
  const cached_counts& last = *r.counted;
  // Other buffers are compared there too. Fewer values are then in use below.
  if (input != last.input || output != last.output) [[unlikely]]
    return run_cached_with_any_counts(input, output, c, key, where);
  if (c.input_length != last.input_length || c.output_length != last.output_length ||
      !last.matches_inline<Sides>(c)) [[unlikely]]
    return false;
  ++self.next_id_;
  return last.ready.run_counted(input, output, c, last.ready);
}

bool call_dispatcher::run_cached_with_any_counts(const void* input, void* output, counted_call& c,
                                                 std::uint64_t key, communicator_impl& where) {
  call_dispatcher& self = where.calls();
  cached_call& r = self.cache_.entry_of_key(key);
  if ((key != r.key && key != r.out_of_line_key) || !self.is_current_rank()) return false;
  const cached_counts& last = *r.counted;
  if (c.input_length != last.input_length || c.output_length != last.output_length ||
      !r.same_pointers(input, output, nullptr) ||
      (last.in.given && !last.in.matches(c.in_counts, c.in_displs)) ||
      (last.out.given && !last.out.matches(c.out_counts, c.out_displs)))
    return false;
  const bool dense_in = !has(key, given_arrays::in_displs), dense_out = !has(key, given_arrays::out_displs);
  if (last.ready.run_counted == nullptr || self.has_active_operations()) {
    // Displacements that were left out are still those of dense blocks, and this rank's own length
    // is where it was.
    call& full = r.stored->full;
    full.input = input;
    full.output = output;
    if (last.in.given) full.in_counts = full.in_counts.at(c.in_counts);
    if (last.in.given && !dense_in) full.in_displs = full.in_displs.at(c.in_displs);
    if (last.out.given) full.out_counts = full.out_counts.at(c.out_counts);
    if (last.out.given && !dense_out) full.out_displs = full.out_displs.at(c.out_displs);
    self.execute_cached(full, r);
    return true;
  }
  if (dense_in) c.in_displs = last.in.dense.data();
  if (dense_out) c.out_displs = last.out.dense.data();
  ++self.next_id_;
  return last.ready.run_counted(input, output, c, last.ready);
}

// --- tutti/detail/abi.hpp and call_key.hpp

void run_call(communicator_impl& c, const call& what) { c.calls().run_call(what); }

bool run_cached(const void* input, void* output, std::size_t count, communicator_impl& c, std::uint64_t key,
                combine_function combine) {
  return call_dispatcher::run_cached(input, output, count, c, key, combine);
}

template <array_sides Sides>
bool run_cached_with_counts(const void* input, void* output, counted_call& call, std::uint64_t key,
                            communicator_impl& c) {
  return call_dispatcher::run_cached_with_counts<Sides>(input, output, call, key, c);
}
template bool run_cached_with_counts<array_sides::in>(const void*, void*, counted_call&, std::uint64_t,
                                                      communicator_impl&);
template bool run_cached_with_counts<array_sides::out>(const void*, void*, counted_call&, std::uint64_t,
                                                       communicator_impl&);
template bool run_cached_with_counts<array_sides::both>(const void*, void*, counted_call&, std::uint64_t,
                                                        communicator_impl&);

void cache_call(communicator_impl& c, std::uint64_t key, const void* input, void* output,
                const counted_call& call, const tutti::call& made) {
  c.calls().cache_counts(key, input, output, call, made);
}

}  // namespace tutti::detail
