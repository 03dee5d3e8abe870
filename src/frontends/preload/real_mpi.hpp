// SPDX-License-Identifier: Apache-2.0
//
// MPI's own functions, which this library replaces for the program. real<MPI_Bcast>(...) is the
// MPI_Bcast that the program would have called. Looked up once, when the library is loaded, by
// MPI's profiling name (PMPI_Bcast). So tutti's own calls bypass a profiling library that the
// program links.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <dlfcn.h>
#include <mpi.h>

namespace tutti::preload {
namespace naming {

// The compiler's text ends with the name of F: "... F = MPI_Bcast]".
template <auto F>
consteval auto profiled_name() {
  constexpr std::string_view signature = __PRETTY_FUNCTION__;
  constexpr std::size_t from = signature.rfind("MPI_"), to = signature.find_first_of("];,", from);
  static_assert(from != signature.npos && to != signature.npos);
  std::array<char, to - from + 2> text{'P'};
  for (std::size_t i = from; i < to; ++i) text[i - from + 1] = signature[i];
  return text;
}

template <auto F>
inline constexpr auto name = profiled_name<F>();

}  // namespace naming

template <auto F>
[[gnu::visibility("hidden")]] inline const decltype(F) real =
    reinterpret_cast<decltype(F)>(::dlsym(RTLD_NEXT, naming::name<F>.data()));

}  // namespace tutti::preload
