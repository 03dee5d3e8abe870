// SPDX-License-Identifier: Apache-2.0
//
// The collectives that are called most, ready to be called again: MPI's handles are at hand, and between the
// library and MPI stands one function, which loads its arguments.
#include <new>

#include "engines/mpi/mpi_context.hpp"

namespace tutti::mpi {

// In ready_native::state.
struct mpi_context::made_ready {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  int rank;              // of the caller
  std::size_t elements;  // of the type, in one of the call's
  collective what;
  const mpi_endpoint* door;

  static const made_ready& of(const ready_native& r) noexcept {
    return *std::launder(reinterpret_cast<const made_ready*>(r.state));
  }
  void ok(int code) const {
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_mpi_error(code, name_of(what).data(), door->rank());
  }

  template <bool InPlace>
  static void allreduce(const ready_native& r, const void* input, void* output, std::size_t count) {
    const made_ready& m = of(r);
    m.ok(
        MPI_Allreduce(InPlace ? MPI_IN_PLACE : input, output, static_cast<int>(count), m.type, m.op, m.comm));
  }
  template <bool AtRoot>
  static void bcast(const ready_native& r, const void* input, void* output, std::size_t count) {
    const made_ready& m = of(r);
    m.ok(MPI_Bcast(AtRoot ? const_cast<void*>(input) : output, static_cast<int>(count * m.elements), m.type,
                   m.root, m.comm));
  }
  static void allgather(const ready_native& r, const void* input, void* output, std::size_t count) {
    const made_ready& m = of(r);
    const int n = static_cast<int>(count * m.elements);
    m.ok(MPI_Allgather(input, n, m.type, output, n, m.type, m.comm));
  }
  static void allgatherv(const ready_native& r, const detail::counted_call& c) {
    const made_ready& m = of(r);
    const int* counts = static_cast<const int*>(c.out_counts);
    m.ok(MPI_Allgatherv(c.input, counts[m.rank], m.type, c.output, counts,
                        static_cast<const int*>(c.out_displs), m.type, m.comm));
  }
  static void alltoallv(const ready_native& r, const detail::counted_call& c) {
    const made_ready& m = of(r);
    const auto ints = [](const void* p) { return static_cast<const int*>(p); };
    m.ok(MPI_Alltoallv(c.input, ints(c.in_counts), ints(c.in_displs), m.type, c.output, ints(c.out_counts),
                       ints(c.out_displs), m.type, m.comm));
  }
};

// Longer calls are done in parts, which native() does.
ready_native mpi_context::make_ready(const call& c) {
  static_assert(sizeof(made_ready) <= sizeof(ready_native::state));
  if (door_.checks() || (c.in_place && c.what != collective::allreduce)) return {};
  ready_native r;
  const bool known = c.type.kind != element_kind::opaque;
  auto* m = new (r.state) made_ready{comm_,
                                     door_.types().of_kind(c.type.kind),
                                     door_.types().of_op(c.op.which),
                                     c.root,
                                     rank_,
                                     known ? 1 : c.type.size,
                                     c.what,
                                     &door_};
  constexpr std::size_t most_bytes = 0x7fffffff;
  r.most = most_bytes / c.type.size;
  switch (c.what) {
    case collective::allreduce:
      r.go = c.in_place ? made_ready::allreduce<true> : made_ready::allreduce<false>;
      break;
    case collective::bcast:
      r.go = rank_ == c.root ? made_ready::bcast<true> : made_ready::bcast<false>;
      break;
    case collective::allgather:
      r.go = made_ready::allgather;
      break;
    case collective::allgatherv:
      m->type = door_.types().of_element(c.type);
      r.go_counted = made_ready::allgatherv;
      break;
    case collective::alltoallv:
      m->type = door_.types().of_element(c.type);
      r.go_counted = made_ready::alltoallv;
      break;
    default:
      break;
  }
  return r;
}

}  // namespace tutti::mpi
