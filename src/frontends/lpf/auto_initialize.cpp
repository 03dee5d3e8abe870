// SPDX-License-Identifier: Apache-2.0
//
// Whether the processes of an MPI job wait before main(): yes, unless the program defines the
// constant. It is in a separate file, so that no compiler assumes its value. It is exported, so
// that the program's definition replaces it in a shared library, too.
#include "tutti/detail/export.hpp"

extern "C" {
extern TUTTI_API const int LPF_MPI_AUTO_INITIALIZE __attribute__((weak));
const int LPF_MPI_AUTO_INITIALIZE = 1;
}
