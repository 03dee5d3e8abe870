// SPDX-License-Identifier: Apache-2.0
//
// The most frequent native collectives, prepared for repeated calls. The MPI handles are known.
// Only one function, which loads its arguments, stands between the library and MPI. Short calls of
// a communicator within a node use memory instead of MPI (short_collectives.hpp).
#include <new>

#include "engines/mpi/long_wait.hpp"
#include "engines/mpi/mpi_context.hpp"

namespace tutti::mpi {

// Stored in ready_native::state.
struct mpi_context::ready_state {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  int rank;              // of the caller
  std::size_t elements;  // items of `type` in one element of the call
  const char* name;
  mpi_endpoint* ep;
  short_collectives* in_memory;  // for calls of fewer than short_end elements
  std::size_t short_end, element_bytes;
  combine_function combine;

  static const ready_state& of(const ready_native& r) noexcept {
    return *std::launder(reinterpret_cast<const ready_state*>(r.state));
  }
  void ok(int code) const {
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_mpi_error(code, name, ep->rank());
  }
  /// Makes the blocking call, or starts the nonblocking one and polls it.
  template <bool Nonblocking, class Blocking, class Begin, class... Arguments>
  void call_mpi(Blocking f, Begin begin, Arguments... a) const {
    if constexpr (!Nonblocking) {
      const in_native scope(ep->native_now(), name);
      ok(f(a...));
      ep->look_for_rejections();
    } else {
      MPI_Request request;
      ok(begin(a..., &request));
      ep->wait_for_native(request, name,
                          {name, "native", "the other members", -1, -1, shm::wait_site::unnumbered});
    }
  }

  template <bool Nonblocking, bool InPlace>
  static void allreduce(const ready_native& r, const void* input, void* output, std::size_t count) {
    const ready_state& m = of(r);
    if (count < m.short_end) {
      m.in_memory->allreduce(InPlace ? output : input, output, count, m.element_bytes, m.combine, nullptr);
      return m.ep->look_for_rejections();
    }
    m.call_mpi<Nonblocking>(MPI_Allreduce, MPI_Iallreduce, InPlace ? MPI_IN_PLACE : input, output,
                            static_cast<int>(count), m.type, m.op, m.comm);
  }
  template <bool Nonblocking, bool AtRoot>
  static void bcast(const ready_native& r, const void* input, void* output, std::size_t count) {
    const ready_state& m = of(r);
    if (count < m.short_end) {
      m.in_memory->bcast(AtRoot ? const_cast<void*>(input) : output, count * m.element_bytes, m.root);
      return m.ep->look_for_rejections();
    }
    m.call_mpi<Nonblocking>(MPI_Bcast, MPI_Ibcast, AtRoot ? const_cast<void*>(input) : output,
                            static_cast<int>(count * m.elements), m.type, m.root, m.comm);
  }
  template <bool Nonblocking>
  static void allgather(const ready_native& r, const void* input, void* output, std::size_t count) {
    const ready_state& m = of(r);
    const int n = static_cast<int>(count * m.elements);
    m.call_mpi<Nonblocking>(MPI_Allgather, MPI_Iallgather, input, n, m.type, output, n, m.type, m.comm);
  }
  template <bool Nonblocking>
  static void allgatherv(const ready_native& r, const detail::counted_call& c) {
    const ready_state& m = of(r);
    const int* counts = static_cast<const int*>(c.out_counts);
    m.call_mpi<Nonblocking>(MPI_Allgatherv, MPI_Iallgatherv, c.input, counts[m.rank], m.type, c.output,
                            counts, static_cast<const int*>(c.out_displs), m.type, m.comm);
  }
  template <bool Nonblocking>
  static void alltoallv(const ready_native& r, const detail::counted_call& c) {
    const ready_state& m = of(r);
    const auto ints = [](const void* p) { return static_cast<const int*>(p); };
    m.call_mpi<Nonblocking>(MPI_Alltoallv, MPI_Ialltoallv, c.input, ints(c.in_counts), ints(c.in_displs),
                            m.type, c.output, ints(c.out_counts), ints(c.out_displs), m.type, m.comm);
  }
  template <bool Nonblocking>
  void choose(const call& c, ready_native& r) const {
    switch (c.what) {
      case collective::allreduce:
        r.run = c.in_place ? allreduce<Nonblocking, true> : allreduce<Nonblocking, false>;
        break;
      case collective::bcast:
        r.run = rank == c.root ? bcast<Nonblocking, true> : bcast<Nonblocking, false>;
        break;
      case collective::allgather:
        r.run = allgather<Nonblocking>;
        break;
      case collective::allgatherv:
        r.run_counted = allgatherv<Nonblocking>;
        break;
      case collective::alltoallv:
        r.run_counted = alltoallv<Nonblocking>;
        break;
      default:
        break;
    }
  }
};

// Longer calls are done in parts by native().
ready_native mpi_context::make_ready(const call& c) {
  static_assert(sizeof(ready_state) <= sizeof(ready_native::state));
  if (ep_.checks() || (c.in_place && c.what != collective::allreduce)) return {};
  ready_native r;
  // The label of an exchange before a call is a literal.
  const char* const name_in_reports = c.on_behalf != 0 ? called(c) : name_of(c.what).data();
  const bool has_kind = c.type.kind != element_kind::opaque;
  auto* m = new (r.state) ready_state{comm_,
                                      ep_.types().of_kind(c.type.kind),
                                      ep_.types().of_op(c.op.which),
                                      c.root,
                                      rank_,
                                      has_kind ? 1 : c.type.size,
                                      name_in_reports,
                                      &ep_,
                                      nullptr,
                                      0,
                                      c.type.size,
                                      c.op.combine};
  if (short_collectives::is_short_kind(c.what)) {
    if (!short_calls_requested_) open_short_collectives();
    if (short_calls_ && short_calls_->is_open()) {
      m->in_memory = short_calls_.get();
      m->short_end = short_calls_->max_count(c.what, c.type.size) + 1;
    }
  }
  constexpr std::size_t max_bytes = 0x7fffffff;
  r.max_count = max_bytes / c.type.size;
  if (is_vector_form(c.what)) m->type = ep_.types().of_element(c.type);
  if (ep_.polls_natives())
    m->choose<true>(c, r);
  else
    m->choose<false>(c, r);
  return r;
}

}  // namespace tutti::mpi
