// SPDX-License-Identifier: Apache-2.0
//
// Messages of the program whose contents the receiver checks.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "memory_world.hpp"

namespace tests {

using bytes = std::vector<std::byte>;

inline constexpr tutti::send_modes all_modes[] = {tutti::send_modes::standard, tutti::send_modes::buffered,
                                                  tutti::send_modes::synchronous};

inline bytes contents(int from, int to, int tag, std::size_t n) {
  bytes made(n);
  for (std::size_t i = 0; i < n; ++i)
    made[i] = static_cast<std::byte>(from * 31 + to * 7 + tag * 13 + static_cast<int>(i % 251));
  return made;
}

inline tutti::detail::send_args to(int peer, int tag, const bytes& data, tutti::send_modes mode) {
  return {.operation = "isend",
          .destination = peer,
          .tag = tag,
          .mode = mode,
          .data = data.data(),
          .bytes = data.size()};
}

inline void receive(tutti::communicator& c, int source, int tag, int from, int expected_tag, std::size_t n) {
  bytes into(n + 8);
  const tutti::detail::envelope e = tutti::detail::receive(
      tutti::detail::impl_of(c),
      {.operation = "recv", .source = source, .tag = tag, .into = into.data(), .capacity = into.size()});
  require(e.source == from && e.tag == expected_tag && e.bytes == n,
          "got tag " + std::to_string(e.tag) + " of rank " + std::to_string(e.source) + " with " +
              std::to_string(e.bytes) + " bytes instead of tag " + std::to_string(expected_tag) +
              " of rank " + std::to_string(from) + " with " + std::to_string(n));
  into.resize(n);
  require(into == contents(from, c.rank(), expected_tag, n), std::to_string(n) + " bytes are not intact");
}

struct sends {
  std::deque<bytes> data;
  std::vector<tutti::detail::pending_call> all;

  void start(tutti::communicator& c, int peer, int tag, std::size_t n, tutti::send_modes mode) {
    data.push_back(contents(c.rank(), peer, tag, n));
    if (mode == tutti::send_modes::buffered) {
      tutti::detail::send(tutti::detail::impl_of(c), to(peer, tag, data.back(), mode));
      for (std::byte& b : data.back()) b = std::byte{0xee};
      data.pop_back();
    } else {
      all.push_back(tutti::detail::start_send(tutti::detail::impl_of(c), to(peer, tag, data.back(), mode)));
    }
  }
  void wait() {
    for (tutti::detail::pending_call& one : all) one->wait();
    all.clear();
    data.clear();
  }
};

inline int right(const tutti::communicator& c) { return (c.rank() + 1) % c.size(); }
inline int left(const tutti::communicator& c) { return (c.rank() + c.size() - 1) % c.size(); }

}  // namespace tests
