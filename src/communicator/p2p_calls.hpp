// SPDX-License-Identifier: Apache-2.0
//
// Messages from one rank to another on one communicator: validates them, sends them, and waits for
// them. Its message queue decides which receive gets which message (p2p/message_queue.hpp). The
// functions of tutti/detail/p2p_abi.hpp are its callers; tasks use the queue itself.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "communicator/communicator_state.hpp"
#include "communicator/p2p/message_queue.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {

class p2p_calls {
 public:
  explicit p2p_calls(communicator_state& state) noexcept : rank_(&state.this_rank()), state_(state) {}
  ~p2p_calls() { close(); }
  p2p_calls(const p2p_calls&) = delete;
  p2p_calls& operator=(const p2p_calls&) = delete;

  // The functions of p2p_abi.hpp. make_send() and make_receive() are inline in p2p_operation.cpp.
  void send(const send_args& args);
  envelope receive(const recv_args& r);
  pending_call make_send(const send_args& args, bool started);
  pending_call make_receive(const recv_args& r, bool started);
  void validate(const recv_args& r);
  bool probe(const char* operation, int source, int tag, bool wait, envelope& found);
  matched_message* mprobe(const char* operation, int source, int tag, bool wait, envelope& found);
  /// Does nothing if this thread may not call: the message then goes with its engine.
  void put_back(matched_message* one) noexcept;

  /// The queue, which the first message opens. Throws usage_error if the communicator was freed or
  /// the calling thread does not run this rank.
  message_queue& open(const char* operation) {
    if (ready_ == nullptr || !state_.is_current_rank()) [[unlikely]]
      open_first(operation);
    return *queue_;
  }
  /// The communicator was freed: the next message is rejected. Messages under way continue.
  void forget() noexcept {
    ready_ = nullptr;
    valid_destinations_ = 0;
  }
  /// Ends all messages. Returns the queue's part to the engine.
  void close() noexcept;

 private:
  class operation;  // nonblocking or persistent
  static constexpr const char* until_received = "a receive of its message by";

  void open_first(const char* operation);
  [[gnu::noinline]] void validate_and_send(const send_args& args);
  [[noreturn, gnu::noinline, gnu::cold]] void rethrow_as_failure();
  [[gnu::noinline]] void finish_send(const send_args& args, transfer& t);
  // These return false if the peer is rank::null.
  bool validate_send(const send_args& args) {
    if (static_cast<unsigned>(args.tag) > open(args.operation).max_tag()) [[unlikely]]
      reject_tag(args.operation, args.tag);
    if (is_reachable(args.destination)) [[likely]]
      return true;
    if (args.destination != rank::null) reject_peer(args.operation, "destination", args.destination);
    return false;
  }
  bool validate_source(const char* operation, int source, int tag) {
    const message_queue& queue = open(operation);
    if (tag != tags::any && static_cast<unsigned>(tag) > queue.max_tag()) [[unlikely]]
      reject_tag(operation, tag);
    if (source == rank::any || is_reachable(source)) [[likely]]
      return true;
    if (source != rank::null) reject_peer(operation, "source", source);
    return false;
  }
  bool is_reachable(int r) const noexcept {
    return static_cast<unsigned>(r) < static_cast<unsigned>(state_.size()) && state_.members().is_known(r);
  }
  [[noreturn]] void reject_peer(const char* operation, const char* parameter, int peer) const;
  [[noreturn]] void reject_tag(const char* operation, int tag) const;
  template <class Over, class Alone>
  void wait_until(const shm::wait_site& site, bool for_queue, const Over& over, const Alone& alone);
  void finish(posted_recv& recv);
  void finish(const send_args& args, transfer& t);
  bool find_message(const char* operation, int source, int tag, bool wait, envelope& found);
  template <class What>
  pending_call make(const What& what, bool has_peer, bool started);

  // Read by send(), for which they repeat what other objects state.
  rank_state* rank_;
  // Destinations below are valid. 0: the queue is not open, the communicator was freed, this rank
  // does not know all members, or the engine interleaves ranks.
  unsigned valid_destinations_ = 0;
  unsigned max_tag_ = 0;
  p2p_transport* transport_ = nullptr;

  communicator_state& state_;
  message_queue* ready_ = nullptr;        // null before the first message, and after free()
  std::unique_ptr<message_queue> queue_;  // null before the first message
  static constexpr std::size_t max_idle = 64;
  std::vector<operation*> idle_;  // complete operations, for the next ones
};

}  // namespace tutti::detail
