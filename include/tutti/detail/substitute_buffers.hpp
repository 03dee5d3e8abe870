// SPDX-License-Identifier: Apache-2.0
//
// Participation of a rank that rejects its own arguments while the other ranks, which cannot know
// of it, continue. It takes part with substitute buffers and throws when the call is over. Thus no
// rank waits for it, and no message to it remains for the next call. All collectives share this
// mechanism: every rejection goes through substitute_buffers::take().
#pragma once

#include <exception>

#include "tutti/detail/export.hpp"
#include "tutti/detail/inference.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The memory of such a call, and the error that it ends with.
class substitute_buffers {
 public:
  substitute_buffers() = default;
  substitute_buffers(const substitute_buffers&) = delete;
  substitute_buffers& operator=(const substitute_buffers&) = delete;
  ~substitute_buffers() {
    if (kept_ != nullptr) drop();
  }

  /// A call that rejects its arguments calls this from the handler of the error. It changes `c`
  /// into a call that serves the other ranks, and keeps the error for complain(). It throws the
  /// error instead if the other ranks know of it or do not wait. It also throws if they expect data
  /// whose length this rank cannot know.
  ///
  /// `c` may be filled in part: its buffers are valid or null, its count is valid or 0, and its
  /// lists are the caller's. `given` is the length of a block in the arguments, or refused_count.
  /// `exchanged` means that the lists come from an exchange of counts, and are valid.
  ///
  /// In checked mode it reports the error to the other ranks instead. An exception of a type
  /// outside tutti comes from the resize of a caller's container (std::bad_alloc), after the
  /// arguments were checked. Only this rank has it, so every form of a call then serves the other
  /// ranks.
  void take(const call_site&, call& c, std::size_t given, bool exchanged);
  /// Sets the error that is thrown in place of the one that take() will find.
  void blame(std::exception_ptr fault);
  /// The other ranks know from an exchange of counts: take() then only throws.
  void others_are_informed();
  /// Only this rank knows, so that take() serves the other ranks even for a peer_error.
  void others_continue();
  /// Whether take() has made the call one that serves the other ranks.
  bool used() const noexcept { return taken_; }
  /// Throws the kept error, if take() has kept one.
  void diagnose() const {
    if (taken_) rethrow();
  }

 private:
  struct kept;
  kept& keep();
  void drop() noexcept;
  void rethrow() const;
  kept* kept_ = nullptr;
  bool taken_ = false;
};

/// While it lives, this rank takes part in a call only for the other ranks, and holds an error of its
/// own.
class serving_others {
 public:
  explicit serving_others(communicator_impl& where) noexcept;
  ~serving_others();
  serving_others(const serving_others&) = delete;
  serving_others& operator=(const serving_others&) = delete;

 private:
  communicator_impl& where_;
};

/// Executes such a call. Its own errors are consequences of the kept error, and are ignored.
void serve(communicator_impl&, const call&) noexcept;

}  // namespace tutti::detail
TUTTI_API_END
