// SPDX-License-Identifier: Apache-2.0
//
// The long way of a call: checked, decided, its schedule found or written and bound, run. The short one is
// warm.cpp.
#include "face/core.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "compute/kernels.hpp"
#include "core/environment.hpp"
#include "core/report.hpp"
#include "face/dense_blocks.hpp"
#include "tutti/core/error.hpp"

namespace tutti::detail {

core::core(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where, topology shape)
    : noted_place{&shared->place},
      shared_(std::move(shared)),
      members_(where->members()),
      where_(std::move(where)),
      name_{2, where_->id()},
      topology_(std::move(shape)) {
  join_living();
  if (!shared_->by) shared_->by = std::make_shared<const selection>();
  if (shared_->active.capacity() == 0) {
    shared_->active.reserve(most_idle);
    shared_->cores.reserve(rank_state::most_cores);
  }
  open();
}

core::core(const std::shared_ptr<rank_state>& shared, const group& members, const group_name& name)
    : noted_place{&shared->place}, shared_(shared), members_(members), name_(name) {
  join_living();
}

// Never written to: nothing is like a call that there was none of.
core::recent* core::none_recent() noexcept {
  static const std::array<recent, collective_names.size()> none;
  return const_cast<recent*>(none.data());
}

void core::open() {
  if (!where_) where_ = door().open_locally(members_, name_);
  links_.emplace(*where_);
  own_recent_.reset(new recent[collective_names.size()]);
  recent_ = own_recent_.get();
  if (members_.knows() != reach::any_rank) {  // nobody knows where the others lie
    own_layout_ = std::make_shared<const hierarchy>();
    layout_ = own_layout_.get();
    return;
  }
  const hierarchy& job = door().layout();
  layout_ = &job;
  std::vector<int> ranks(static_cast<std::size_t>(size()));
  bool whole = size() == door().size();
  for (int r = 0; r < size(); ++r) {
    ranks[static_cast<std::size_t>(r)] = members_.address(r);
    whole = whole && members_.address(r) == r;
  }
  if (!whole) {
    own_layout_ = std::make_shared<const hierarchy>(job.restricted_to(ranks));
    layout_ = own_layout_.get();
  }
}

void core::refuse(const char* operation, const char* parameter, std::string_view problem,
                  const char* remedy) const {
  throw usage_error(operation, rank(), parameter, problem, remedy, place());
}

void core::refuse_rank(const char* operation, const char* parameter, int rank) const {
  refuse(operation, parameter,
         "is " + std::to_string(rank) + ", but ranks are 0 to " + std::to_string(size() - 1),
         "name a rank of this communicator");
}

// --- choosing
// -------------------------------------------------------------------------------------------------

situation core::situation_of(const agreed_signature& s) const {
  situation all{.call = s, .shared_memory = door().node() != nullptr};
  all.offer(offers_native(s));
  all.lie_on(*layout_);
  all.whole_job = size() == door().size();
  all.reaches = members_.knows();
  all.engine = shared_->engine_conditions;
  return all;
}

resolution core::decide(const call& c, const agreed_signature& s) const {
  resolution r = resolve(*shared_->by, situation_of(s), {c.algorithm, c.composition}, rank());
  note(c.what, r, s.inter);
  if (!r.served)
    refuse(name_of(c.what).data(), "", "no algorithm serves this call on this engine",
           "see tutti list for what each algorithm demands");
  return r;
}

// Which overrides came to use, and which could not.
void core::note(collective what, const resolution& r, bool inter) const {
  if (r.obeyed_algorithm)
    ++shared_->use_of(what, inter ? override_kind::inter_algorithm : override_kind::algorithm).obeyed;
  if (r.obeyed_composition) ++shared_->use_of(what, override_kind::composition).obeyed;
  for (const resolution::unfit& u : r.unfits) fall_back(what, u);
}

// A name that cannot do this call: TUTTI_COLL_FALLBACK says what then.
void core::fall_back(collective what, const resolution::unfit& u) const {
  auto& use = shared_->use_of(what, u.what);
  ++use.unfit;
  const std::string parameter = u.given_by == chosen_by::environment   ? override_variable(what, u.what)
                                : u.what == override_kind::composition ? "composition"
                                                                       : "algorithm";
  const std::string problem = "\"" + echoed(u.name) + "\" does not serve this call: " + u.reason;
  if (shared_->set.when_unfit == fallback::error)
    refuse(name_of(what).data(), parameter.c_str(), problem,
           "name another (see tutti list), or set TUTTI_COLL_FALLBACK=warn");
  if (shared_->set.when_unfit == fallback::warn && rank() == 0 && !use.said) {
    use.said = true;
    std::fprintf(stderr, "tutti: %s: %s %s; another is used (TUTTI_COLL_FALLBACK=error would refuse)\n",
                 name_of(what).data(), parameter.c_str(), problem.c_str());
  }
}

core::prepared& core::find(const call& c) { return select(c, agreed_part(c, size(), inter())); }

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

const char* core::name_of_choice(collective what, const choice& c) noexcept {
  return c.pure != nullptr ? c.pure->name.data() : native_names[static_cast<std::size_t>(what)];
}

schedule core::write(const choice& chosen, shape s) {
  builder b;
  if (chosen.pure == nullptr) {
    b.native();
  } else {
    s.knobs = chosen.knobs;
    chosen.pure->write(s, b);
  }
  return b.finish();
}

core::prepared& core::select(const call& c, const agreed_signature& s) {
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
    made->blocking_program = std::make_unique<program_run>();
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

call core::with_displacements(const call& c, std::vector<std::size_t>& in,
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

void core::run_otherwise(const call& c) {
  if (shared_->trace == nullptr)
    run_first(c);
  else
    run_traced(c);
}

// With the way to the schedule as it would be, and a look at the clock before and after.
void core::run_traced(const call& c) {
  be_open();
  recent& r = recent_[static_cast<std::size_t>(c.what)];
  const auto begin = std::chrono::steady_clock::now();
  if (is_like(c, r)) {
    run_again(c, r);
  } else {
    run_first(c);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  note_call(c, *r.found, r.found->program.get(), false, took);
}

void core::run_plainly(const call& c, recent& r) {
  if (r.kernel == nullptr) {
    carry_out(c, *r.found);
  } else {
    call faster = c;
    faster.op.combine = r.kernel;
    carry_out(faster, *r.found);
  }
}

void core::check(const call& c) {
  try {
    validate(c);
  } catch (const usage_error& e) {
    if (shared_->set.check) tell_refusal(c, e.what());
    throw;
  }
  if (shared_->set.check) compare_with_others(&c);
}

void core::run_first(const call& c) {
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
    run_again(c, recent_[static_cast<std::size_t>(c.what)]);
  }
}

// The library's own loops are faster than what a template makes of a long vector.
combine_function core::kernel_for(const call& c) noexcept {
  if (c.op.which == builtin_op::user || c.count * c.type.size < least_kernel_bytes) return nullptr;
  return compute::kernel(c.op.which, c.type.kind);
}

void core::release() noexcept {
  if (!usable()) return;
  released_ = true;
  for (recent& r : recents()) r.forget();
}

// From a handler. An error that the engine threw is given the place of the call that it leaves.
void core::give_up() noexcept {
  try {
    throw;
  } catch (error& e) {
    try {
      e.locate(place());
    } catch (const std::bad_alloc&) {  // it stays as it is
    }
  } catch (...) {
  }
  door().abandon(std::current_exception());
}

// Whether something else is under way is known to this rank alone, so it must not choose between two forms of
// the engine's own collective that do not meet each other: see endpoint::progresses_inside(). Composed calls
// may hold one.
template <class Run>
void core::run_to_end(Run& r, const prepared& p) {
  guarded([&] {
    if (shared_->active.empty()) [[likely]]
      r.go_on(true);
    else if (p.chosen.pure == nullptr && door().progresses_inside())
      door().wait_inside(
          *shared_, [](void* run) { static_cast<Run*>(run)->go_on(true); }, &r);
    else
      finish(r);
  });
}

void core::carry_out(const call& c, prepared& p) {
  if (p.bound == nullptr) [[unlikely]] {
    if (!p.program || !p.program->serves(c)) p.program = plan(c, p, true);
    p.blocking_program->begin(*p.program->bound, c, next_number_of_call());
    run_to_end(*p.blocking_program, p);
    return;
  }
  p.blocking->begin(*p.bound, c, next_number_of_call());
  run_to_end(*p.blocking, p);
}

// --- the door (tutti/core/port.hpp)
// ---------------------------------------------------------------------------

void run_call(core& c, const call& what) { c.run_blocking(what); }
void check_call(core& c, const call& what) { c.check(what); }
pending_call start_call(core& c, const call& what) { return c.make_pending(what, true); }
pending_call prepare_call(core& c, const call& what) { return c.make_pending(what, false); }
void* take_memory(core& c, std::size_t bytes) { return c.take_memory(bytes); }
void give_memory(core& c, void* memory, std::size_t bytes) noexcept { c.give_memory(memory, bytes); }
core_handle duplicate(core& c) { return c.duplicate(); }
core_handle with_graph(core& c, std::span<const int> sources, std::span<const int> destinations) {
  return c.with({true, {sources.begin(), sources.end()}, {destinations.begin(), destinations.end()}, 0},
                "graph");
}
core_handle between(core& c, int first) { return c.with({false, {}, {}, first}, "between"); }
core_handle split(core& c, int color, int key) { return c.split(color, key, "split"); }
core_handle split_bin(core& c, int bins, int bin) { return c.split(bin, 0, "split_bin", bins); }
numbered number_distinct(core& c, std::string_view text) { return c.number_distinct(text); }
core_handle between_groups(core& c, core& local, int remote_leader) {
  return c.between_groups(local, remote_leader);
}
core_handle range(core& c, int first, int last, int stride) { return c.range(first, last, stride); }
core_handle list(core& c, std::span<const int> ranks) { return c.list(ranks); }
int translate(const core& c, int rank, const core& to) { return c.translate(rank, to, "translate"); }
core_handle split_to_shared_memory(core& c) { return c.split(c.own_node(), 0, "split_to_shared_memory"); }
int blocks_given(const core& c, collective what) noexcept { return c.blocks_given(what); }
int blocks_taken(const core& c, collective what) noexcept { return c.blocks_taken(what); }
int first_group(const core& c) noexcept { return c.graph().first_group; }
void release(core& c) noexcept { c.release(); }
const std::source_location& place_of(const core& c) noexcept { return c.place(); }
int rank_of(const core& c) noexcept { return c.rank(); }
int size_of(const core& c) noexcept { return c.size(); }
void refuse(const core& c, const char* operation, const char* parameter, std::string_view problem,
            const char* remedy) {
  c.refuse_elsewhere(operation);  // then this is what is wrong with the call
  c.refuse(operation, parameter, problem, remedy);
}
const char* last_algorithm(const core& c, collective what) noexcept { return c.last_algorithm(what); }

}  // namespace tutti::detail
