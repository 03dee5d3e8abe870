// SPDX-License-Identifier: Apache-2.0
//
// What a rank does that refuses its own arguments while the others, who cannot know of it, go on: it takes
// part with memory of its own and throws when the call is over. So nobody waits for it, and nothing that was
// sent to it is left for the next call. One mechanism for all collectives: whatever is refused passes through
// stand_in::take().
#pragma once

#include <exception>

#include "tutti/face/inference.hpp"

namespace tutti::detail {

/// The memory of such a call, and the error that it ends with.
class stand_in {
 public:
  stand_in() = default;
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;
  ~stand_in() {
    if (kept_ != nullptr) drop();
  }

  /// To be called where a call is refused, from the handler of that error. Makes `c` one that serves the
  /// other ranks and keeps the error for complain(); or throws it, where the others know, are not waiting, or
  /// expect something that this rank cannot know. `c` may be filled in part: its buffers are right or null,
  /// its count right or 0, its lists as the caller gave them. `given`: the length of a block that the
  /// arguments name, or refused_count. `exchanged`: the lists come from an exchange of counts, and are right.
  /// In checked mode the others are told instead. An exception that is not of tutti's comes from a container
  /// of the caller's that was resized (std::bad_alloc), once the arguments were found to be right: it is
  /// this rank's alone, so that every form of a call serves the others then.
  void take(const call_site&, call& c, std::size_t given, bool exchanged);
  /// Throw this in place of what take() will find.
  void blame(std::exception_ptr fault);
  /// The others have been told in an exchange of counts: take() only throws.
  void others_know();
  /// Only this rank has been told, so that take() serves the others where it finds a peer_error.
  void others_go_on();
  /// Whether take() has made the call one that serves the others.
  bool used() const noexcept { return taken_; }
  /// Then throws the error that was kept.
  void complain() const {
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

/// Carries out such a call. What goes wrong with it is a consequence of what the caller is told anyway.
void serve(core&, const call&) noexcept;

}  // namespace tutti::detail
