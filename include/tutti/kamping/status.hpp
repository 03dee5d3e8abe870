// SPDX-License-Identifier: Apache-2.0
//
// The status of a message in KaMPIng's form: an MPI_Status with accessors.
#pragma once

#include "tutti/kamping/types.hpp"

namespace kamping {

/// The source, tag and length of a message. MPI_Get_count and the like accept native().
class Status {
 public:
  Status() { set(tutti::status()); }
  Status(const tutti::status& what) { set(what); }
  explicit Status(const MPI_Status& native) noexcept : native_(native) {}
  Status& operator=(const tutti::status& what) {
    set(what);
    return *this;
  }

  int source_signed() const noexcept { return native_.MPI_SOURCE; }
  std::size_t source() const noexcept { return static_cast<std::size_t>(source_signed()); }
  int tag() const noexcept { return native_.MPI_TAG; }

  /// The number of elements of T in the message; MPI_UNDEFINED (which is negative) if it is not a
  /// whole number.
  template <class T>
  int count_signed() const {
    int bytes = 0;
    internal::check_mpi(MPI_Get_count(&native_, MPI_BYTE, &bytes), "MPI_Get_count");
    return bytes % static_cast<int>(sizeof(T)) == 0 ? bytes / static_cast<int>(sizeof(T)) : MPI_UNDEFINED;
  }
  int count_signed(MPI_Datatype type) const {
    int n = 0;
    internal::check_mpi(MPI_Get_count(&native_, type, &n), "MPI_Get_count");
    return n;
  }
  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(count_signed<T>());
  }
  std::size_t count(MPI_Datatype type) const { return static_cast<std::size_t>(count_signed(type)); }

  MPI_Status& native() noexcept { return native_; }
  const MPI_Status& native() const noexcept { return native_; }
  operator const MPI_Status&() const noexcept { return native_; }

 private:
  void set(const tutti::status& what) {
    native_ = {};
    native_.MPI_SOURCE = what.source() == tutti::rank::null ? MPI_PROC_NULL : what.source();
    native_.MPI_TAG = what.tag() == tutti::tags::any ? MPI_ANY_TAG : what.tag();
    native_.MPI_ERROR = MPI_SUCCESS;
    MPI_Status_set_elements_x(&native_, MPI_BYTE, static_cast<MPI_Count>(what.bytes()));
    MPI_Status_set_cancelled(&native_, 0);
  }

  MPI_Status native_;
};

}  // namespace kamping
