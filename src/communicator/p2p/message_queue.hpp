// SPDX-License-Identifier: Apache-2.0
//
// Matches receives and messages on one communicator of one rank, for all engines. It has the two
// lists of MPI's matching: posted receives in the order in which they were begun, and unexpected
// messages in the order in which they arrived. An arriving message is offered to the posted
// receives in turn, and becomes unexpected if none takes it. A new receive first searches the
// unexpected messages. So no unexpected message matches a posted receive. p2p_calls and the task
// front end use it.
//
// If code outside the library receives on the communicator too, messages stay with the engine until
// a receive gets them. The engine is then asked for each posted receive in turn, and only messages
// that were put back are unexpected.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "runtime/executor/progressable.hpp"
#include "transport/endpoint.hpp"
#include "transport/p2p_transport.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti {

/// A receive. It stays at one address until it is over or given up.
struct posted_recv {
  enum class state : std::uint8_t {
    over,    // or never begun
    waits,   // no message has matched
    moves,   // the contents are being transferred
    engines  // the engine executes the receive
  };
  detail::recv_args what;
  detail::envelope found;      // once over
  std::exception_ptr refusal;  // once over: the error, if nothing was received
  posted_recv* before = nullptr;
  posted_recv* behind = nullptr;
  state now = state::over;
  bool lasts = false;  // nonblocking: the program continues while it waits
  transfer moving;

  bool over() const noexcept { return now == state::over; }
  /// Once it is over: throws its error, once.
  void settle() {
    if (refusal) [[unlikely]]
      std::rethrow_exception(std::exchange(refusal, nullptr));
  }
};

class message_queue final : public progressable {
 public:
  message_queue(context& where, std::unique_ptr<p2p_transport> by);
  ~message_queue();
  message_queue(const message_queue&) = delete;
  message_queue& operator=(const message_queue&) = delete;

  p2p_transport& by() noexcept { return *by_; }
  unsigned max_tag() const noexcept { return static_cast<unsigned>(max_tag_); }
  bool interleaves() const noexcept { return interleaves_; }

  // --- receives. The posted receive keeps what `room` throws, and every other error.
  /// Takes a message that has arrived, or waits for one from here on.
  void begin(posted_recv& w);
  /// Takes in the messages that have arrived, up to the one that ends `until`.
  void take_in(const posted_recv* until = nullptr);
  /// Removes a receive from the queue. A message that is being transferred arrives nevertheless.
  void give_up(posted_recv& w) noexcept;
  /// Whether any receive is posted.
  bool busy() const noexcept { return first_ != nullptr; }

  // --- messages without receives
  /// Finds the oldest message that such a receive would take. It stays where it is.
  bool find(int source, int tag, detail::envelope& found, const char* operation);
  /// Removes it, so that no receive gets it. Null: code outside the library has received it.
  shm::unexpected_message* take_out(const detail::envelope& found, const char* operation);
  /// Returns it to its place among the others, unless a receive takes it.
  void put_back(shm::unexpected_message& one) noexcept;
  /// Returns when a message may have arrived.
  void wait(const shm::wait_site& site) { by_->wait_for_next(site); }

  /// Describes a wait for reports. Without a peer, `what` ends with the preposition before it.
  shm::wait_site site_of(const char* operation, const char* what, int peer, int tag) const noexcept;
  shm::wait_site site_of(const detail::recv_args& r) const noexcept;

  // --- the posted receives, as an operation that every wait of this rank progresses
  bool go_on(bool) override {
    take_in();
    return !busy();
  }
  std::uint64_t moves() const noexcept override { return moves_; }
  shm::wait_site site(const char* what, int peer) const noexcept override;

 private:
  enum class verdict : std::uint8_t { fits, refused, too_long };
  verdict judge(posted_recv& w, const detail::envelope& found, void*& into) const;
  shm::unexpected_message* kept(int source, int tag) const noexcept;
  void take_out(shm::unexpected_message& one) noexcept;
  posted_recv* first_for(const detail::envelope& found) const noexcept;
  void fetch_posted(const posted_recv* until);
  void give_to_engine();
  void receive(posted_recv& w, shm::unexpected_message& one, void* into);
  void link(posted_recv& w) noexcept;
  void end(posted_recv& w) noexcept;
  void keep(shm::unexpected_message& one) noexcept;
  void deliver(shm::unexpected_message& one);
  bool offer(posted_recv& w, shm::unexpected_message& one);
  void look_after();
  std::exception_ptr broken_elements(const posted_recv& w) const;
  std::exception_ptr too_long(const posted_recv& w) const;

  context& where_;
  std::unique_ptr<p2p_transport> by_;
  int max_tag_;
  bool interleaves_, shared_;
  posted_recv *first_ = nullptr, *last_ = nullptr;
  shm::unexpected_message *oldest_ = nullptr, *newest_ = nullptr;
  std::size_t looked_after_ = 0;  // receives in state moves or engines
  std::uint64_t moves_ = 0, came_ = 0;
};

/// For an engine without messages: carries those of a rank to itself, and rejects all others.
std::unique_ptr<p2p_transport> make_self_transport(context& where);

}  // namespace tutti
