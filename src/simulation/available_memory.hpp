// SPDX-License-Identifier: Apache-2.0
//
// The memory that a simulation may use, so that it rejects a call before it starts and not when the
// memory is full.
#pragma once

namespace tutti::simulation {

/// The bytes that this process can still get: the least of the free memory, the limits of its
/// control groups, and what the limit of its address space leaves. Infinite if none is known.
double available_memory();

}  // namespace tutti::simulation
