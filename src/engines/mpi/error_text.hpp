// SPDX-License-Identifier: Apache-2.0
//
// The text of an MPI error code. MPI_Error_string writes beyond MPI_MAX_ERROR_STRING in MPICH 4.0.
// If the text is a long chain of causes, it returns length 511 and writes from byte 518 on. So only
// this function calls it.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include <mpi.h>

namespace tutti::mpi {

/// Returns MPI's text for `code` on one line, or "error CODE" if MPI has none. MPICH appends a
/// stack of causes, which names addresses and internal functions. Only the innermost cause is kept.
inline std::string error_text(int code) {
  char text[8192] = "";
  static_assert(sizeof text >= 8 * MPI_MAX_ERROR_STRING);
  int length = 0;
  const bool has_text = MPI_Error_string(code, text, &length) == MPI_SUCCESS;
  text[sizeof text - 1] = '\0';
  std::string all(text, has_text ? std::strlen(text) : 0);
  while (!all.empty() && (all.back() == ' ' || all.back() == '\n')) all.pop_back();
  constexpr std::string_view stack = ", error stack:";
  if (const std::size_t at = all.find(stack); at != all.npos) {
    const std::size_t cause = all.rfind("): ") + 3;
    const bool complete = all.size() < MPI_MAX_ERROR_STRING - 1 && cause > at + stack.size();
    const std::string innermost = complete ? all.substr(cause) : "";
    all.resize(at);
    if (!innermost.empty() && innermost != all) all += ": " + innermost;
  }
  for (char& c : all)
    if (c == '\n' || c == '\r') c = ' ';
  return all.empty() ? "error " + std::to_string(code) : all;
}

}  // namespace tutti::mpi
