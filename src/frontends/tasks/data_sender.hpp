// SPDX-License-Identifier: Apache-2.0
//
// Sends contents of data to other ranks, and counts them. The nodes and tables of transfers use it,
// on the rank's own thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_messages.hpp"

namespace tutti::tasks {

class data_sender {
 public:
  data_sender(message_channel& messages, int ranks)
      : messages_(messages),
        bytes_sent_(static_cast<std::size_t>(ranks)),
        messages_sent_(static_cast<std::size_t>(ranks)) {}
  data_sender(const data_sender&) = delete;
  data_sender& operator=(const data_sender&) = delete;

  message_channel& messages() noexcept { return messages_; }
  /// Sends contents to `n` ranks: to three or more by a binomial tree, in which receivers forward.
  /// Returns how often `listener` will be notified; 0 means that the contents are no longer needed.
  std::size_t send(const message_header& header, const contents& from, std::size_t bytes,
                   const forwarding* to, std::size_t n, send_listener* listener);
  /// Sends the failure because of which there are no contents.
  void send_failure(int to, message_header header, const failure& why,
                    std::span<const forwarding> forward_to = {});

  /// Counts a message of data that the caller sends.
  void count(int to, std::size_t bytes) noexcept {
    bytes_sent_[static_cast<std::size_t>(to)] += bytes;
    ++messages_sent_[static_cast<std::size_t>(to)];
  }
  const std::vector<std::uint64_t>& bytes_sent() const noexcept { return bytes_sent_; }
  const std::vector<std::uint64_t>& messages_sent() const noexcept { return messages_sent_; }

 private:
  message_channel& messages_;
  std::vector<std::uint64_t> bytes_sent_, messages_sent_;  // by rank
};

}  // namespace tutti::tasks
