// SPDX-License-Identifier: Apache-2.0
//
// The long way of a call: checked, decided, its schedule found or written and bound, run. The short one is
// cached_call.cpp.
#include "communicator/communicator_impl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/compute/kernels.hpp"
#include "base/environment.hpp"
#include "base/report_text.hpp"
#include "communicator/dense_blocks.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

communicator_impl::communicator_impl(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where,
                                     topology shape)
    : call_site_slot{&shared->place},
      shared_(std::move(shared)),
      members_(where->members()),
      where_(std::move(where)),
      name_{2, where_->id()},
      topology_(std::move(shape)) {
  link_alive();
  if (!shared_->by) shared_->by = std::make_shared<const selection>();
  if (shared_->active.capacity() == 0) {
    shared_->active.reserve(max_idle);
    shared_->cores.reserve(rank_state::max_cores);
  }
  open();
}

communicator_impl::communicator_impl(const std::shared_ptr<rank_state>& shared, const group& members,
                                     const group_name& name)
    : call_site_slot{&shared->place}, shared_(shared), members_(members), name_(name) {
  link_alive();
}

// Never written to: nothing is like a call that there was none of.
communicator_impl::cached_call* communicator_impl::empty_cache() noexcept {
  static const std::array<cached_call, collective_names.size()> none;
  return const_cast<cached_call*>(none.data());
}

void communicator_impl::open() {
  if (!where_) where_ = ep().open_locally(members_, name_);
  links_.emplace(*where_);
  cache_storage_.reset(new cached_call[collective_names.size()]);
  cache_ = cache_storage_.get();
  if (members_.knows() != reach::any_rank) {  // nobody knows where the others lie
    own_layout_ = std::make_shared<const hierarchy>();
    layout_ = own_layout_.get();
    return;
  }
  const hierarchy& job = ep().layout();
  layout_ = &job;
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  bool whole = size() == ep().size();
  for (int r = 0; r < size(); ++r) {
    ranks[static_cast<std::size_t>(r)] = members_.address(r);
    whole = whole && members_.address(r) == r;
  }
  if (!whole) {
    own_layout_ = std::make_shared<const hierarchy>(job.restricted_to(ranks));
    layout_ = own_layout_.get();
  }
}

void communicator_impl::refuse(const char* operation, const char* parameter, std::string_view problem,
                               const char* remedy) const {
  throw usage_error(operation, rank(), parameter, problem, remedy, place());
}

void communicator_impl::refuse_rank(const char* operation, const char* parameter, int rank) const {
  refuse(operation, parameter,
         "is " + std::to_string(rank) + ", but ranks are 0 to " + std::to_string(size() - 1),
         "name a rank of this communicator");
}

// --- choosing
// -------------------------------------------------------------------------------------------------

selection_context communicator_impl::selection_context_of(const agreed_signature& s) const {
  selection_context all{.call = s, .shared_memory = ep().node() != nullptr};
  all.offer(offers_native(s));
  all.lie_on(*layout_);
  all.whole_job = size() == ep().size();
  all.reaches = members_.knows();
  all.engine = shared_->engine_conditions;
  return all;
}

resolution communicator_impl::decide(const call& c, const agreed_signature& s) const {
  resolution r = resolve(*shared_->by, selection_context_of(s), {c.algorithm, c.composition}, rank());
  note(c.what, r, s.inter);
  if (!r.served)
    refuse(name_of(c.what).data(), "", "no algorithm serves this call on this engine",
           "tutti list shows what each algorithm requires");
  return r;
}

// Which overrides came to use, and which could not.
void communicator_impl::note(collective what, const resolution& r, bool inter) const {
  if (r.obeyed_algorithm)
    ++shared_->use_of(what, inter ? override_kind::inter_algorithm : override_kind::algorithm).obeyed;
  if (r.obeyed_composition) ++shared_->use_of(what, override_kind::composition).obeyed;
  for (const resolution::unfit& u : r.unfits) fall_back(what, u);
}

// A name that cannot do this call: TUTTI_COLL_FALLBACK says what then.
void communicator_impl::fall_back(collective what, const resolution::unfit& u) const {
  auto& use = shared_->use_of(what, u.what);
  ++use.unfit;
  const std::string parameter = u.given_by == chosen_by::environment   ? override_variable(what, u.what)
                                : u.what == override_kind::composition ? "composition"
                                                                       : "algorithm";
  const std::string problem = "\"" + echoed(u.name) + "\" does not serve this call: " + u.reason;
  if (shared_->set.when_unfit == fallback::error)
    refuse(name_of(what).data(), parameter.c_str(), problem,
           "name another (see tutti list), or set TUTTI_COLL_FALLBACK=warn");
  if (shared_->set.when_unfit == fallback::warn && rank() == 0 && !use.reported) {
    use.reported = true;
    std::fprintf(stderr,
                 "tutti: %s: %s %s; another one is used (TUTTI_COLL_FALLBACK=error makes this an error)\n",
                 name_of(what).data(), parameter.c_str(), problem.c_str());
  }
}

communicator_impl::prepared& communicator_impl::find(const call& c) {
  return select(c, agreed_part(c, size(), inter()));
}

namespace {

constexpr std::array<const char*, collective_names.size()> native_names = {"barrier/native",
                                                                           "bcast/native",
                                                                           "reduce/native",
                                                                           "allreduce/native",
                                                                           "gather/native",
                                                                           "gatherv/native",
                                                                           "scatter/native",
                                                                           "scatterv/native",
                                                                           "allgather/native",
                                                                           "allgatherv/native",
                                                                           "alltoall/native",
                                                                           "alltoallv/native",
                                                                           "alltoallw/native",
                                                                           "reduce_scatter/native",
                                                                           "reduce_scatter_block/native",
                                                                           "scan/native",
                                                                           "exscan/native",
                                                                           "neighbor_allgatherv/native",
                                                                           "neighbor_alltoallv/native"};

}  // namespace

const char* communicator_impl::name_of_choice(collective what, const choice& c) noexcept {
  return c.pure != nullptr ? c.pure->name.data() : native_names[static_cast<std::size_t>(what)];
}

schedule communicator_impl::write(const choice& chosen, shape s) {
  builder b;
  if (chosen.pure == nullptr) {
    b.native();
  } else {
    s.parameter_values = chosen.parameter_values;
    chosen.pure->write(s, b);
  }
  return b.finish();
}

communicator_impl::prepared& communicator_impl::select(const call& c, const agreed_signature& s) {
  be_open();
  const resolution found = decide(c, s);
  for (const auto& k : known_)
    if (k->chosen == found.pure && k->composed == found.composed && k->what == c.what && k->root == c.root &&
        k->in_place == c.in_place && k->commutative == s.commutative)
      return *k;
  auto made = std::make_unique<prepared>();
  made->chosen = found.pure;
  made->composed = found.composed;
  made->what = c.what;
  made->root = c.root;
  made->in_place = c.in_place;
  made->commutative = s.commutative;
  if (found.composed.which != nullptr) {
    made->name = found.composed.which->name.data();
    made->blocking_composite = std::make_unique<composite_run>();
  } else {
    made->name = name_of_choice(c.what, found.pure);
    shape sh;
    sh.what = c.what;
    sh.size = size();
    sh.rank = rank();
    sh.root = c.root;
    sh.in_place = c.in_place;
    sh.commutative = s.commutative;
    sh.first_group = topology_.first_group;
    sh.sources = topology_.sources;
    sh.destinations = topology_.destinations;
    made->bound = std::make_unique<bound_schedule>(made->name, write(found.pure, sh), *where_, *links_);
    made->blocking = std::make_unique<schedule_run>();
  }
  known_.push_back(std::move(made));
  return *known_.back();
}

// --- running
// --------------------------------------------------------------------------------------------------

call communicator_impl::with_displacements(const call& c, std::vector<std::size_t>& in,
                                           std::vector<std::size_t>& out) const {
  call full = c;
  if (c.what == collective::reduce_scatter) {  // the counts divide the operand; the result is one block
    full.in_counts = c.out_counts;
    const int first = topology_.first_group;
    full.count = c.out_counts[static_cast<std::size_t>(rank() < first ? rank() : rank() - first)];
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

void communicator_impl::run_uncached(const call& c) {
  if (shared_->trace == nullptr)
    run_first(c);
  else
    run_traced(c);
}

// With the way to the schedule as it would be, and a look at the clock before and after.
void communicator_impl::run_traced(const call& c) {
  be_open();
  cached_call& r = cache_[static_cast<std::size_t>(c.what)];
  const auto begin = std::chrono::steady_clock::now();
  if (is_in_cache(c, r)) {
    run_cached_call(c, r);
  } else {
    run_first(c);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  note_call(c, *r.found, r.found->program.get(), false, took);
}

void communicator_impl::run_with_progress(const call& c, cached_call& r) {
  if (r.kernel == nullptr) {
    carry_out(c, *r.found);
  } else {
    call faster = c;
    faster.op.combine = r.kernel;
    carry_out(faster, *r.found);
  }
}

void communicator_impl::check(const call& c) {
  try {
    validate(c);
  } catch (const usage_error& e) {
    if (shared_->set.check) report_refusal(c, e.what());
    throw;
  }
  if (shared_->set.check) compare_with_others(&c);
}

void communicator_impl::run_first(const call& c) {
  try {
    validate(c);
  } catch (const usage_error&) {
    return run_refused(c);
  }
  if (shared_->set.check) compare_with_others(&c);
  prepared& p = find(c);
  remember(c, p);
  if (c.in_types != nullptr || c.out_types != nullptr) {
    dense_blocks dense(c);
    dense.pack();
    carry_out(with_displacements(dense.made(), in_displs_, out_displs_), p);
    dense.unpack();
  } else if (is_vector_form(c.what)) {
    carry_out(with_displacements(c, in_displs_, out_displs_), p);
  } else {
    run_cached_call(c, cache_[static_cast<std::size_t>(c.what)]);
  }
}

// The library's own loops are faster than what a template makes of a long vector.
combine_function communicator_impl::kernel_for(const call& c) noexcept {
  if (c.op.which == builtin_op::user || c.count * c.type.size < min_kernel_bytes) return nullptr;
  return compute::kernel(c.op.which, c.type.kind);
}

void communicator_impl::release() noexcept {
  if (!usable()) return;
  released_ = true;
  for (cached_call& r : cached_calls()) r.forget();
}

// From a handler. An error that the engine threw is given the place of the call that it leaves.
void communicator_impl::give_up() noexcept {
  try {
    throw;
  } catch (error& e) {
    try {
      e.locate(place());
    } catch (const std::bad_alloc&) {  // it stays as it is
    }
  } catch (...) {
  }
  ep().abandon(std::current_exception());
}

// Whether something else is under way is known to this rank alone, so it must not choose between two forms of
// the engine's own collective that do not meet each other: see endpoint::progresses_inside(). Composed calls
// may hold one.
template <class Run>
void communicator_impl::run_to_end(Run& r, const prepared& p) {
  guarded([&] {
    if (shared_->active.empty()) [[likely]]
      r.go_on(true);
    else if (p.chosen.pure == nullptr && ep().progresses_inside())
      ep().wait_inside(
          *shared_, [](void* run) { static_cast<Run*>(run)->go_on(true); }, &r);
    else
      finish(r);
  });
}

void communicator_impl::carry_out(const call& c, prepared& p) {
  if (p.bound == nullptr) [[unlikely]] {
    if (!p.program || !p.program->serves(c)) p.program = plan(c, p, true);
    p.blocking_composite->begin(*p.program->bound, c, next_number_of_call());
    run_to_end(*p.blocking_composite, p);
    return;
  }
  p.blocking->begin(*p.bound, c, next_number_of_call());
  run_to_end(*p.blocking, p);
}

// --- the door (tutti/detail/abi.hpp)
// ---------------------------------------------------------------------------

void run_call(communicator_impl& c, const call& what) { c.run_blocking(what); }
void check_call(communicator_impl& c, const call& what) { c.check(what); }
pending_call start_call(communicator_impl& c, const call& what) { return c.make_pending(what, true); }
pending_call prepare_call(communicator_impl& c, const call& what) { return c.make_pending(what, false); }
void* acquire_memory(communicator_impl& c, std::size_t bytes) { return c.acquire_memory(bytes); }
void release_memory(communicator_impl& c, void* memory, std::size_t bytes) noexcept {
  c.release_memory(memory, bytes);
}
communicator_handle duplicate(communicator_impl& c) { return c.duplicate(); }
communicator_handle with_graph(communicator_impl& c, std::span<const int> sources,
                               std::span<const int> destinations) {
  return c.with({true, {sources.begin(), sources.end()}, {destinations.begin(), destinations.end()}, 0},
                "graph");
}
communicator_handle between(communicator_impl& c, int first) {
  return c.with({false, {}, {}, first}, "between");
}
communicator_handle split(communicator_impl& c, int color, int key) { return c.split(color, key, "split"); }
communicator_handle split_bin(communicator_impl& c, int bins, int bin) {
  return c.split(bin, 0, "split_bin", bins);
}
distinct_number number_distinct(communicator_impl& c, std::string_view text) {
  return c.number_distinct(text);
}
communicator_handle between_groups(communicator_impl& c, communicator_impl& local, int remote_leader) {
  return c.between_groups(local, remote_leader);
}
communicator_handle range(communicator_impl& c, int first, int last, int stride) {
  return c.range(first, last, stride);
}
communicator_handle list(communicator_impl& c, std::span<const int> ranks) { return c.list(ranks); }
int translate(const communicator_impl& c, int rank, const communicator_impl& to) {
  return c.translate(rank, to, "translate");
}
communicator_handle split_to_shared_memory(communicator_impl& c) {
  return c.split(c.own_node(), 0, "split_to_shared_memory");
}
int send_block_count(const communicator_impl& c, collective what) noexcept {
  return c.send_block_count(what);
}
int recv_block_count(const communicator_impl& c, collective what) noexcept {
  return c.recv_block_count(what);
}
int first_group(const communicator_impl& c) noexcept { return c.graph().first_group; }
void release(communicator_impl& c) noexcept { c.release(); }
const std::source_location& place_of(const communicator_impl& c) noexcept { return c.place(); }
int rank_of(const communicator_impl& c) noexcept { return c.rank(); }
int size_of(const communicator_impl& c) noexcept { return c.size(); }
void refuse(const communicator_impl& c, const char* operation, const char* parameter,
            std::string_view problem, const char* remedy) {
  c.check_thread(operation);  // then this is what is wrong with the call
  c.refuse(operation, parameter, problem, remedy);
}
const char* last_algorithm(const communicator_impl& c, collective what) noexcept {
  return c.last_algorithm(what);
}

}  // namespace tutti::detail
