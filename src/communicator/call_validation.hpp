// SPDX-License-Identifier: Apache-2.0
//
// Validates the arguments of a call, before anything is sent. call_dispatcher calls it for each
// call that call_cache does not contain.
#pragma once

#include "communicator/communicator_state.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

/// Throws usage_error. O(counts); O(n log n) if received blocks do not ascend.
void validate(const communicator_state& where, const call& c);

}  // namespace tutti::detail
