// SPDX-License-Identifier: Apache-2.0
//
// Keeps a call of several steps in one piece. A rejection of another rank may arrive between two
// steps. If the second step threw it, the other ranks would wait for this rank.
#pragma once

namespace tutti::detail {

/// While it lives, no call of the rank throws a rejection that is due; the next call after it does.
/// A call of several steps checks its entry first, and then holds one of these.
class deferred_rejections {
 public:
  /// `count`: rank_state::calls_that_defer_rejections.
  explicit deferred_rejections(int& count) noexcept : count_(count) { ++count_; }
  ~deferred_rejections() { --count_; }
  deferred_rejections(const deferred_rejections&) = delete;
  deferred_rejections& operator=(const deferred_rejections&) = delete;

 private:
  int& count_;
};

}  // namespace tutti::detail
