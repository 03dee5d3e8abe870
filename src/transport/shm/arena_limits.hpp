// SPDX-License-Identifier: Apache-2.0
//
// Whether this process may have an arena (shared_arena.hpp), and how large it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace tutti::shm {

/// The processes of a node map the arenas of one another, and have 128 TiB of addresses.
inline constexpr std::size_t addresses_for_arenas = std::size_t{32} << 40;

/// A multiple of the page size.
inline std::size_t arena_bytes(std::size_t page_size) noexcept {
  const auto number = [](int name) {
    return std::max<std::size_t>(static_cast<std::size_t>(sysconf(name)), 1);
  };
  std::size_t bytes =
      std::min(number(_SC_PHYS_PAGES) * page_size, addresses_for_arenas / number(_SC_NPROCESSORS_ONLN));
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<std::size_t>(bytes, limit.rlim_cur);
  return bytes & ~(page_size - 1);
}

/// Why this process makes no arena; empty if it may. Each rank maps the arenas of all ranks of
/// its node as a whole, and a forked child has a private mapping. Neither works if addresses
/// are limited, or the kernel charges them.
inline std::string why_no_arena() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return "the address space is limited (ulimit -v)";
  char mode = '0';
  if (std::FILE* const file = std::fopen("/proc/sys/vm/overcommit_memory", "re")) {
    mode = static_cast<char>(std::fgetc(file));
    std::fclose(file);
  }
  return mode == '2' ? "the kernel does not overcommit memory" : "";
}

}  // namespace tutti::shm
