// SPDX-License-Identifier: Apache-2.0
//
// The path of a call that repeats no other: validated, selected, its schedule found or written and
// bound, stored in the cache, executed. cached_calls.cpp has the paths of repeated calls.
#include "communicator/call_dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "base/compute/kernels.hpp"
#include "communicator/call_selection.hpp"
#include "communicator/call_validation.hpp"
#include "communicator/packed_blocks.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void call_dispatcher::open_first() {
  state_.open();
  engine_ = &state_.engine_context();
  cache_.open();
}

void call_dispatcher::validate_call(const call& c) {
  try {
    validate(state_, c);
  } catch (const usage_error& e) {
    if (checked_mode_.is_on()) checked_mode_.report_rejection(c, e.what());
    throw;
  }
  if (checked_mode_.is_on()) checked_mode_.compare(c);
}

void call_dispatcher::count_call() {
  open();
  static_cast<void>(next_id_of_call());
}

namespace {

// Whether a bcast or reduce that is not in place passes the pointers that every count requires.
bool has_buffers(const call& c, int rank) noexcept {
  if (c.what == collective::bcast) return c.input != nullptr && c.output != nullptr;
  return c.input != nullptr && c.op.combine != nullptr &&
         (rank != c.root || (c.output != nullptr && c.output != c.input));
}

}  // namespace

// No choice depends on the root (agreed_part()), and the engine's own collective reads it from the
// call. If each call has another root, they would otherwise all be validated and stored. Some are,
// in case the program stays with a new root.
bool call_dispatcher::run_with_other_root(const call& c) {
  constexpr std::uint8_t max_other_roots = 16;
  cached_call& r = cache_.entry(c.what);
  if (!r.any_root || has_active_operations() || !r.same_head_but_root(c) || c.root < 0 ||
      c.root >= state_.size() || !has_buffers(c, state_.rank()) || r.other_roots == max_other_roots ||
      (c.count != r.count && !r.try_set_count(c.count)) || r.path != call_path::native)
    return false;
  ++r.other_roots;
  r.stored->site.run = next_id_++;
  guarded([&] { engine_->native(c, r.stored->site); });
  return true;
}

void call_dispatcher::run_uncached(const call& c) {
  if (run_with_other_root(c)) return;
  using clock = std::chrono::steady_clock;
  const bool traced = rank_->trace != nullptr;
  if (traced) open();
  const auto begin = traced ? clock::now() : clock::time_point{};
  if (traced && cache_.contains(c)) {
    run_full_call(c, cache_.entry(c.what), false);
  } else {
    try {
      validate(state_, c);
    } catch (const usage_error&) {
      return run_rejected(c);
    }
    if (checked_mode_.is_on()) checked_mode_.compare(c);
    // Each call that a variable decides is counted where it is selected.
    const forced_choice& forced = rank_->by->of(c.what);
    prepared_call* const known =
        forced.algorithm.empty() && forced.composition.empty() ? cache_.find_prepared(c) : nullptr;
    prepared_call& p = known != nullptr ? *known : find(c);
    store_in_cache(c, p);
    if (c.in_types != nullptr || c.out_types != nullptr) {
      packed_blocks packed(c);
      packed.pack();
      execute(with_displacements(state_, packed.made(), in_displs_, out_displs_), p);
      packed.unpack();
    } else if (is_vector_form(c.what)) {
      execute(with_displacements(state_, c, in_displs_, out_displs_), p);
    } else {
      run_full_call(c, cache_.entry(c.what), false);
    }
  }
  if (!traced) return;
  const prepared_call& ran = *cache_.entry(c.what).prepared;
  trace(c, ran, ran.plan.get(), false, clock::now() - begin);
}

void call_dispatcher::run_rejected(const call& c) {
  call substitute = c;
  substitute_buffers substitutes;
  prepare_rejected(self_, state_, substitute, mode::blocking, substitutes);
  serve(self_, substitute);
  substitutes.rethrow_fault();
}

namespace {

// Whether a rank that sends zeros affects any other, and which: those from `first` to before `end`.
struct affected_ranks {
  int first, end;
};

affected_ranks ranks_affected_by(const communicator_state& where, const call& c) noexcept {
  const int me = where.rank(), size = where.size();
  switch (c.what) {
    case collective::barrier:
      return {0, 0};
    case collective::bcast:
    case collective::scatter:
    case collective::scatterv:
      return {0, me == c.root ? size : 0};
    case collective::gather:
    case collective::gatherv:
    case collective::reduce:
      return {c.root, me != c.root ? c.root + 1 : c.root};
    case collective::scan:
    case collective::exscan:
      return {me + 1, size};
    default:
      return {0, size};
  }
}

// Calls `one` with each rank whose result depends on what this rank sends. Data goes to the other
// group only, if there are two.
template <class One>
void each_receiver(const communicator_state& where, const call& c, const One& one) {
  const int me = where.rank(), first = where.graph().first_group;
  const auto crosses = [&](int r) { return first == 0 || (r < first) != (me < first); };
  const auto gets_nothing = [&](int r) {
    if (!c.in_counts.given() || c.what == collective::allgatherv) return false;
    const int block = first == 0 || r < first ? r : r - first;
    return static_cast<std::size_t>(block) < c.in_counts.size() &&
           c.in_counts[static_cast<std::size_t>(block)] == 0;
  };
  if (!is_neighborhood(c.what)) {
    const affected_ranks all = ranks_affected_by(where, c);
    for (int r = all.first; r < all.end; ++r)
      if (r != me && crosses(r) && !gets_nothing(r)) one(r);
    return;
  }
  const std::vector<int>& neighbors = where.graph().destinations;
  for (std::size_t i = 0; i < neighbors.size(); ++i) {
    const bool first_edge = std::find(neighbors.begin(), neighbors.begin() + static_cast<std::ptrdiff_t>(i),
                                      neighbors[i]) == neighbors.begin() + static_cast<std::ptrdiff_t>(i);
    if (neighbors[i] != me && first_edge) one(neighbors[i]);
  }
}

}  // namespace

void call_dispatcher::send_rejections(const call& c, const std::string& text) {
  // A schedule may skip this id. A receiver tests whether it has begun a call with this id or a
  // higher one.
  rejection what{state_.rejection_context(), next_id_, state_.rank(), text};
  endpoint& ep = state_.ep();
  if (state_.knows_all()) {
    each_receiver(state_, c, [&](int r) { ep.send_rejection(state_.members().address(r), what); });
  } else {
    const affected_ranks all = ranks_affected_by(state_, c);
    if (all.first >= all.end) return;
    what.first = all.first;
    what.end = all.end;
    what.to_whole_job = true;
    for (int r = 0; r < ep.size(); ++r)
      if (r != ep.rank()) ep.send_rejection(r, what);
  }
  ep.wait_for_rejections();
}

void call_dispatcher::announce_rejection(const call& c, bool zeros, const std::string& text) noexcept {
  try {
    open();
    rank_->rejections.reject(state_.rejection_context(), next_id_);
    if (zeros) send_rejections(c, text);
  } catch (...) {
    // There is no memory, or MPI has failed. No rank may continue with zeros that it does not know
    // of, so the job ends.
    if (state_.ep().node() == nullptr) state_.ep().kill_job(text);
    fail_job();
  }
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
  cached_call& r = cache_.store(c, p, {rank_->config.check, rank_->trace != nullptr, state_.inter()},
                                kernel_for(c), engine_);
  handle_failures_of(r.stored->ready);
  const forced_choice& forced = rank_->by->of(c.what);
  r.any_root = (c.what == collective::bcast || c.what == collective::reduce) && r.fast_path && !c.in_place &&
               !state_.inter() && forced.algorithm.empty() && forced.composition.empty();
  if (!r.repeatable || !rank_->by->trees || c.count == 0) return;
  count_intervals* intervals = cache_.intervals_of(c);
  if (intervals == nullptr && counts_differ) intervals = &cache_.add_intervals(c, count_bounds(state_, c));
  if (intervals != nullptr) call_cache::use_intervals(r, *intervals, c.type.size);
}

void call_dispatcher::cache_counts(std::uint64_t key, const void* input, void* output, const counted_call& c,
                                   const call& made) {
  cached_call& r = cache_.entry_of_key(key);
  r.key = r.out_of_line_key = no_call_key;
  if (checked_mode_.is_on() || rank_->trace || r.prepared == nullptr || r.prepared->is_composed()) return;
  cached_counts& last = cache_.counts_of(key);
  cache_.store_counts(key, input, output, c, made,
                      with_displacements(state_, made, last.dense_in, last.dense_out), engine_);
  handle_failures_of(last.ready);
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

void call_dispatcher::execute(const call& c, prepared_call& p, combine_function kernel) {
  if (kernel == nullptr) return execute(c, p);
  call with_kernel = c;
  with_kernel.op.combine = kernel;
  execute(with_kernel, p);
}

void call_dispatcher::execute(const call& c, prepared_call& p) {
  // Only this rank knows whether something else is under way. So it must not choose between two
  // forms of the engine's collective that do not meet (endpoint::progresses_in_waits()). A
  // composition may contain one.
  const auto run_to_end = [&]<class Run>(Run& r) {
    guarded([&] {
      if (!has_active_operations()) [[likely]]
        r.advance(true);
      else if (p.chosen.pure == nullptr && state_.ep().progresses_in_waits())
        state_.ep().wait_with_progress(
            *rank_, [](void* run) { static_cast<Run*>(run)->advance(true); }, &r);
      else
        rank_->finish(r);
    });
  };
  if (p.is_composed()) [[unlikely]] {
    if (!p.plan || !p.plan->serves(c)) p.plan = store_.plan(c, p, true);
    p.blocking_composite->begin(*p.plan->bound, c, next_id_of_call());
    return run_to_end(*p.blocking_composite);
  }
  if (is_at_id_of_hops() && !p.is_native()) [[unlikely]]
    ++next_id_;
  p.blocking->begin(*p.bound, c, next_id_++);
  run_to_end(*p.blocking);
}

// --- the trace (TUTTI_TRACE)

void call_dispatcher::trace(const call& c, const prepared_call& p, const bound_composition* plan,
                            bool nonblocking, std::chrono::nanoseconds elapsed) {
  call_kind kind =
      kind_of(c, p.composed, p.chosen, engine_->id(), state_.rank(), state_.size(), state_.inter());
  kind.nonblocking = nonblocking;
  rank_->trace->add(kind, bytes_of(c, state_.send_block_count(c.what)), elapsed);
  if (plan != nullptr && !plan->inner_calls.empty()) rank_->trace->set_inner_calls(kind, plan->inner_calls);
}

}  // namespace tutti::detail
