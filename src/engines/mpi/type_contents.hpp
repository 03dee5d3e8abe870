// SPDX-License-Identifier: Apache-2.0
//
// The construction of an MPI datatype, as MPI_Type_get_contents returns it. The object frees the
// datatypes that it received.
#pragma once

#include <string>
#include <vector>

#include "engines/mpi/error_text.hpp"
#include "engines/mpi/mpi_base.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

/// Throws engine_error if MPI returns an error for a datatype.
inline void check_type_query(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  throw engine_error("layout_of", -1, "type", std::string(function) + ": " + error_text(code), "");
}

struct type_contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

  explicit type_contents(MPI_Datatype type) {
    int n_ints = 0, n_addresses = 0, n_types = 0;
    check_type_query(MPI_Type_get_envelope(type, &n_ints, &n_addresses, &n_types, &combiner),
                     "MPI_Type_get_envelope");
    if (combiner == MPI_COMBINER_NAMED) return;
    // One item more than needed, so that the addresses are not null.
    ints.resize(static_cast<std::size_t>(n_ints) + 1);
    addresses.resize(static_cast<std::size_t>(n_addresses) + 1);
    types.assign(static_cast<std::size_t>(n_types) + 1, MPI_DATATYPE_NULL);
    check_type_query(MPI_Type_get_contents(type, n_ints, n_addresses, n_types, ints.data(), addresses.data(),
                                           types.data()),
                     "MPI_Type_get_contents");
    types.resize(static_cast<std::size_t>(n_types));
  }
  type_contents(const type_contents&) = delete;
  type_contents& operator=(const type_contents&) = delete;
  ~type_contents() {
    for (MPI_Datatype& one : types) {
      int a = 0, b = 0, c = 0, how = MPI_COMBINER_NAMED;
      if (one != MPI_DATATYPE_NULL && MPI_Type_get_envelope(one, &a, &b, &c, &how) == MPI_SUCCESS &&
          how != MPI_COMBINER_NAMED && !predefined(how))
        MPI_Type_free(&one);
    }
  }
  /// Parametrized Fortran types have contents, but are predefined.
  static bool predefined(int combiner) {
    return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
           combiner == MPI_COMBINER_F90_INTEGER;
  }
};

}  // namespace tutti::mpi
