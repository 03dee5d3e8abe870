// SPDX-License-Identifier: Apache-2.0
//
// Which functions the program, or a library that it has loaded, imports. So the preload library
// knows at MPI_Init what the program may call later.
#pragma once

#include <string_view>

namespace tutti::preload {

/// Whether the program or one of its libraries imports a function whose name begins so. The
/// libraries of MPI and of tutti do not count.
bool is_imported(std::string_view begin) noexcept;
/// Whether a function is of a library of MPI or of tutti.
bool is_in_mpi(const void* function) noexcept;

}  // namespace tutti::preload
