// SPDX-License-Identifier: Apache-2.0
//
// A process of an MPI that the program has started, as a member of sections.
#pragma once

#include <mpi.h>

#include "lpf/core.h"

namespace tutti::lpf {

/// What is behind an lpf_init_t over the members of `comm`, of which it keeps duplicates only. Collective
/// over it. Throws as adopt().
lpf_init_t hooked_over(MPI_Comm comm);

}  // namespace tutti::lpf
