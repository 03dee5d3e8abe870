// SPDX-License-Identifier: Apache-2.0
//
// A process of an MPI that the program has started, as a member of sections.
#pragma once

#include <mpi.h>

#include "lpf/core.h"

namespace tutti::lpf {

/// Throws usage_error where the other processes of the job wait before main(), and so will never be hooked.
void refuse_waiting(const char* operation);

/// What is behind an lpf_init_t over the members of `comm`, of which it keeps duplicates only. Collective
/// over it. Throws as adopt().
lpf_init_t hooked_over(MPI_Comm comm);

}  // namespace tutti::lpf
