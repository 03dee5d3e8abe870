// SPDX-License-Identifier: Apache-2.0
//
// The path of a call that repeats no other: validated, selected, its schedule found or written and
// bound, stored in the cache, executed. cached_calls.cpp has the paths of repeated calls.
#include "communicator/call_dispatcher.hpp"

#include <utility>

#include "base/compute/kernels.hpp"
#include "communicator/call_selection.hpp"
#include "communicator/call_validation.hpp"
#include "communicator/dense_blocks.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void call_dispatcher::open_first() {
  state_.open();
  engine_ = &state_.where();
  cache_.open();
}

void call_dispatcher::check(const call& c) {
  try {
    validate(state_, c);
  } catch (const usage_error& e) {
    if (checked_mode_.is_on()) checked_mode_.report_refusal(c, e.what());
    throw;
  }
  if (checked_mode_.is_on()) checked_mode_.compare(c);
}

void call_dispatcher::run_new(const call& c) {
  try {
    validate(state_, c);
  } catch (const usage_error&) {
    return run_rejected(c);
  }
  if (checked_mode_.is_on()) checked_mode_.compare(c);
  prepared_call& p = find(c);
  store_in_cache(c, p);
  if (c.in_types != nullptr || c.out_types != nullptr) {
    dense_blocks dense(c);
    dense.pack();
    execute(with_displacements(state_, dense.made(), in_displs_, out_displs_), p);
    dense.unpack();
  } else if (is_vector_form(c.what)) {
    execute(with_displacements(state_, c, in_displs_, out_displs_), p);
  } else {
    execute_cached(c, cache_.entry(c.what));
  }
}

void call_dispatcher::run_rejected(const call& c) {
  call instead = c;
  substitute_buffers room;
  take_rejected(self_, state_, instead, mode::blocking, room);
  serve(self_, instead);
  room.diagnose();
}

void call_dispatcher::run_control(const call& c) {
  prepared_call& p = find(c);
  if (is_vector_form(c.what))
    execute(with_displacements(state_, c, in_displs_, out_displs_), p);
  else
    execute(c, p);
}

// --- the cache

// Vectors of at least min_kernel_bytes are combined faster by the library than by a template.
combine_function kernel_for(const call& c) noexcept {
  if (c.op.which == builtin_op::user || c.count * c.type.size < min_kernel_bytes) return nullptr;
  return compute::kernel(c.op.which, c.type.kind);
}

void call_dispatcher::store_in_cache(const call& c, prepared_call& p) {
  // The intervals are found when a second count comes: most communicators of short life see one
  // only.
  const bool counts_differ = cache_.repeats_head(c);
  cached_call& r =
      cache_.store(c, p, {rank_->set.check, rank_->trace != nullptr, state_.inter()}, kernel_for(c), engine_);
  if (!r.steady || !rank_->by->trees || c.count == 0) return;
  count_intervals* by_count = cache_.intervals_of(c);
  if (by_count == nullptr && counts_differ) by_count = &cache_.add_intervals(c, count_bounds(state_, c));
  if (by_count != nullptr) call_cache::use_intervals(r, *by_count, c.type.size);
}

void call_dispatcher::cache_counts(std::uint64_t key, const counted_call& c, const call& made) {
  cached_call& r = cache_.entry_of_key(key);
  r.key = r.indirect_key = no_call_key;
  if (checked_mode_.is_on() || rank_->trace || r.found == nullptr || r.found->is_composed()) return;
  cached_counts& last = cache_.counts_of(key);
  cache_.store_counts(key, c, made, with_displacements(state_, made, last.dense_in, last.dense_out), engine_);
}

// --- execution

call with_displacements(const communicator_state& where, const call& c, std::vector<std::size_t>& in,
                        std::vector<std::size_t>& out) {
  call full = c;
  if (c.what == collective::reduce_scatter) {  // the result is one block of the operand
    full.in_counts = c.out_counts;
    const int first = where.graph().first_group, rank = where.rank();
    full.count = c.out_counts[static_cast<std::size_t>(rank < first ? rank : rank - first)];
  }
  const auto fill = [](const counts_view& counts, counts_view& displs, std::vector<std::size_t>& sums) {
    if (!counts.given() || displs.given()) return;
    sums.resize(counts.size());
    std::size_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sums[i] = sum;
      sum += counts[i];
    }
    displs = counts_view(sums.data(), sums.size());
  };
  fill(full.in_counts, full.in_displs, in);
  fill(full.out_counts, full.out_displs, out);
  return full;
}

void call_dispatcher::execute(const call& c, prepared_call& p) {
  // Only this rank knows whether something else is under way. So it must not choose between two
  // forms of the engine's collective that do not meet (endpoint::progresses_inside()). A
  // composition may contain one.
  const auto run_to_end = [&]<class Run>(Run& r) {
    guarded([&] {
      if (!others_under_way()) [[likely]]
        r.go_on(true);
      else if (p.chosen.pure == nullptr && state_.ep().progresses_inside())
        state_.ep().wait_inside(
            *rank_, [](void* run) { static_cast<Run*>(run)->go_on(true); }, &r);
      else
        rank_->finish(r);
    });
  };
  if (p.is_composed()) [[unlikely]] {
    if (!p.plan || !p.plan->serves(c)) p.plan = store_.plan(c, p, true);
    p.blocking_composite->begin(*p.plan->bound, c, next_id_of_call());
    return run_to_end(*p.blocking_composite);
  }
  p.blocking->begin(*p.bound, c, next_id_of_call());
  run_to_end(*p.blocking);
}

void call_dispatcher::execute_stored(const call& c, cached_call& r) {
  if (r.kernel == nullptr) return execute(c, *r.found);
  call faster = c;
  faster.op.combine = r.kernel;
  execute(faster, *r.found);
}

// --- the trace (TUTTI_TRACE)

void call_dispatcher::trace(const call& c, const prepared_call& p, const bound_composition* plan,
                            bool nonblocking, std::chrono::nanoseconds took) {
  call_kind kind =
      kind_of(c, p.composed, p.chosen, engine_->id(), state_.rank(), state_.size(), state_.inter());
  kind.nonblocking = nonblocking;
  rank_->trace->add(kind, bytes_of(c, state_.send_block_count(c.what)), took);
  if (plan != nullptr && !plan->inside.empty()) rank_->trace->consists_of(kind, plan->inside);
}

}  // namespace tutti::detail
