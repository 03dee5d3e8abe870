// SPDX-License-Identifier: Apache-2.0
//
// Makes MPI return errors as codes, whatever handlers the program has set.
#pragma once

#include "engines/mpi/mpi_base.hpp"

namespace tutti::mpi {

/// MPI reports errors that belong to no communicator, such as those of a completed request, to the
/// handlers of these two. During the lifetime of this object the errors are returned.
class returned_errors {
 public:
  using setter = int (*)(MPI_Comm, MPI_Errhandler);
  /// `set`: MPI's own function, if another one replaces it.
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
