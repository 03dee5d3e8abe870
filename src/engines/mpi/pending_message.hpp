// SPDX-License-Identifier: Apache-2.0
//
// The messages over MPI that an endpoint has in progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engines/mpi/mpi_base.hpp"
#include "transport/transfer.hpp"

namespace tutti::mpi {

using namespace tutti::detail;

/// A message in progress.
struct message {
  MPI_Request request;
  std::uint32_t generation;  // of its entry in the table; changes when the message is complete
  bool busy, receives;
  int peer;  // job rank
  std::size_t bytes;
  // In checked mode a receive starts only when the length of its message is known; `unmatched`
  // until then.
  bool unmatched;
  MPI_Comm comm;
  int from, tag;
  void* into;
};

/// The contents of a transfer: a message in a table, by index. The index shows the table: that of
/// the endpoint, of node_p2p or of node_messages.
struct request_id {
  static constexpr std::uint32_t first_of_node_p2p = 0x40000000, first_of_node_messages = 0x80000000;
  std::uint32_t index, generation;
};
static_assert(sizeof(request_id) <= sizeof(transfer) && alignof(request_id) <= alignof(transfer));

inline const request_id& id_of(const transfer& t) noexcept {
  return *reinterpret_cast<const request_id*>(t.state);
}

/// A message in the library's own memory: sent from a copy, or received and discarded.
struct buffered_message {
  std::unique_ptr<std::byte[]> data;
  transfer state;
};

}  // namespace tutti::mpi
