// SPDX-License-Identifier: Apache-2.0
//
// A process of an MPI that the program has started, as a member of sections.
#pragma once

#include <mpi.h>

#include "lpf/core.h"

namespace tutti::lpf {

/// Throws usage_error if the other processes of the job wait before main(). They would never be
/// hooked.
void reject_if_processes_wait(const char* operation);

/// Makes the object of an lpf_init_t for the members of `comm`, of which it keeps only duplicates.
/// Collective over `comm`. Throws as adopt() does.
lpf_init_t make_hooked_process(MPI_Comm comm);

}  // namespace tutti::lpf
