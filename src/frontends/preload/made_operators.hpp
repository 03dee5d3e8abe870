// SPDX-License-Identifier: Apache-2.0
//
// Operators of the program that it has freed. Some programs, such as the BLACS, make one for each
// call. So the next one with the same function is one of these. No two operators that the program
// has are the same one. Operators have no names and no attributes, so equal ones do not differ if a
// function of the program alone decides what they do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <mpi.h>

namespace tutti::preload {

class made_operators {
 public:
  /// A kept operator, which is no longer kept, or MPI_OP_NULL.
  MPI_Op take(MPI_User_function* function, bool commutative) noexcept {
    kept& one = kept_[place_of(function)];
    if (one.handle == MPI_OP_NULL || one.function != function || one.commutative != commutative)
      return MPI_OP_NULL;
    return std::exchange(one, {}).handle;
  }
  /// Returns the operator that it displaces, or MPI_OP_NULL.
  MPI_Op keep(MPI_Op handle, MPI_User_function* function, bool commutative) noexcept {
    return std::exchange(kept_[place_of(function)], {handle, function, commutative}).handle;
  }
  /// One of the kept operators, which is no longer kept, or MPI_OP_NULL.
  MPI_Op give_up() noexcept {
    for (kept& one : kept_)
      if (one.handle != MPI_OP_NULL) return std::exchange(one, {}).handle;
    return MPI_OP_NULL;
  }

 private:
  struct kept {
    MPI_Op handle = MPI_OP_NULL;
    MPI_User_function* function = nullptr;
    bool commutative = false;
  };
  static std::size_t place_of(MPI_User_function* function) noexcept {
    const auto n = reinterpret_cast<std::uintptr_t>(function) >> 4;
    return (n ^ n >> 5) % slots;
  }

  static constexpr std::size_t slots = 32;
  std::array<kept, slots> kept_;
};

}  // namespace tutti::preload
