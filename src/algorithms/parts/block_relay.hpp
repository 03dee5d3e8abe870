// SPDX-License-Identifier: Apache-2.0
//
// Messages that pass through a rank from one neighbor to the other, if only the sender and the
// receiver of a block know its length. The lengths of a message's blocks travel as words one step
// ahead of it. In step i a rank receives message i and the words of message i + 1. In the same step
// it forwards message i - 1 and the words of message i. So it holds two messages, in two
// alternating scratch buffers, and each is only as long as necessary.
#pragma once

#include <vector>

#include "schedule/builder.hpp"

namespace tutti::parts {

class block_relay {
 public:
  struct parameters {
    int from, to;      ///< ignored if nothing arrives or leaves
    buffer even, odd;  ///< of messages with even and odd numbers
    /// three times `recv_blocks` words: lengths of even messages, of odd ones, of arriving ones
    int first_word;
    int recv_blocks;       ///< blocks of a message that arrives
    int forwarded_blocks;  ///< the first blocks of such a message; the others stay here
    int first_sent;        ///< 0: message 0 of this rank leaves first; 1: the first one arrives
    int last_received;     ///< messages 1 .. last_received arrive
    /// The words of messages first_sent .. last_sent_lengths leave. The next rank knows the lengths
    /// of later messages.
    int last_sent_lengths;
  };

  block_relay(builder& b, const parameters& p) : b_(b), p_(p), message_0_(outgoing(0)) {}

  /// Message 0 is at this place, not at the place that its number implies.
  void set_message_0(place p) { message_0_ = p; }

  /// The steps at which some transfer begins or ends.
  std::vector<int> marks() const {
    const int first = p_.first_sent, last = p_.last_received;
    return {0, 1, 2, first, first + 1, p_.last_sent_lengths + 1, last, last + 1, last + 2};
  }
  bool receives(int i) const { return i >= 1 && i <= p_.last_received; }

  void transfer(int step) {
    if (step >= p_.first_sent && step <= p_.last_sent_lengths)
      b_.send(p_.to, words(first_word_of(step), p_.forwarded_blocks));
    if (step > p_.first_sent && step <= p_.last_received + 1)
      b_.send(p_.to, step == 1 ? message_0_ : outgoing(step - 1));
    if (receives(step + 1)) b_.recv(p_.from, words(recv_words(), p_.recv_blocks));
    if (receives(step)) b_.recv(p_.from, message(step, p_.recv_blocks));
  }
  /// Ends a step. The blocks of its message that stay here must have been copied before.
  void end_step(int step) {
    if (!receives(step + 1)) return;
    b_.copy(words(recv_words(), p_.recv_blocks), words(first_word_of(step + 1), p_.recv_blocks));
    b_.reserve(message(step + 1, p_.recv_blocks));
  }

  /// The first word with the lengths of message i.
  int first_word_of(int i) const { return p_.first_word + (i % 2) * p_.recv_blocks; }
  /// Block `which` of message i, `by` more in each iteration of a loop.
  place block_of(int i, int which, int by) const {
    return dense(memory(i), at(first_word_of(i) + which, by), 1, first_word_of(i));
  }
  place outgoing(int i) const { return message(i, p_.forwarded_blocks); }
  place local_block(int i) const { return block_of(i, p_.forwarded_blocks, 0); }

 private:
  buffer memory(int i) const { return i % 2 == 0 ? p_.even : p_.odd; }
  place message(int i, int n) const { return dense(memory(i), first_word_of(i), n, first_word_of(i)); }
  int recv_words() const { return p_.first_word + 2 * p_.recv_blocks; }

  builder& b_;
  parameters p_;
  place message_0_;
};

}  // namespace tutti::parts
