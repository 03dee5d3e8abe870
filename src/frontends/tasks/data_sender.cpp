// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/data_sender.hpp"

#include <string>

#include "frontends/tasks/failure_log.hpp"

namespace tutti::tasks {

// Each receiver forwards to half of the remaining ranks. So after k messages 2^k ranks have the
// contents.
std::size_t data_sender::send(const message_header& header, const contents& from, std::size_t bytes,
                              const forwarding* to, std::size_t n, send_listener* listener) {
  std::size_t under_way = 0;
  while (n > 0) {
    const std::size_t subtree = n <= 2 ? 1 : (n + 1) / 2;
    message_header one = header;
    one.sequence = to->sequence;
    count(to->rank, bytes);
    if (!messages_.send(to->rank, one, from.data, bytes, {to + 1, subtree - 1}, listener, from.memory))
      ++under_way;
    to += subtree;
    n -= subtree;
  }
  return under_way;
}

void data_sender::send_failure(int to, message_header header, const failure& why,
                               std::span<const forwarding> forward_to) {
  header.poisoned = 1;
  const std::string text = text_of(why);
  messages_.send(to, header, text.data(), text.size(), forward_to);
}

}  // namespace tutti::tasks
