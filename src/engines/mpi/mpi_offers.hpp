// SPDX-License-Identifier: Apache-2.0
//
// The collectives that the MPIs offer, known without a running MPI.
#pragma once

#include <cstddef>

#include "base/agreed_signature.hpp"

namespace tutti::detail {

/// Whether MPI can apply the operator to the kind.
constexpr bool mpi_has_operator(builtin_op op, element_kind kind) noexcept {
  if (op == builtin_op::user || kind == element_kind::opaque) return false;
  const bool logical =
      op == builtin_op::logical_and || op == builtin_op::logical_or || op == builtin_op::logical_xor;
  switch (kind) {
    case element_kind::boolean:
      return logical;
    case element_kind::f32:
    case element_kind::f64:
    case element_kind::f80:
      return op == builtin_op::sum || op == builtin_op::product || op == builtin_op::min ||
             op == builtin_op::max;
    case element_kind::i8:
    case element_kind::u8:
    case element_kind::i16:
    case element_kind::u16:
      return op != builtin_op::sum;  // Open MPI 4.1.4 saturates, whereas C++ wraps
    default:
      return true;
  }
}

constexpr bool mpi_has(const agreed_signature& s) noexcept {
  switch (s.what) {
    case collective::barrier:
    case collective::bcast:
    case collective::gather:
    case collective::scatter:
    case collective::allgather:
    case collective::alltoall:
    case collective::gatherv:
    case collective::scatterv:
    case collective::alltoallv:
      return true;
    case collective::allgatherv:
      return s.ranks > 1;  // with one rank, MPICH 4.0.2 ignores the displacement
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan:
      return mpi_has_operator(s.op, s.kind);
    case collective::reduce_scatter_block:  // MPI counts its whole operand by an int
      return mpi_has_operator(s.op, s.kind) &&
             s.count <= std::size_t{0x7fffffff} / static_cast<std::size_t>(s.ranks < 1 ? 1 : s.ranks);
    default:
      return false;
  }
}

/// Whether MPICH's nonblocking form, like its blocking form, reports an operand that is longer than
/// its peer expects. All others complete with MPI_SUCCESS and wrong data (MPICH 4.0.2).
constexpr bool mpich_reports_lengths(collective what) noexcept {
  return what == collective::barrier || what == collective::bcast || what == collective::scatter ||
         what == collective::scatterv;
}

/// The offer for a call within one group. In a header, because the modules do not link the library.
/// MPICH's collectives are begun and polled (mpi_endpoint::polls_natives), so their nonblocking
/// form counts.
constexpr native_offer mpi_offers(const agreed_signature& s, bool mpich) noexcept {
  if (!mpi_has(s)) return native_offer::none;
  return !mpich || s.ranks == 1 || mpich_reports_lengths(s.what) ? native_offer::any : native_offer::by_name;
}

}  // namespace tutti::detail
