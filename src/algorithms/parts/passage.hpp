// SPDX-License-Identifier: Apache-2.0
//
// Messages that pass through a rank from one neighbour to the other, if only the sender and the
// receiver of a block know its length. The lengths of a message's blocks travel as words one step
// ahead of it. In step i a rank receives message i and the words of message i + 1. In the same step
// it forwards message i - 1 and the words of message i. So it holds two messages, in two
// alternating scratch buffers, and each is only as long as necessary.
#pragma once

#include <vector>

#include "schedule/builder.hpp"

namespace tutti::parts {

class passage {
 public:
  struct shift {
    int from, to;      ///< ignored if nothing arrives or leaves
    buffer even, odd;  ///< of messages with even and odd numbers
    /// three times `comes` words: lengths of even messages, of odd ones, of arriving ones
    int first_word;
    /// blocks of a message that arrives; of these the first `goes` leave, the others stay here
    int comes, goes;
    /// 0: message 0 of this rank leaves first; 1: the first message is one that arrives
    int first;
    int last;          ///< messages 1 .. last arrive
    /// the words of messages first .. told leave; the next rank knows the lengths of later ones
    int told;
  };

  passage(builder& b, const shift& c) : b_(b), c_(c), own_(leaving(0)) {}

  /// Message 0 is at this place, not at the place that its number implies.
  void own_is(place p) { own_ = p; }

  /// The steps at which some transfer begins or ends.
  std::vector<int> marks() const {
    return {0, 1, 2, c_.first, c_.first + 1, c_.told + 1, c_.last, c_.last + 1, c_.last + 2};
  }
  bool comes(int i) const { return i >= 1 && i <= c_.last; }

  void transfer(int step) {
    if (step >= c_.first && step <= c_.told) b_.send(c_.to, words(words_of(step), c_.goes));
    if (step > c_.first && step <= c_.last + 1) b_.send(c_.to, step == 1 ? own_ : leaving(step - 1));
    if (comes(step + 1)) b_.recv(c_.from, words(coming(), c_.comes));
    if (comes(step)) b_.recv(c_.from, message(step, c_.comes));
  }
  /// Ends a step. The blocks of its message that stay here must have been copied before.
  void make_room(int step) {
    if (!comes(step + 1)) return;
    b_.copy(words(coming(), c_.comes), words(words_of(step + 1), c_.comes));
    b_.reserve(message(step + 1, c_.comes));
  }

  /// words_of is the first word with the lengths of message i. part is block `which` of the
  /// message, `by` more in each iteration of a loop.
  int words_of(int i) const { return c_.first_word + (i % 2) * c_.comes; }
  place part(int i, int which, int by) const {
    return held(room(i), at(words_of(i) + which, by), 1, words_of(i));
  }
  place leaving(int i) const { return message(i, c_.goes); }
  place staying(int i) const { return part(i, c_.goes, 0); }

 private:
  buffer room(int i) const { return i % 2 == 0 ? c_.even : c_.odd; }
  place message(int i, int n) const { return held(room(i), words_of(i), n, words_of(i)); }
  int coming() const { return c_.first_word + 2 * c_.comes; }

  builder& b_;
  shift c_;
  place own_;
};

}  // namespace tutti::parts
