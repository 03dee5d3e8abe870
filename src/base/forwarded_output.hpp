// SPDX-License-Identifier: Apache-2.0
//
// Standard error of a process that an MPI launcher started. The launcher reads it from a pipe and
// forwards it.
#pragma once

namespace tutti::detail {

/// Waits until the launcher has forwarded what this process wrote to standard error, at most about
/// two seconds. MPICH's launcher drops output that it has not read when a process ends the job.
/// About 2 of 100 jobs lost their last line.
void wait_until_forwarded() noexcept;

}  // namespace tutti::detail
