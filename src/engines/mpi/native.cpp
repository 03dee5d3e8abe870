// SPDX-License-Identifier: Apache-2.0
//
// MPI's collectives as native collectives. Each is written once for the blocking and the
// nonblocking form. The overhead before MPI is a virtual call, a switch and two array look-ups.
//
// Longer than a screen: the switch has one case for each collective.
#include <algorithm>
#include <memory>
#include <new>

#include "engines/mpi/long_wait.hpp"
#include "engines/mpi/mpi_context.hpp"
#include "engines/mpi/mpi_offers.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

#if defined(MPICH_VERSION)
constexpr bool is_mpich = true;
#else
constexpr bool is_mpich = false;
#endif
constexpr std::size_t max_int = 0x7fffffff;
constexpr std::size_t part_bytes = std::size_t{1} << 30;  // of a collective that is done in parts

struct run_blocking {
  template <class Blocking, class Begin, class... Arguments>
  int operator()(Blocking f, Begin, Arguments... a) const {
    return f(a...);
  }
};

struct start_nonblocking {
  MPI_Request* request;
  template <class Blocking, class Begin, class... Arguments>
  int operator()(Blocking, Begin f, Arguments... a) const {
    return f(a..., request);
  }
};

// Whether the collective works element by element, so that it can be done in parts.
bool works_elementwise(collective what) noexcept {
  return what == collective::bcast || (combines(what) && what != collective::reduce_scatter_block);
}

// MPICH 4.0 crashes in MPI_Reduce with MPI_IN_PLACE at a root that is not the first rank of its
// node. Only rank 0 is known to be the first one.
bool in_place_reduce_crashes([[maybe_unused]] int root) noexcept {
#ifdef MPICH_VERSION
  return root != 0;
#else
  return false;
#endif
}

void* offset_by(void* p, std::size_t bytes) noexcept { return static_cast<std::byte*>(p) + bytes; }

}  // namespace

struct mpi_context::native_in_progress {
  MPI_Request request = MPI_REQUEST_NULL;
  const call* what = nullptr;
  std::size_t reached = 0;  // elements that are done or in progress
  converted_arrays* arrays = nullptr;
  memory_collectives* in_memory = nullptr;  // it runs the call instead of MPI
  memory_collectives::progress progress;
};

// No other communicator of the job has this id and this first member.
void mpi_context::open_memory_collectives() const {
  memory_requested_ = true;
  const group_name name{id(), static_cast<std::uint64_t>(members().address(0))};
  in_memory_ =
      ep_.open_memory_collectives(members(), name.with(static_cast<std::uint64_t>(members().size())), entry_);
}

std::optional<shm::line_exchange> mpi_context::lines() {
  memory_collectives* const in_memory = memory_collectives_for(collective::allreduce);
  return in_memory != nullptr ? in_memory->lines() : std::nullopt;
}

native_offer mpi_context::offers(const agreed_signature& s) const noexcept {
  if (ep_.has_node_memory()) {
    const memory_collectives* const in_memory = memory_collectives_for(s.what);
    if (in_memory != nullptr && in_memory->serves(s.what, s.count, s.element_size)) return native_offer::any;
  }
  return mpi_offers(s, is_mpich);
}

std::optional<std::size_t> mpi_context::native_in_memory(const agreed_signature& s) const noexcept {
  // In a job of many nodes, selection only knows what MPI offers.
  if (!ep_.has_node_memory() && mpi_offers(s, is_mpich) != native_offer::any) return {};
  const memory_collectives* const in_memory = memory_collectives_for(s.what);
  return in_memory != nullptr ? in_memory->max_bytes(s.what, s.element_size) : std::nullopt;
}

// The number of elements of the part that begins at `from`.
std::size_t mpi_context::part(const call& c, std::size_t from) const noexcept {
  const std::size_t remaining = c.count - from;
  if (remaining * c.type.size <= max_int) [[likely]]
    return remaining;
  return std::min(remaining, std::max<std::size_t>(1, part_bytes / c.type.size));
}

// Starts or runs the next part. Returns the number of elements done or in progress.
template <class Start>
std::size_t mpi_context::start(const call& c, std::size_t from, converted_arrays* arrays,
                               const Start& issue) {
  const auto combine = [&](auto blocking, auto begin) {
    const std::size_t n = part(c, from), offset = from * c.type.size;
    const void* input = c.in_place ? MPI_IN_PLACE : static_cast<const std::byte*>(c.input) + offset;
    ok(issue(blocking, begin, input, offset_by(c.output, offset), static_cast<int>(n),
             ep_.types().of_kind(c.type.kind), ep_.types().of_op(c.op.which), comm_),
       c);
    return from + n;
  };
  switch (c.what) {
    case collective::allreduce:
      return combine(MPI_Allreduce, MPI_Iallreduce);
    case collective::scan:
      return combine(MPI_Scan, MPI_Iscan);
    case collective::exscan:
      return combine(MPI_Exscan, MPI_Iexscan);
    case collective::barrier:
      ok(issue(MPI_Barrier, MPI_Ibarrier, comm_), c);
      return c.count;
    case collective::bcast: {
      const std::size_t n = part(c, from);
      void* data = rank_ == c.root && !c.in_place ? const_cast<void*>(c.input) : c.output;
      typed_count s = ep_.types().of(c.type, n);
      ok(issue(MPI_Bcast, MPI_Ibcast, offset_by(data, from * c.type.size), s.count, s.type, c.root, comm_),
         c);
      s.free();
      return from + n;
    }
    case collective::reduce: {
      const std::size_t n = part(c, from), offset = from * c.type.size;
      if (c.in_place && rank_ == c.root && in_place_reduce_crashes(c.root)) [[unlikely]] {
        start_reduce_from_copy(c, from, n, arrays, issue);
        return from + n;
      }
      const void* send = c.in_place ? c.output : c.input;
      const void* input =
          c.in_place && rank_ == c.root ? MPI_IN_PLACE : static_cast<const std::byte*>(send) + offset;
      void* output = rank_ == c.root ? offset_by(c.output, offset) : nullptr;
      ok(issue(MPI_Reduce, MPI_Ireduce, input, output, static_cast<int>(n), ep_.types().of_kind(c.type.kind),
               ep_.types().of_op(c.op.which), c.root, comm_),
         c);
      return from + n;
    }
    case collective::reduce_scatter_block:
      ok(issue(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, c.in_place ? MPI_IN_PLACE : c.input,
               c.output, static_cast<int>(c.count), ep_.types().of_kind(c.type.kind),
               ep_.types().of_op(c.op.which), comm_),
         c);
      return c.count;
    case collective::gather:
    case collective::scatter:
    case collective::allgather:
    case collective::alltoall:
      start_blocks(c, issue);
      return c.count;
    case collective::gatherv:
    case collective::scatterv:
    case collective::allgatherv:
    case collective::alltoallv:
      start_vectors(c, arrays, issue);
      return c.count;
    default:
      throw engine_error(name_of(c.what).data(), ep_.rank(), "", "MPI has no such collective here", "");
  }
}

// Reduces from a copy of the operand instead of in place.
template <class Start>
void mpi_context::start_reduce_from_copy(const call& c, std::size_t from, std::size_t n,
                                         converted_arrays* arrays, const Start& issue) {
  converted_arrays local;
  converted_arrays& copy = arrays != nullptr ? *arrays : local;
  void* output = offset_by(c.output, from * c.type.size);
  copy.operand.assign(static_cast<std::byte*>(output), static_cast<std::byte*>(output) + n * c.type.size);
  ok(issue(MPI_Reduce, MPI_Ireduce, static_cast<const void*>(copy.operand.data()), output,
           static_cast<int>(n), ep_.types().of_kind(c.type.kind), ep_.types().of_op(c.op.which), c.root,
           comm_),
     c);
}

template <class Start>
void mpi_context::start_blocks(const call& c, const Start& issue) {
  typed_count s = ep_.types().of(c.type, c.count);
  const bool root = rank_ == c.root;
  switch (c.what) {
    case collective::gather: {
      const void* send = c.in_place ? (root ? MPI_IN_PLACE : c.output) : c.input;
      ok(issue(MPI_Gather, MPI_Igather, send, s.count, s.type, root ? c.output : nullptr, s.count, s.type,
               c.root, comm_),
         c);
      break;
    }
    case collective::scatter: {
      void* receive = c.in_place && root ? MPI_IN_PLACE : c.output;
      ok(issue(MPI_Scatter, MPI_Iscatter, root ? c.input : nullptr, s.count, s.type, receive, s.count, s.type,
               c.root, comm_),
         c);
      break;
    }
    case collective::allgather:
      ok(issue(MPI_Allgather, MPI_Iallgather, c.in_place ? MPI_IN_PLACE : c.input, s.count, s.type, c.output,
               s.count, s.type, comm_),
         c);
      break;
    default:
      ok(issue(MPI_Alltoall, MPI_Ialltoall, c.in_place ? MPI_IN_PLACE : c.input, s.count, s.type, c.output,
               s.count, s.type, comm_),
         c);
  }
  s.free();
}

// Returns the caller's own array if its elements are int, else a copy in `converted`.
const int* mpi_context::ints(const counts_view& v, const char* parameter, std::vector<int>& converted) {
  if (!v.given()) return nullptr;
  if (const int* data = v.ints()) return data;
  converted.resize(v.size());
  for (std::size_t i = 0; i < converted.size(); ++i) {
    if (v[i] > max_int)
      throw engine_error("native collective", ep_.rank(), parameter,
                         std::to_string(v[i]) + " elements do not fit in an int, the type of MPI's counts",
                         "choose an algorithm other than native, or larger elements");
    converted[i] = static_cast<int>(v[i]);
  }
  return converted.data();
}

// Computes dense displacements if the caller gives none.
const int* mpi_context::displacements(const counts_view& displs, const int* counts, const char* parameter,
                                      std::vector<int>& converted) {
  if (displs.given() || counts == nullptr) return ints(displs, parameter, converted);
  converted.resize(static_cast<std::size_t>(members().size()));
  std::size_t at = 0;
  for (std::size_t i = 0; i < converted.size(); at += static_cast<std::size_t>(counts[i]), ++i) {
    if (at > max_int)
      throw engine_error("native collective", ep_.rank(), parameter,
                         "the blocks together do not fit in an int, the type of MPI's counts",
                         "choose an algorithm other than native, or larger elements");
    converted[i] = static_cast<int>(at);
  }
  return converted.data();
}

template <class Start>
void mpi_context::start_vectors(const call& c, converted_arrays* arrays, const Start& issue) {
  converted_arrays local;
  converted_arrays& a = arrays != nullptr ? *arrays : local;
  const MPI_Datatype type = ep_.types().of_element(c.type);
  const bool root = rank_ == c.root;
  const auto local_count = [&] {
    if (c.count > max_int)
      throw engine_error(name_of(c.what).data(), ep_.rank(), "count",
                         std::to_string(c.count) + " elements do not fit in an int, the type of MPI's counts",
                         "choose an algorithm other than native, or larger elements");
    return static_cast<int>(c.count);
  };
  const bool sends = c.what == collective::alltoallv || (c.what == collective::scatterv && root);
  const bool receives = c.what != collective::scatterv && (c.what != collective::gatherv || root);
  const bool in_place_all = c.what == collective::alltoallv && c.in_place;
  const int* in_counts = sends && !in_place_all ? ints(c.in_counts, "send_counts", a.in_counts) : nullptr;
  const int* in_displs =
      sends && !in_place_all ? displacements(c.in_displs, in_counts, "send_displs", a.in_displs) : nullptr;
  const int* out_counts = receives ? ints(c.out_counts, "recv_counts", a.out_counts) : nullptr;
  const int* out_displs =
      receives ? displacements(c.out_displs, out_counts, "recv_displs", a.out_displs) : nullptr;
  switch (c.what) {
    case collective::gatherv: {
      const void* send = c.in_place ? (root ? MPI_IN_PLACE : c.output) : c.input;
      ok(issue(MPI_Gatherv, MPI_Igatherv, send, local_count(), type, root ? c.output : nullptr, out_counts,
               out_displs, type, c.root, comm_),
         c);
      break;
    }
    case collective::scatterv: {
      void* receive = c.in_place && root ? MPI_IN_PLACE : c.output;
      ok(issue(MPI_Scatterv, MPI_Iscatterv, root ? c.input : nullptr, in_counts, in_displs, type, receive,
               local_count(), type, c.root, comm_),
         c);
      break;
    }
    case collective::allgatherv:
      ok(issue(MPI_Allgatherv, MPI_Iallgatherv, c.in_place ? MPI_IN_PLACE : c.input, out_counts[rank_], type,
               c.output, out_counts, out_displs, type, comm_),
         c);
      break;
    default:
      ok(issue(MPI_Alltoallv, MPI_Ialltoallv, c.in_place ? MPI_IN_PLACE : c.input, in_counts, in_displs, type,
               c.output, out_counts, out_displs, type, comm_),
         c);
  }
}

void mpi_context::begin_and_wait(const call& c, const shm::wait_site& site) {
  converted_arrays arrays;
  std::size_t reached = 0;
  do {
    MPI_Request request;
    reached = start(c, reached, &arrays, start_nonblocking{&request});
    ep_.wait_for_native(request, name_of(c.what).data(), site);
  } while (reached < c.count && works_elementwise(c.what));
}

void mpi_context::native(const call& c, const shm::wait_site& site) {
  if (memory_collectives* const in_memory = memory_collectives_for(c)) {
    in_memory->run(c);
    return ep_.look_for_rejections();
  }
  if (ep_.polls_natives()) return begin_and_wait(c, site);
  struct collective_scope {
    mpi_endpoint& ep;
    explicit collective_scope(mpi_endpoint& d) : ep(d) { ep.enter_collective(); }
    ~collective_scope() { ep.leave_collective(); }
  };
  const collective_scope scope(ep_);
  const in_native scope_of_name(ep_.native_now(), site.operation);
  std::size_t reached = start(c, 0, nullptr, run_blocking{});
  while (reached < c.count && works_elementwise(c.what)) reached = start(c, reached, nullptr, run_blocking{});
  ep_.look_for_rejections();
}

void mpi_context::native_begin(const call& c, native_state& s) {
  static_assert(sizeof(native_in_progress) <= sizeof(native_state));
  if (memory_collectives* const in_memory = memory_collectives_for(c)) {
    auto* one = new (s.state) native_in_progress;
    one->what = &c;
    one->in_memory = in_memory;
    one->progress = in_memory->begin(c);
    return;
  }
  auto arrays = is_vector_form(c.what) || (c.what == collective::reduce && c.in_place)
                    ? std::make_unique<converted_arrays>()
                    : nullptr;
  auto* one = new (s.state) native_in_progress;
  one->what = &c;
  one->reached = start(c, 0, arrays.get(), start_nonblocking{&one->request});
  one->arrays = arrays.release();
  ep_.native_begun();
}

bool mpi_context::native_progress(native_state& s, bool blocking, const shm::wait_site& site) {
  auto& one = *reinterpret_cast<native_in_progress*>(s.state);
  if (one.in_memory != nullptr) return one.in_memory->finish(*one.what, one.progress, blocking, site);
  for (;;) {
    int flag = 0;
    ok(MPI_Test(&one.request, &flag, MPI_STATUS_IGNORE), *one.what);
    if (!flag) {
      if (!blocking) return false;
      ep_.pause(site);
      continue;
    }
    if (!works_elementwise(one.what->what) || one.reached >= one.what->count) break;
    one.reached = start(*one.what, one.reached, one.arrays, start_nonblocking{&one.request});
  }
  delete one.arrays;
  one.arrays = nullptr;
  ep_.native_over();
  return true;
}

}  // namespace tutti::mpi
