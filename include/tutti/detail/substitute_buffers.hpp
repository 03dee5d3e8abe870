// SPDX-License-Identifier: Apache-2.0
//
// Participation of a rank that rejects its own arguments while the other ranks, which cannot know
// of it, continue. It takes part with substitute buffers and throws when the call is over. Thus no
// rank waits for it, and no message to it remains for the next call. All collectives share this
// mechanism: every rejection goes through substitute_buffers::prepare().
#pragma once

#include <exception>

#include "tutti/detail/export.hpp"
#include "tutti/detail/inference.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The substitute buffers of a call that this rank rejects, and the error that the call ends with.
/// Other ranks receive zeros from them.
class substitute_buffers {
 public:
  substitute_buffers() = default;
  substitute_buffers(const substitute_buffers&) = delete;
  substitute_buffers& operator=(const substitute_buffers&) = delete;
  // Inline for the reason that collective_frame's destructor states.
  [[gnu::always_inline]] ~substitute_buffers() {
    if (state_ != nullptr) drop(state_);
  }

  /// A call that rejects its arguments calls this from the handler of the error. It changes `c`
  /// into a call that serves the other ranks, and stores the error for rethrow_fault(). It throws
  /// the error instead if the other ranks know of it or do not wait. It also throws if they expect
  /// data whose length this rank cannot know.
  ///
  /// `c` may be incomplete: its buffers are valid or null, and its count is valid or 0. Its arrays
  /// of counts and displacements are the caller's. `given` is the length of a block in the
  /// arguments, or rejected_count. `exchanged` means that the arrays come from an exchange of
  /// counts, and are valid.
  ///
  /// In checked mode it reports the error to the other ranks instead. An exception of a type
  /// outside tutti comes from the resize of a caller's container (std::bad_alloc), after the
  /// arguments were checked. Only this rank has failed, so every form of a call then serves the
  /// other ranks.
  void prepare(const collective_caller&, call& c, std::size_t given, bool exchanged);
  /// Called after prepare(), just before this rank takes part: sends rejections to the ranks that
  /// receive zeros from it.
  void announce(const collective_caller&, const call& c);
  /// Sets the error that is thrown in place of the one that prepare() is called for.
  void set_fault(std::exception_ptr fault);
  /// The other ranks know of the error from an exchange of counts. prepare() then only throws.
  void set_peers_informed();
  /// Only this rank knows of the error, so prepare() serves the others even for a peer_error.
  void set_peers_continue();
  /// Whether prepare() has made the call one that serves the other ranks.
  bool in_use() const noexcept { return used_; }
  /// Throws the stored error, if prepare() has stored one.
  void rethrow_fault() const {
    if (used_) rethrow();
  }

 private:
  struct state;
  state& get_state();
  // Static: a frame whose address no function gets stays in registers.
  static void drop(state* one) noexcept;
  void rethrow() const;
  state* state_ = nullptr;
  bool used_ = false;
};

/// During its lifetime this rank takes part in a call only for the other ranks, and has an error of
/// its own.
class serving_peers {
 public:
  explicit serving_peers(communicator_impl& where) noexcept;
  ~serving_peers();
  serving_peers(const serving_peers&) = delete;
  serving_peers& operator=(const serving_peers&) = delete;

 private:
  communicator_impl& where_;
};

/// Executes such a call by `run()`. Its own errors are consequences of the stored error, and are
/// ignored.
template <class Run>
void serve_by(communicator_impl& where, const Run& run) noexcept {
  const serving_peers guard(where);
  try {
    run();
  } catch (...) {
    // The caller is about to throw its stored error.
  }
}
void serve(communicator_impl&, const call&) noexcept;

}  // namespace tutti::detail
TUTTI_API_END
