// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/serve.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <thread>

#include "frontends/preload/pending_calls.hpp"
#include "runtime/trace/trace.hpp"
#include "selection/flat_tree.hpp"
#include "tutti/error.hpp"

namespace tutti::preload {
namespace {

// The key of a call before its translation. For vector forms the datatypes do not matter.
struct call_key {
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  bool in_place = false;  // on all ranks
};

call_key call_key_of(const arguments& a, const known_communicator& m) {
  const bool in_place = a.in_place() && !is_rooted(a.what);
  if (a.what == collective::barrier) return {};
  if (combines(a.what))
    return {a.what == collective::reduce_scatter ? 0 : a.out_count, a.out_type, a.op, in_place};
  if (is_vector_form(a.what)) return {0, MPI_DATATYPE_NULL, MPI_OP_NULL, in_place};
  if (a.what == collective::gather || a.what == collective::scatter) {
    const bool from_in = (a.what == collective::gather) != (m.rank == a.root);
    return {from_in ? a.in_count : a.out_count, from_in ? a.in_type : a.out_type, MPI_OP_NULL, false};
  }
  return {a.out_count, a.out_type, MPI_OP_NULL, in_place};
}

bool matches(const verdict& v, const call_key& l, unsigned generation) {
  return v.type == l.type && v.op == l.op && (v.either || v.in_place == l.in_place) && within(v, l.count) &&
         v.generation == generation;
}

// Whether the call is forwarded to MPI, and the interval of tutti's counts with the same decision.
// MPI offers every collective for every call.
struct decision {
  bool passes;
  std::uint64_t least, most;
};

decision decide(const process& p, const known_communicator& m, const call& c) {
  const agreed_signature s = agreed_part(c, m.size);
  selection_context all{.call = s, .native = true, .shared_memory = false};
  all.lie_on(m.layout);
  all.whole_job = m.size == p.ep->size();
  all.reaches = reach::any_rank;
  all.engine = p.shared->engine_conditions;
  const resolution found = resolve(*p.shared->by, all, {});
  if (found.obeyed_algorithm) ++p.shared->use_of(c.what, override_kind::algorithm).obeyed;
  if (found.obeyed_composition) ++p.shared->use_of(c.what, override_kind::composition).obeyed;
  const bool passes = !found.served || (found.composed.which == nullptr && found.pure.pure == nullptr);
  const forced_choice& forced = p.shared->by->of(c.what);
  if (!forced.algorithm.empty() || !forced.composition.empty() || !p.shared->by->trees || s.count == 0)
    return {passes, s.count, s.count};
  decision d{passes, 1, tree_step::open};
  for (const tree_half half : {tree_half::composition, tree_half::pure}) {
    const flat_tree flat(*p.shared->by->trees, all, half);
    std::uint64_t from = 0;
    for (const flat_step& step : flat.steps()) {
      if (s.count <= step.upper_bound_of_count) {
        d.least = std::max(d.least, from);
        d.most = std::min(d.most, step.upper_bound_of_count);
        break;
      }
      from = step.upper_bound_of_count + 1;
    }
  }
  // The library itself also divides here, at as many elements as ranks.
  const auto ranks = static_cast<std::uint64_t>(m.size);
  if (s.count < ranks)
    d.most = std::min(d.most, ranks - 1);
  else
    d.least = std::max(d.least, ranks);
  return d;
}

// Converts the interval to counts of the program.
std::unique_ptr<const verdict> judged(const process& p, const known_communicator& m, const call_key& l,
                                      const translated_call& translated) {
  const call& c = translated.made();
  const decision d = decide(p, m, c);
  auto v = std::make_unique<verdict>();
  v->type = l.type;
  v->op = l.op;
  v->in_place = l.in_place;
  v->generation = p.types.generation();
  v->passes = d.passes;
  if (d.passes) {  // then it passes at once, without a test for in place
    call other = c;
    other.in_place = !c.in_place;
    const decision e = decide(p, m, other);
    v->either = is_rooted(c.what) || (e.passes && e.least == d.least && e.most == d.most);
  }
  v->least = l.count;
  if (c.count == 0 || l.count == 0 || is_vector_form(c.what)) return v;
  const std::uint64_t each = c.count / static_cast<unsigned>(l.count);
  v->direct = translated.direct();
  v->type_of_ours = c.type;
  v->op_of_ours = c.op;
  v->each = each;
  constexpr std::uint64_t max_int = 0x7fffffff;
  v->least = static_cast<int>((d.least + each - 1) / each);
  v->span = static_cast<unsigned>(std::min(max_int, d.most / each)) - static_cast<unsigned>(v->least);
  return v;
}

const verdict* known_verdict(const known_communicator& m, collective what, const call_key& l,
                             unsigned generation) {
  for (const auto& v : m.known[static_cast<std::size_t>(what)])
    if (matches(*v, l, generation)) return v.get();
  return nullptr;
}

const verdict& remembered(known_communicator& m, collective what, std::unique_ptr<const verdict> v) {
  constexpr std::size_t most = 64;
  auto& all = m.known[static_cast<std::size_t>(what)];
  if (all.size() == most) {
    m.leave_none();
    all.clear();
  }
  all.push_back(std::move(v));
  return *all.back();
}

void keep_passing(const process& p, known_communicator& m, collective what, const verdict& v) {
  if (v.either && !p.told && !p.compared)
    m.passing[static_cast<std::size_t>(what)].store(&v, std::memory_order_release);
}

// Whether the trees decide calls of this kind by a size that a verdict does not contain.
bool decided_by_counts(const process& p, collective what) {
  return has_agreed_counts(what) && p.shared->by->trees &&
         asks(*p.shared->by->trees, what, quantity::total_bytes);
}

// Translates a call for tutti. Returns false if it is forwarded to MPI.
bool translate(process& p, known_communicator& m, const arguments& a, const call_key& l, const verdict* v,
               translated_call& translated) {
  try {
    if (!translated.translate(a, m.rank, m.size)) return false;
  } catch (const error&) {
    return false;  // MPI rejects the arguments, and will report that to the program
  }
  if (v == nullptr && decided_by_counts(p, a.what)) return !decide(p, m, translated.made()).passes;
  if (v == nullptr) v = &remembered(m, a.what, judged(p, m, l, translated));
  if (v->passes) keep_passing(p, m, a.what, *v);
  return !v->passes;
}

// For a verdict whose calls need no full translation. Returns false if this call needs it.
bool translate_directly(const verdict& v, const arguments& a, const known_communicator& m, call& c) {
  if (a.out == MPI_IN_PLACE) return false;
  const bool rooted = is_rooted(a.what), root = m.rank == a.root;
  if (rooted && (a.root < 0 || a.root >= m.size)) return false;
  // Two sides, each with a datatype.
  const bool two = !combines(a.what) && a.what != collective::bcast;
  const bool gives = a.what != collective::scatter || root;
  const bool takes = (a.what != collective::reduce && a.what != collective::gather) || root;
  c.in_place = a.in_place();
  if (c.in_place && rooted) return false;
  if (two && gives && takes && !c.in_place && (a.in_type != a.out_type || a.in_count != a.out_count))
    return false;
  c.what = a.what;
  c.root = a.root;
  c.type = v.type_of_ours;
  c.op = v.op_of_ours;
  const bool from_in = (a.what == collective::gather && !root) || (a.what == collective::scatter && root);
  c.count = static_cast<std::size_t>(from_in ? a.in_count : a.out_count) * v.each;
  c.output = takes ? a.out : nullptr;
  c.input = c.in_place || a.what == collective::bcast ? c.output : gives ? a.in : nullptr;
  return (!gives || c.input != nullptr) && (!takes || c.output != nullptr) &&
         (c.in_place || a.what == collective::bcast || c.input != c.output);
}

// With several threads, each one lets the others in while it waits.
void carry_out(process& p, known_communicator& m, const call& c) {
  if (!p.threads) {
    const own_errors errors(p);
    const pending_calls::alone at_work(*p.begun);
    return run_call(*m.impl, c);
  }
  detail::pending_call run;
  {
    const auto mine = p.turn.take();
    run = start_call(*m.impl, c);
  }
  for (patience tries;; tries.pause()) {
    const auto mine = p.turn.take();
    const own_errors errors(p);
    if (!run->test()) continue;
    run.reset();
    return;
  }
}

void tell(process& p, known_communicator& m, const call& c, std::chrono::steady_clock::time_point began) {
  const auto took = std::chrono::steady_clock::now() - began;
  const auto mine = p.turn.take();
  p.told->add(c.what, false, last_algorithm(*m.impl, c.what), detail::bytes_of(c, m.size), took);
}

std::uint64_t bytes_of(process& p, const known_communicator& m, const arguments& a) {
  if (a.what == collective::barrier) return 0;
  const auto size = [&](MPI_Datatype type) -> std::uint64_t {
    const datatype& t = p.types.of(type);
    return t.usable ? t.size : 0;
  };
  if (is_vector_form(a.what)) {
    const int* counts = a.out_counts != nullptr ? a.out_counts : a.in_counts;
    const bool here = !is_rooted(a.what) || m.rank == a.root;
    const MPI_Datatype* each = a.out_types;
    std::uint64_t sum = 0;
    for (int i = 0; here && counts != nullptr && i < m.size; ++i)
      if (counts[i] > 0)
        sum += static_cast<std::uint64_t>(counts[i]) * size(each != nullptr                  ? each[i]
                                                            : a.what == collective::scatterv ? a.in_type
                                                                                             : a.out_type);
    return sum;
  }
  const call_key l = call_key_of(a, m);
  const bool by_rank = a.what == collective::gather || a.what == collective::scatter ||
                       a.what == collective::allgather || a.what == collective::alltoall ||
                       a.what == collective::reduce_scatter_block;
  return l.count < 0 ? 0
                     : static_cast<std::uint64_t>(l.count) * size(l.type) *
                           (by_rank ? static_cast<unsigned>(m.size) : 1);
}

}  // namespace

std::optional<int> serve(process& p, const arguments& a) {
  known_communicator* m = communicator_table_in_use::place_of(a.comm).load(std::memory_order_acquire);
  if (m == nullptr || m->comm != a.comm) m = p.all.of(a.comm, *p.ep).get();
  if (m == nullptr || !m->served) return {};
  const call_key l = call_key_of(a, *m);
  const verdict* const v = known_verdict(*m, a.what, l, p.types.generation());
  if (v != nullptr && v->passes) {
    keep_passing(p, *m, a.what, *v);
    return {};
  }
  call direct;
  translated_call* translated = nullptr;
  if (v == nullptr || !v->direct || !m->impl || !translate_directly(*v, a, *m, direct)) {
    if (!m->translated) m->translated = std::make_unique<translated_call>(p.types, p.ops);
    translated = m->translated.get();
    if (!translate(p, *m, a, l, v, *translated)) return {};
  }
  const call& c = translated != nullptr ? translated->made() : direct;
  try {
    p.open(*m);
    const auto began = p.told ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    carry_out(p, *m, c);
    if (translated != nullptr) translated->finish();
    if (p.told) [[unlikely]]
      tell(p, *m, c, began);
    return MPI_SUCCESS;
  } catch (...) {
    return failed(a.comm);
  }
}

std::optional<int> serve_begun(process& p, const arguments& a, MPI_Request* request) {
  if (!p.begins || request == nullptr) return {};
  std::shared_ptr<known_communicator> m = p.all.of(a.comm, *p.ep);
  if (!m || !m->served) return {};
  const call_key l = call_key_of(a, *m);
  const verdict* const v = known_verdict(*m, a.what, l, p.types.generation());
  if (v != nullptr && v->passes) {
    keep_passing(p, *m, a.what, *v);
    return {};
  }
  begun_call& one = p.begun->fresh();
  if (!translate(p, *m, a, l, v, one.translated)) {
    p.begun->drop(one);
    return {};
  }
  p.open(*m);
  p.begun->begin(one, std::move(m), request);
  return MPI_SUCCESS;
}

passed_call::passed_call(process* p, const arguments& a, bool nonblocking)
    : p_(p != nullptr && p->told ? p : nullptr), what_(a.what), nonblocking_(nonblocking) {
  if (p_ == nullptr) return;
  if (const auto m = p->all.of(a.comm, *p->ep); m && m->served) bytes_ = bytes_of(*p, *m, a);
  began_ = std::chrono::steady_clock::now();
}

passed_call::~passed_call() {
  if (p_ != nullptr)
    p_->told->add(what_, nonblocking_, nullptr, bytes_, std::chrono::steady_clock::now() - began_);
}

bool ends_job(MPI_Errhandler handler) noexcept {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

int failed(MPI_Comm comm) noexcept {
  int code = MPI_ERR_OTHER;
  bool seen_by_all = false;
  std::string text = "an exception that is not a std::exception";
  try {
    throw;
  } catch (const truncation_error& e) {
    code = MPI_ERR_TRUNCATE;
    text = e.what();
  } catch (const mismatch_error& e) {
    seen_by_all = true;
    text = e.what();
  } catch (const deadlock_error& e) {
    seen_by_all = true;
    text = e.what();
  } catch (const std::bad_alloc& e) {
    code = MPI_ERR_NO_MEM;
    text = e.what();
  } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {
  }
  // MPI has no text that describes the error.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) {
    if (ends_job(handler)) {
      int rank = 0;
      PMPI_Comm_rank(comm, &rank);
      // One report is enough, and rank 0's ends the job. But rank 0, or rank 1, may not have
      // reached the error.
      if (seen_by_all && rank != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1600 + 400 * std::min(rank, 20)));
      const std::size_t own_prefix = text.rfind("tutti: ", 0) == 0 ? 7 : 0;
      std::fprintf(stderr, "tutti preload: %s\n", text.c_str() + own_prefix);
      std::fflush(stderr);
    }
    PMPI_Errhandler_free(&handler);
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::preload
