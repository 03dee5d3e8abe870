// SPDX-License-Identifier: Apache-2.0
//
// Messages that pass through a rank from one neighbour to the other, where only those that send and receive a
// block know how long it is. The lengths of a message's blocks, as words, travel one step ahead of it: in
// step i a rank takes in message i and the words of message i + 1, and passes on message i - 1 and the words
// of message i. So it holds two messages, in two scratch buffers that take turns, and each is as long as need
// be.
#pragma once

#include <vector>

#include "schedule/builder.hpp"

namespace tutti::parts {

class passage {
 public:
  struct shift {
    int from, to;      ///< nobody where nothing comes or goes
    buffer even, odd;  ///< of messages by their numbers
    int first_word;    ///< `comes` words for the lengths of even messages, of odd ones, and of what comes
    int comes, goes;   ///< blocks of a message; the first ones go on, the others stay here
    int first;         ///< 0: begins with one of its own; 1: with one that comes
    int last;          ///< messages 1 .. last come
    int told;          ///< the words of messages first .. told go on; later ones' lengths are known there
  };

  passage(builder& b, const shift& c) : b_(b), c_(c), own_(leaving(0)) {}

  /// Message 0 stands there and not where its number says.
  void own_is(place p) { own_ = p; }

  /// The steps at which something begins or ends.
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
  /// The end of each step: what stays of its message must have been copied.
  void make_room(int step) {
    if (!comes(step + 1)) return;
    b_.copy(words(coming(), c_.comes), words(words_of(step + 1), c_.comes));
    b_.reserve(message(step + 1, c_.comes));
  }

  /// Where the lengths of message i begin, and its block `which`; in a loop each time `by` farther.
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
