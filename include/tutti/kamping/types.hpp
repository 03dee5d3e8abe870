// SPDX-License-Identifier: Apache-2.0
//
// MPI datatypes of C++ types, for the program's own MPI calls, and KaMPIng's own types. tutti's
// calls need no datatypes: trivially copyable types travel as their bytes.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "tutti/kamping/error.hpp"

namespace kamping {

/// A bool whose vectors are contiguous.
class kabool {
 public:
  constexpr kabool() noexcept = default;
  constexpr kabool(bool value) noexcept : value_(value) {}
  constexpr operator bool() const noexcept { return value_; }

 private:
  bool value_ = false;
};

}  // namespace kamping

// Operators, including those of MPI, treat it as bool.
template <>
constexpr tutti::element tutti::element_of<kamping::kabool>() noexcept {
  return {sizeof(bool), element_kind::boolean, {}};
}
template <>
constexpr kamping::kabool tutti::detail::identity<kamping::kabool, std::bit_and<>>() noexcept {
  return true;
}
template <>
struct std::numeric_limits<kamping::kabool> : std::numeric_limits<bool> {
  static constexpr kamping::kabool min() noexcept { return false; }
  static constexpr kamping::kabool lowest() noexcept { return false; }
  static constexpr kamping::kabool max() noexcept { return true; }
  static constexpr kamping::kabool infinity() noexcept { return false; }
};

namespace kamping {

/// A view of contiguous elements: std::span by KaMPIng's name.
template <class T>
class Span : public std::span<T> {
 public:
  using std::span<T>::span;
  constexpr Span(std::span<T> s) noexcept : std::span<T>(s) {}
};
template <class T>
Span(T*, std::size_t) -> Span<T>;
template <class T>
Span(T*, T*) -> Span<T>;
template <std::contiguous_iterator Iterator>
Span(Iterator, Iterator) -> Span<std::remove_reference_t<std::iter_reference_t<Iterator>>>;
template <std::contiguous_iterator Iterator>
Span(Iterator, std::size_t) -> Span<std::remove_reference_t<std::iter_reference_t<Iterator>>>;
template <class C>
Span(C&&) -> Span<std::remove_pointer_t<decltype(std::declval<C&>().data())>>;

namespace internal {

/// The MPI datatype of a type that has one, else MPI_DATATYPE_NULL. They are not constants, since
/// Open MPI's are addresses.
template <class T>
MPI_Datatype builtin_datatype() {
  // clang-format off
  if constexpr (std::is_same_v<T, char>) return MPI_CHAR;
  else if constexpr (std::is_same_v<T, signed char>) return MPI_SIGNED_CHAR;
  else if constexpr (std::is_same_v<T, unsigned char>) return MPI_UNSIGNED_CHAR;
  else if constexpr (std::is_same_v<T, wchar_t>) return MPI_WCHAR;
  else if constexpr (std::is_same_v<T, short>) return MPI_SHORT;
  else if constexpr (std::is_same_v<T, unsigned short>) return MPI_UNSIGNED_SHORT;
  else if constexpr (std::is_same_v<T, int>) return MPI_INT;
  else if constexpr (std::is_same_v<T, unsigned>) return MPI_UNSIGNED;
  else if constexpr (std::is_same_v<T, long>) return MPI_LONG;
  else if constexpr (std::is_same_v<T, unsigned long>) return MPI_UNSIGNED_LONG;
  else if constexpr (std::is_same_v<T, long long>) return MPI_LONG_LONG;
  else if constexpr (std::is_same_v<T, unsigned long long>) return MPI_UNSIGNED_LONG_LONG;
  else if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, long double>) return MPI_LONG_DOUBLE;
  else if constexpr (std::is_same_v<T, std::byte>) return MPI_BYTE;
  else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, kabool>) return MPI_CXX_BOOL;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return MPI_CXX_FLOAT_COMPLEX;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return MPI_CXX_DOUBLE_COMPLEX;
  else if constexpr (std::is_enum_v<T>) return builtin_datatype<std::underlying_type_t<T>>();
  else return MPI_DATATYPE_NULL;
  // clang-format on
}
template <class T>
inline constexpr bool has_builtin =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, kabool> ||
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

}  // namespace internal

template <class T>
inline constexpr bool is_builtin_type_v = internal::has_builtin<T>;

/// The category of a type for MPI operators.
enum class TypeCategory { integer, floating, complex, logical, byte, character, struct_like, contiguous };

/// The traits of a type that has an MPI name.
template <class T>
struct builtin_type {
  static constexpr bool has_to_be_committed = false;
  static constexpr TypeCategory category =
      std::is_floating_point_v<T>                             ? TypeCategory::floating
      : std::is_same_v<T, bool> || std::is_same_v<T, kabool>  ? TypeCategory::logical
      : std::is_same_v<T, std::byte>                          ? TypeCategory::byte
      : std::is_same_v<T, char> || std::is_same_v<T, wchar_t> ? TypeCategory::character
      : std::is_integral_v<T> || std::is_enum_v<T>            ? TypeCategory::integer
                                                              : TypeCategory::complex;
  static MPI_Datatype data_type() { return internal::builtin_datatype<T>(); }
};
/// The traits of a type that is sent as its bytes.
template <class T>
struct byte_serialized {
  static_assert(tutti::detail::is_sendable<T>, "byte_serialized: this type is not trivially copyable");
  static constexpr bool has_to_be_committed = true;
  static constexpr TypeCategory category = TypeCategory::struct_like;
  static MPI_Datatype data_type() {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    internal::check_mpi(MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &made),
                        "MPI_Type_contiguous");
    return made;
  }
};
/// The traits of a struct: its bytes too, including gaps.
template <class T>
struct struct_type : byte_serialized<T> {};

/// A program specializes it to define how T maps to MPI.
template <class T, class = void>
struct mpi_type_traits : std::conditional_t<internal::has_builtin<T>, builtin_type<T>, byte_serialized<T>> {};

/// N consecutive T.
template <class T, std::size_t N>
struct type_contiguous {
  static constexpr bool has_to_be_committed = true;
  static constexpr TypeCategory category = TypeCategory::contiguous;
  static MPI_Datatype data_type();
};
template <class T, std::size_t N>
struct mpi_type_traits<std::array<T, N>> : type_contiguous<T, N> {};

/// Whether mpi_datatype<T>() exists.
template <class T>
inline constexpr bool has_static_type_v = tutti::detail::is_sendable<T>;

/// A datatype of the program, committed, and freed with this object. It can be moved.
class ScopedDatatype {
 public:
  ScopedDatatype() = default;
  explicit ScopedDatatype(MPI_Datatype type) : type_(type) {
    if (type_ != MPI_DATATYPE_NULL) internal::check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ScopedDatatype(ScopedDatatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  ScopedDatatype& operator=(ScopedDatatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~ScopedDatatype() {
    int over = 0;
    if (type_ != MPI_DATATYPE_NULL && MPI_Finalized(&over) == MPI_SUCCESS && over == 0) MPI_Type_free(&type_);
  }
  const MPI_Datatype& data_type() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The committed datatype of T. Created once for each type, and kept until the process ends.
template <class T>
MPI_Datatype mpi_datatype() {
  using traits = mpi_type_traits<std::remove_cv_t<T>>;
  if constexpr (!traits::has_to_be_committed) {
    return traits::data_type();
  } else {
    static const MPI_Datatype type = [] {
      MPI_Datatype made = traits::data_type();
      internal::check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
      return made;
    }();
    return type;
  }
}

template <class T, std::size_t N>
MPI_Datatype type_contiguous<T, N>::data_type() {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  internal::check_mpi(MPI_Type_contiguous(static_cast<int>(N), mpi_datatype<T>(), &made),
                      "MPI_Type_contiguous");
  return made;
}

}  // namespace kamping
