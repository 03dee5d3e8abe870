// SPDX-License-Identifier: Apache-2.0
//
// Selects the process that reports that the ranks of an MPI job cannot start. Each process finds
// the same error, for example that a module is missing, and MPI is not up. So they cannot agree by
// messages.
#pragma once

namespace tutti::detail {

/// Whether an MPI launcher started this process as a rank other than 0.
bool is_nonzero_process();

/// Called by a process that cannot start. Returns whether it must print the reason.
///
/// Rank 0 always prints, and so does a process that no launcher started. The first process of each
/// other node prints two seconds later, unless the launcher has ended it until then. Any other
/// process prints nothing once a process of lower rank on its node has ended, because that one has
/// printed. It waits five seconds for the first sight of a lower rank. If none appears, all have
/// ended. If all of them run for ten seconds and three more for each of them, they can start, and
/// this process prints. It waits at most 70 seconds.
bool must_report_startup_error();

}  // namespace tutti::detail
