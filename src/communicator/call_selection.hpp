// SPDX-License-Identifier: Apache-2.0
//
// Selection for the calls of one communicator: what the decision trees may read of a call, and what
// the overrides of the environment did. schedule_store and count_bounds() use it.
#pragma once

#include <cstdint>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "selection/resolve.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

/// Whether the engine executes such a call by a collective of its own.
native_offer offers_native(const communicator_state& where, const agreed_signature& s) noexcept;

/// The values that selection may read. The engine's part must be open.
selection_context selection_context_of(const communicator_state& where, const agreed_signature& s);

/// Selects, and counts the overrides that were obeyed. Throws usage_error if nothing serves the
/// call.
resolution select(const communicator_state& where, const call& c, const agreed_signature& s);

/// Counts the overrides that `r` obeyed, and reports those that cannot serve the call, as
/// TUTTI_COLL_FALLBACK specifies. Throws usage_error if that is "error".
void count_overrides(const communicator_state& where, collective what, const resolution& r, bool inter);

/// The counts at which the path of a call may change, if only its count does. Each is the largest
/// count of an interval.
std::vector<std::uint64_t> count_bounds(const communicator_state& where, const call& c);

/// A vector of at least so many bytes is combined by the library's own loops.
inline constexpr std::uint64_t min_kernel_bytes = 512;

}  // namespace tutti::detail
