// SPDX-License-Identifier: Apache-2.0
//
// Keeps a call of several steps in one piece. A rejection of another rank may arrive between two
// steps. If the second step threw it, the other ranks would wait for this rank.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/owner.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The number of objects of the class below on the rank of this communicator.
int& count_of_deferrals(const communicator_impl&) noexcept;

/// While it lives, no call of the rank throws a rejection that is due; the next call after it does.
/// A call of several steps checks its entry first, and then holds one of these.
class deferred_rejections {
 public:
  /// `count`: count_of_deferrals().
  explicit deferred_rejections(int& count) noexcept : count_(count) { ++count_; }
  ~deferred_rejections() { --count_; }
  deferred_rejections(const deferred_rejections&) = delete;
  deferred_rejections& operator=(const deferred_rejections&) = delete;

 private:
  int& count_;
};

}  // namespace tutti::detail
TUTTI_API_END
