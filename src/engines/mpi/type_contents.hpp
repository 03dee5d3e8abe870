// SPDX-License-Identifier: Apache-2.0
//
// The construction of an MPI datatype, as MPI_Type_get_contents returns it. The object frees the
// datatypes that it received. Some programs make a datatype for each call, so a short construction
// needs no allocation.
#pragma once

#include <array>
#include <cstddef>
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

/// What MPI_Type_get_envelope returns.
struct type_envelope {
  int ints = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;

  explicit type_envelope(MPI_Datatype type) {
    check_type_query(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner),
                     "MPI_Type_get_envelope");
  }
  bool predefined() const noexcept { return is_predefined(combiner); }
  /// Parametrized Fortran types have contents, but are predefined.
  static bool is_predefined(int how) noexcept {
    return how == MPI_COMBINER_NAMED || how == MPI_COMBINER_F90_REAL || how == MPI_COMBINER_F90_COMPLEX ||
           how == MPI_COMBINER_F90_INTEGER;
  }
};

/// `n` items, which lie in the object itself unless there are more than `few`. There is always an
/// item behind the last one, so that its address may be taken.
template <class T, std::size_t few>
class short_array {
 public:
  explicit short_array(int n) : size_(static_cast<std::size_t>(n)) {
    if (size_ > few) many_.resize(size_ + 1);
  }
  T* data() noexcept { return size_ > few ? many_.data() : few_.data(); }
  const T* data() const noexcept { return size_ > few ? many_.data() : few_.data(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }

 private:
  std::size_t size_;
  std::array<T, few + 1> few_;  // not initialized
  std::vector<T> many_;
};

/// The functions that take a datatype apart.
struct contents_functions {
  decltype(&MPI_Type_get_contents) get = MPI_Type_get_contents;
  decltype(&MPI_Type_free) free = MPI_Type_free;
};

struct type_contents {
  int combiner;
  short_array<int, 7> ints;
  short_array<MPI_Aint, 3> addresses;
  short_array<MPI_Datatype, 3> types;

  /// A predefined type has no contents.
  explicit type_contents(MPI_Datatype type) : type_contents(type, type_envelope(type)) {}
  /// `by`: pass other functions where something intercepts the MPI_ names.
  type_contents(MPI_Datatype type, const type_envelope& of, const contents_functions& by = {})
      : combiner(of.combiner),
        ints(of.predefined() ? 0 : of.ints),
        addresses(of.predefined() ? 0 : of.addresses),
        types(of.predefined() ? 0 : of.types),
        free_(by.free) {
    if (of.predefined()) return;
    check_type_query(
        by.get(type, of.ints, of.addresses, of.types, ints.data(), addresses.data(), types.data()),
        "MPI_Type_get_contents");
  }
  type_contents(const type_contents&) = delete;
  type_contents& operator=(const type_contents&) = delete;
  ~type_contents() {
    for (MPI_Datatype one : types) {
      int a = 0, b = 0, c = 0, how = MPI_COMBINER_NAMED;
      if (one != MPI_DATATYPE_NULL && MPI_Type_get_envelope(one, &a, &b, &c, &how) == MPI_SUCCESS &&
          !type_envelope::is_predefined(how))
        free_(&one);
    }
  }
  bool predefined() const noexcept { return type_envelope::is_predefined(combiner); }

 private:
  int (*free_)(MPI_Datatype*);
};

}  // namespace tutti::mpi
