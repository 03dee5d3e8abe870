// SPDX-License-Identifier: Apache-2.0
//
// Short functions for point-to-point tests. The bytes of a message follow from its sender, length
// and tag, so a receiver detects a wrong message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/tutti.hpp"

namespace tests {

using tutti::detail::envelope;
using tutti::detail::recv_args;
using tutti::detail::send_args;
using bytes = std::vector<unsigned char>;

inline bytes contents(int source, int tag, std::size_t n) {
  bytes b(n);
  std::uint32_t x = static_cast<std::uint32_t>(source) * 2654435761u + static_cast<std::uint32_t>(tag) * 97u +
                    static_cast<std::uint32_t>(n) * 7u + 1u;
  for (auto& one : b) one = static_cast<unsigned char>((x = x * 1664525u + 1013904223u) >> 24);
  return b;
}

inline send_args send_to(int destination, int tag, const bytes& b,
                         tutti::send_modes mode = tutti::send_modes::standard,
                         const char* operation = "send") {
  return {operation, destination, tag, mode, b.data(), b.size()};
}

/// Receives into a buffer that is allocated when the length is known.
inline recv_args recv_any_length(int source, int tag, bytes& into, const char* operation = "recv") {
  recv_args r;
  r.operation = operation;
  r.source = source;
  r.tag = tag;
  r.state = &into;
  r.allocate = [](void* state, const envelope& e) -> void* {
    auto& place = *static_cast<bytes*>(state);
    place.resize(e.bytes);
    return place.data();
  };
  return r;
}
/// Receives into an existing buffer.
inline recv_args recv_into(int source, int tag, bytes& place, const char* operation = "recv") {
  recv_args r;
  r.operation = operation;
  r.source = source;
  r.tag = tag;
  r.into = place.data();
  r.capacity = place.size();
  return r;
}

inline void expect_envelope(const envelope& e, int source, int tag, std::size_t n,
                            const std::source_location& at = std::source_location::current()) {
  check.equal(e.source, source, at);
  check.equal(e.tag, tag, at);
  check.equal(e.bytes, n, at);
}

}  // namespace tests
