// SPDX-License-Identifier: Apache-2.0
//
// Makes MPI return the errors of MPI_COMM_WORLD and MPI_COMM_SELF as codes, whatever handlers the
// program has set for them. Other communicators keep their handlers.
#pragma once

#include "engines/mpi/mpi_base.hpp"

namespace tutti::mpi {

/// MPI calls the handler of MPI_COMM_WORLD or of MPI_COMM_SELF for an error that it attributes to
/// no other communicator. An example is the error of a request whose communicator was freed. While
/// this object lives, MPI returns these errors as codes. Its destructor restores both handlers.
class returned_errors {
 public:
  using setter = int (*)(MPI_Comm, MPI_Errhandler);
  /// `set`: pass PMPI_Comm_set_errhandler where something intercepts the MPI_ name.
  explicit returned_errors(setter set = MPI_Comm_set_errhandler) : set_(set) {
    for (int i = 0; i < 2; ++i) {
      MPI_Comm_get_errhandler(where_[i], &before_[i]);
      set_(where_[i], MPI_ERRORS_RETURN);
    }
  }
  ~returned_errors() {
    for (int i = 0; i < 2; ++i) {
      set_(where_[i], before_[i]);
      MPI_Errhandler_free(&before_[i]);
    }
  }
  returned_errors(const returned_errors&) = delete;
  returned_errors& operator=(const returned_errors&) = delete;

 private:
  setter set_;
  MPI_Comm where_[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler before_[2] = {MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
};

}  // namespace tutti::mpi
