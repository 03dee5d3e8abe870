// SPDX-License-Identifier: Apache-2.0
//
// Whether tutti or MPI runs a call. The decision depends on agreed values only, so that all ranks
// decide alike. The trees decide once for each signature and interval of counts on communicators of
// one topology.
#pragma once

#include <cstddef>

#include "frontends/preload/preload_process.hpp"

namespace tutti::preload {

/// The number of decisions that a communicator keeps of a collective.
inline constexpr std::size_t max_decisions = 64;

decision decide(process& p, communicator_info& m, const call& c);
/// The decision for a bcast of so many bytes, in a few instructions if it is that of the last one.
decision decide_bcast(process& p, communicator_info& m, std::size_t bytes);
/// Whether the trees decide calls of this kind by a size that a decision does not contain.
bool decided_by_counts(const process& p, collective what);

}  // namespace tutti::preload
