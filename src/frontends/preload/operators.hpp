// SPDX-License-Identifier: Apache-2.0
//
// The properties of the program's operators, and how they combine elements for tutti. If tutti has
// a loop for an operator, tutti uses it. Otherwise MPI_Reduce_local calls the program's function as
// MPI would, in whatever language it is written.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/preload/datatypes.hpp"
#include "frontends/preload/made_operators.hpp"
#include "frontends/preload/quiet_errors.hpp"
#include "tutti/operation.hpp"

namespace tutti::preload {

struct operator_info {
  MPI_Op handle = MPI_OP_NULL;
  bool usable = false;
  bool named = false;  ///< predefined
  bool commutative = false;
  builtin_op builtin = builtin_op::user;
  MPI_User_function* function = nullptr;  ///< null: unknown

  bool used_before = false;    ///< by an earlier call
  bool has_decisions = false;  ///< which its end must drop

  int users = 0;       ///< calls in progress
  bool freed = false;  ///< the program freed it while there were users
};

/// Applies an operator to elements of a datatype by MPI_Reduce_local.
class local_reduction {
 public:
  void set(const operator_info& op, const datatype& type);
  /// Returns an operation that refers to this object.
  operation as_operation() noexcept;

 private:
  static void combine(const void* left, const void* right, void* result, std::size_t n, void* self);
  void apply(const std::byte* in, std::byte* inout, std::size_t n) const;

  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool commutative_ = false;
  std::size_t bytes_ = 0;  // of an element
  // Offset of an element's first byte from the address that MPI gets.
  std::ptrdiff_t true_lower_ = 0;
  std::vector<std::byte> buffer_;
};

class operators {
 public:
  operators(error_handlers& handlers, datatypes& types, bool multithreaded);
  ~operators();
  operators(const operators&) = delete;
  operators& operator=(const operators&) = delete;

  const operator_info& of(MPI_Op handle);
  /// Instead of MPI_Op_create: an operator that the program has freed, or MPI_OP_NULL.
  MPI_Op take(MPI_User_function* function, bool commutative);
  /// Called when the program has made an operator.
  void add(MPI_Op handle, MPI_User_function* function, bool commutative);
  /// Whether MPI applies the operator to this datatype. Operators of the program apply to every
  /// datatype.
  bool is_allowed(const operator_info& op, const datatype& type);
  /// As in `datatypes`.
  bool use_again(MPI_Op handle);
  void note_decision(MPI_Op handle);
  /// Whether it is known, and not predefined.
  bool is_of_program(MPI_Op handle);
  /// As datatypes::begin_free().
  MPI_Op begin_free(MPI_Op handle);
  void retain(const operator_info& op);
  void release(const operator_info& op);

 private:
  void insert(const operator_info& made);

  error_handlers& handlers_;
  datatypes& types_;
  optional_mutex mutex_;  // not held during calls to MPI
  std::unordered_map<MPI_Op, operator_info> entries_;
  std::unordered_map<MPI_Op, operator_info>::node_type spare_;  // of the last that was freed
  made_operators kept_;
  std::map<std::pair<MPI_Op, MPI_Datatype>, bool> allowed_;
};

}  // namespace tutti::preload
