// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_SHM: how far a rank lets the ranks of its node share memory. Without MPI, so that tools can
// read it too.
#pragma once

#include <cstdint>
#include <string>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

/// A node uses the minimum over its ranks.
enum class memory_use : std::uint8_t {
  off,
  cells,  ///< all data pass through the shared memory
  copy,   ///< long data are copied from the memory of their owner
  heap,   ///< buffers in arenas are read and written in place
};

/// The value of TUTTI_SHM. Throws usage_error if it is none.
inline memory_use memory_use_setting() {
  const std::string value = detail::setting("TUTTI_SHM").value_or("heap");
  if (value == "off") return memory_use::off;
  if (value == "cells") return memory_use::cells;
  if (value == "copy") return memory_use::copy;
  if (value == "heap") return memory_use::heap;
  throw usage_error("run", -1, "TUTTI_SHM",
                    "is \"" + detail::echoed(value) + "\", but the values are off, cells, copy and heap",
                    "set one of them, or unset it");
}

}  // namespace tutti::mpi
