// SPDX-License-Identifier: Apache-2.0
//
// MPI datatypes and operators for tutti's elements and operators. Looked up in arrays, so that a
// call costs a few instructions more than MPI itself. Counts that do not fit in an int become one
// item of a large type.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engines/mpi/mpi_base.hpp"
#include "tutti/element.hpp"
#include "tutti/operation.hpp"

namespace tutti::mpi {

inline constexpr int kind_count = static_cast<int>(element_kind::boolean) + 1;
inline constexpr int op_count = static_cast<int>(builtin_op::logical_xor) + 1;

/// `count` items of `type`. free() frees a type that was made for a single use, even while MPI
/// still uses it.
struct typed_count {
  MPI_Datatype type;
  int count;
  bool temporary;

  void free() {
    if (temporary) MPI_Type_free(&type);
  }
};

/// A type of one contiguous item of any number of bytes. The caller frees it.
MPI_Datatype make_large_type(std::size_t bytes, const char* operation, int rank);

class types {
 public:
  explicit types(int rank);
  ~types();
  types(const types&) = delete;
  types& operator=(const types&) = delete;

  MPI_Datatype of_kind(element_kind kind) const noexcept { return kinds_[static_cast<int>(kind)]; }
  MPI_Op of_op(builtin_op op) const noexcept { return ops_[static_cast<int>(op)]; }
  /// The type of one element. For an opaque element, a type that is made once and kept.
  MPI_Datatype of_element(const element& e) {
    return e.kind != element_kind::opaque ? of_kind(e.kind) : of_size(e.size);
  }
  /// n contiguous elements.
  typed_count of(const element& e, std::size_t n) {
    constexpr std::size_t max_count = 0x7fffffff;
    if (e.kind != element_kind::opaque && n <= max_count) [[likely]]
      return {of_kind(e.kind), static_cast<int>(n), false};
    if (n * e.size <= max_count) return {MPI_BYTE, static_cast<int>(n * e.size), false};
    return {make_large_type(n * e.size, "a large message", rank_), 1, true};
  }

 private:
  MPI_Datatype of_size(std::size_t bytes);

  MPI_Datatype kinds_[kind_count];
  MPI_Op ops_[op_count];
  int rank_;
  std::vector<std::pair<std::size_t, MPI_Datatype>> sizes_;
};

}  // namespace tutti::mpi
