// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/serve.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <thread>

#include "frontends/preload/decisions.hpp"
#include "frontends/preload/packed_bcast.hpp"
#include "frontends/preload/pending_calls.hpp"
#include "runtime/trace/trace.hpp"
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

call_key call_key_of(const arguments& a, const communicator_info& m) {
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

bool matches(const cached_decision& v, const call_key& key, unsigned generation) {
  return v.type == key.type && v.op == key.op && (v.any_in_place || v.in_place == key.in_place) &&
         contains(v, key.count) && v.generation == generation;
}

// Converts the interval to counts of the program.
std::unique_ptr<const cached_decision> make_decision(process& p, communicator_info& m, const call_key& key,
                                                     const translated_call& translated) {
  const call& c = translated.result();
  const decision d = decide(p, m, c);
  auto v = std::make_unique<cached_decision>();
  v->type = key.type;
  v->op = key.op;
  v->in_place = key.in_place;
  v->generation = p.types.generation();
  v->forwarded = d.forwarded;
  if (d.forwarded) {  // then later calls are forwarded at once, without a test for in place
    call other = c;
    other.in_place = !c.in_place;
    const decision e = decide(p, m, other);
    v->any_in_place =
        is_rooted(c.what) || (e.forwarded && e.min_count == d.min_count && e.max_count == d.max_count);
  }
  v->min_count = key.count;
  if (c.count == 0 || key.count == 0 || is_vector_form(c.what)) return v;
  const std::uint64_t each = c.count / static_cast<unsigned>(key.count);
  v->direct = translated.direct();
  v->tutti_type = c.type;
  v->tutti_op = c.op;
  v->elements_per_item = each;
  constexpr std::uint64_t max_int = 0x7fffffff;
  v->min_count = static_cast<int>((d.min_count + each - 1) / each);
  v->span =
      static_cast<unsigned>(std::min(max_int, d.max_count / each)) - static_cast<unsigned>(v->min_count);
  return v;
}

const cached_decision* find_decision(const communicator_info& m, collective what, const call_key& key,
                                     unsigned generation) {
  for (const auto& v : m.decisions[static_cast<std::size_t>(what)])
    if (matches(*v, key, generation)) return v.get();
  return nullptr;
}

const cached_decision& store_decision(communicator_info& m, collective what,
                                      std::unique_ptr<const cached_decision> v) {
  auto& all = m.decisions[static_cast<std::size_t>(what)];
  // Those of an earlier generation match no call any more.
  if (all.size() == max_decisions || (!all.empty() && all.back()->generation != v->generation)) {
    m.reset_forwarded();
    all.clear();
  }
  all.push_back(std::move(v));
  return *all.back();
}

void cache_forwarded(const process& p, communicator_info& m, collective what, const cached_decision& v) {
  if (v.any_in_place && !p.stats && !p.comparison)
    m.last_forwarded[static_cast<std::size_t>(what)].store(&v, std::memory_order_release);
}

// Some programs make a datatype or an operator for each call.
bool may_keep_decisions(process& p, const call_key& key) {
  const bool has_type = key.type != MPI_DATATYPE_NULL, has_op = key.op != MPI_OP_NULL;
  const bool type_used = !has_type || p.types.use_again(key.type),
             op_used = !has_op || p.ops.use_again(key.op);
  if (!type_used || !op_used) return false;
  if (has_type) p.types.note_decision(key.type);
  if (has_op) p.ops.note_decision(key.op);
  return true;
}

// Whether it is known at once that the next call may have another datatype or operator.
bool is_made_for_a_call(process& p, const call_key& key) {
  return p.types.is_vector(key.type) || (key.op != MPI_OP_NULL && p.ops.is_of_program(key.op));
}

// Translates a call for tutti. Returns false if it is forwarded to MPI.
bool translate(process& p, communicator_info& m, const arguments& a, const call_key& key,
               const cached_decision* v, translated_call& translated) {
  try {
    if (!translated.translate(a, m.rank, m.size)) return false;
  } catch (const error&) {
    return false;  // MPI rejects the arguments, and will report that to the program
  }
  if (v == nullptr && (decided_by_counts(p, a.what) || !may_keep_decisions(p, key)))
    return !decide(p, m, translated.result()).forwarded;
  if (v == nullptr) v = &store_decision(m, a.what, make_decision(p, m, key, translated));
  if (v->forwarded) cache_forwarded(p, m, a.what, *v);
  return !v->forwarded;
}

// For a decision whose calls need no full translation. Returns false if this call needs it.
bool translate_directly(const cached_decision& v, const arguments& a, const communicator_info& m, call& c) {
  if (a.out == MPI_IN_PLACE) return false;
  const bool rooted = is_rooted(a.what), root = m.rank == a.root;
  if (rooted && (a.root < 0 || a.root >= m.size)) return false;
  // Two sides, each with a datatype.
  const bool two_sided = !combines(a.what) && a.what != collective::bcast;
  const bool sends = a.what != collective::scatter || root;
  const bool receives = (a.what != collective::reduce && a.what != collective::gather) || root;
  c.in_place = a.in_place();
  if (c.in_place && rooted) return false;
  if (two_sided && sends && receives && !c.in_place && (a.in_type != a.out_type || a.in_count != a.out_count))
    return false;
  c.what = a.what;
  c.root = a.root;
  c.type = v.tutti_type;
  c.op = v.tutti_op;
  const bool from_in = (a.what == collective::gather && !root) || (a.what == collective::scatter && root);
  c.count = static_cast<std::size_t>(from_in ? a.in_count : a.out_count) * v.elements_per_item;
  c.output = receives ? a.out : nullptr;
  c.input = c.in_place || a.what == collective::bcast ? c.output : sends ? a.in : nullptr;
  return (!sends || c.input != nullptr) && (!receives || c.output != nullptr) &&
         (c.in_place || a.what == collective::bcast || c.input != c.output);
}

// With several threads, each one lets the others in while it waits.
void run_served(process& p, communicator_info& m, const call& c) {
  if (!p.multithreaded) {
    const internal_errors errors(p);
    const pending_calls::progress_blocker guard(*p.pending);
    return run_call(*m.impl, c);
  }
  detail::pending_call run;
  {
    const auto held = p.mutex.lock();
    run = start_call(*m.impl, c);
  }
  for (backoff tries;; tries.pause()) {
    const auto held = p.mutex.lock();
    const internal_errors errors(p);
    if (!run->test()) continue;
    run.reset();
    return;
  }
}

void count_served(process& p, communicator_info& m, const call& c,
                  std::chrono::steady_clock::time_point began) {
  const auto elapsed = std::chrono::steady_clock::now() - began;
  const auto held = p.mutex.lock();
  p.stats->add(c.what, false, last_algorithm(*m.impl, c.what), detail::bytes_of(c, m.size), elapsed);
}

// Runs a call that tutti serves. `finish` copies the results to the program's buffers.
template <class Finish>
int run(process& p, communicator_info& m, const call& c, Finish finish) {
  try {
    p.open(m);
    const auto began = p.stats ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    run_served(p, m, c);
    finish();
    if (p.stats) [[unlikely]]
      count_served(p, m, c, began);
    return MPI_SUCCESS;
  } catch (...) {
    return report_exception(m.comm);
  }
}

std::uint64_t bytes_of(process& p, const communicator_info& m, const arguments& a) {
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
  const call_key key = call_key_of(a, m);
  const bool per_rank = a.what == collective::gather || a.what == collective::scatter ||
                        a.what == collective::allgather || a.what == collective::alltoall ||
                        a.what == collective::reduce_scatter_block;
  return key.count < 0 ? 0
                       : static_cast<std::uint64_t>(key.count) * size(key.type) *
                             (per_rank ? static_cast<unsigned>(m.size) : 1);
}

}  // namespace

std::optional<int> serve(process& p, const arguments& a) {
  communicator_info* m = communicator_cache::slot_of(a.comm).load(std::memory_order_acquire);
  if (m == nullptr || m->comm != a.comm) m = p.communicators.find_or_add(a.comm, *p.ep).get();
  if (m == nullptr || !m->served) return {};
  const call_key key = call_key_of(a, *m);
  const cached_decision* const v = find_decision(*m, a.what, key, p.types.generation());
  if (v != nullptr && v->forwarded) {
    cache_forwarded(p, *m, a.what, *v);
    return {};
  }
  if (m->size == 1 && !p.forces_choices && is_made_for_a_call(p, key)) return {};
  call direct;
  translated_call* translated = nullptr;
  if (v == nullptr || !v->direct || !m->impl || !translate_directly(*v, a, *m, direct)) {
    if (a.what == collective::bcast) {
      packed_bcast packed(p.types, a, m->rank, m->size);
      if (packed.find_bytes(v != nullptr ? v->elements_per_item : 0)) {
        if (decide_bcast(p, *m, packed.bytes()).forwarded) return {};
        if (packed.pack()) return run(p, *m, packed.result(), [&] { packed.finish(); });
      }
    }
    if (!m->translated) m->translated = std::make_unique<translated_call>(p.types, p.ops);
    translated = m->translated.get();
    if (!translate(p, *m, a, key, v, *translated)) return {};
  }
  if (translated == nullptr) return run(p, *m, direct, [] {});
  return run(p, *m, translated->result(), [&] { translated->finish(); });
}

std::optional<int> serve_nonblocking(process& p, const arguments& a, MPI_Request* request) {
  if (!p.serves_nonblocking || request == nullptr) return {};
  std::shared_ptr<communicator_info> m = p.communicators.find_or_add(a.comm, *p.ep);
  if (!m || !m->served) return {};
  const call_key key = call_key_of(a, *m);
  const cached_decision* const v = find_decision(*m, a.what, key, p.types.generation());
  if (v != nullptr && v->forwarded) {
    cache_forwarded(p, *m, a.what, *v);
    return {};
  }
  nonblocking_call& one = p.pending->acquire();
  if (!translate(p, *m, a, key, v, one.translated)) {
    p.pending->recycle(one);
    return {};
  }
  p.open(*m);
  p.pending->begin(one, std::move(m), request);
  return MPI_SUCCESS;
}

forwarded_call::forwarded_call(process* p, const arguments& a, bool nonblocking)
    : p_(p != nullptr && p->stats ? p : nullptr), what_(a.what), nonblocking_(nonblocking) {
  if (p_ == nullptr) return;
  if (const auto m = p->communicators.find_or_add(a.comm, *p->ep); m && m->served)
    bytes_ = bytes_of(*p, *m, a);
  began_ = std::chrono::steady_clock::now();
}

forwarded_call::~forwarded_call() {
  if (p_ != nullptr)
    p_->stats->add(what_, nonblocking_, nullptr, bytes_, std::chrono::steady_clock::now() - began_);
}

bool is_fatal(MPI_Errhandler handler) noexcept {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

int report_exception(MPI_Comm comm) noexcept {
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
    if (is_fatal(handler)) {
      int rank = 0;
      PMPI_Comm_rank(comm, &rank);
      // One report is enough, and rank 0's ends the job. But rank 0, or rank 1, may not have
      // reached the error.
      if (seen_by_all && rank != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1600 + 400 * std::min(rank, 20)));
      const std::size_t prefix = text.rfind("tutti: ", 0) == 0 ? 7 : 0;
      std::fprintf(stderr, "tutti preload: %s\n", text.c_str() + prefix);
      std::fflush(stderr);
    }
    PMPI_Errhandler_free(&handler);
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace tutti::preload
