// SPDX-License-Identifier: Apache-2.0
//
// What this library knows of the program's operators, and how one of them combines elements for tutti: by a
// loop of tutti's own where there is one, and else by MPI_Reduce_local, which calls the program's function as
// MPI would, whatever language it is written in.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/preload/datatypes.hpp"
#include "frontends/preload/quiet_errors.hpp"
#include "tutti/operation.hpp"

namespace tutti::preload {

struct known_operator {
  MPI_Op handle = MPI_OP_NULL;
  bool usable = false;
  bool named = false;  ///< predefined
  bool commutative = false;
  builtin_op which = builtin_op::user;

  int users = 0;       ///< calls under way
  bool freed = false;  ///< by the program, while there were users
};

/// Applies an operator to elements of a datatype by MPI_Reduce_local.
class local_reduction {
 public:
  void set(const known_operator& op, const datatype& type);
  /// An operation that refers to this object.
  operation made() noexcept;

 private:
  static void combine(const void* left, const void* right, void* result, std::size_t n, void* self);
  void apply(const std::byte* in, std::byte* inout, std::size_t n) const;

  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool commutative_ = false;
  std::size_t bytes_ = 0;          // of an element
  std::ptrdiff_t true_lower_ = 0;  // an element's first byte stands there from the address that MPI is given
  std::vector<std::byte> beside_;
};

class operators {
 public:
  operators(error_handlers& handlers, bool several) : handlers_(handlers), lock_(several) {}
  const known_operator& of(MPI_Op handle);
  /// Whether MPI applies it to this datatype. Of the program's own: to every one.
  bool allow(const known_operator& op, const datatype& type);
  /// As in `datatypes`.
  bool keeps(MPI_Op handle);
  void hold(const known_operator& op);
  void let_go(const known_operator& op);

 private:
  error_handlers& handlers_;
  turns lock_;  // no call to MPI is made under it
  std::unordered_map<MPI_Op, std::unique_ptr<known_operator>> known_;
  std::map<std::pair<MPI_Op, MPI_Datatype>, bool> allowed_;
};

}  // namespace tutti::preload
