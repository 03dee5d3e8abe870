// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/data_sender.hpp"

#include <string>

#include "frontends/tasks/failure_log.hpp"

namespace tutti::tasks {

// Each receiver forwards to half of the ranks that are left: after k messages 2^k ranks have the
// contents.
std::size_t data_sender::send(const head& what, const contents& from, std::size_t bytes, const forwarding* to,
                              std::size_t n, send_listener* listener) {
  std::size_t under_way = 0;
  while (n > 0) {
    const std::size_t whole = n <= 2 ? 1 : (n + 1) / 2;
    head one = what;
    one.sequence = to->sequence;
    count(to->rank, bytes);
    if (!messages_.send(to->rank, one, from.data, bytes, {to + 1, whole - 1}, listener, from.in)) ++under_way;
    to += whole;
    n -= whole;
  }
  return under_way;
}

void data_sender::send_failure(int to, head what, const failure& why, std::span<const forwarding> further) {
  what.poisoned = 1;
  const std::string text = text_of(why);
  messages_.send(to, what, text.data(), text.size(), further);
}

}  // namespace tutti::tasks
