// SPDX-License-Identifier: Apache-2.0
//
// Matches receives and messages on one communicator of one rank, for all engines. It has the two
// lists of MPI's matching. Posted receives are in the order in which they were begun, unexpected
// messages in the order in which they arrived. An arriving message is offered to the posted
// receives in turn, and becomes unexpected if none matches. A new receive first searches the
// unexpected messages. So no unexpected message matches a posted receive. p2p_calls and the task
// front end use it.
//
// If code outside the library receives on the communicator too, messages stay with the engine until
// a receive gets them. The queue then probes the engine for each posted receive in turn, and only
// messages that were put back are unexpected.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <utility>

#include "runtime/executor/progressable.hpp"
#include "transport/endpoint.hpp"
#include "transport/p2p_transport.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// A receive. It stays at one address until it is over or canceled.
struct posted_recv {
  enum class state : std::uint8_t {
    over,          // or never begun
    waiting,       // no message has matched
    transferring,  // the contents are being transferred
    at_engine      // the engine executes the receive
  };
  detail::recv_args what;
  detail::envelope found;      // once over
  std::exception_ptr failure;  // once over: the error, if nothing was received
  posted_recv* prev = nullptr;
  posted_recv* next = nullptr;
  state current = state::over;
  bool nonblocking = false;  // the program continues while the receive waits
  transfer moving;

  bool over() const noexcept { return current == state::over; }
  /// Once it is over: throws its error the first time it is called.
  void rethrow_failure() {
    if (failure) [[unlikely]]
      std::rethrow_exception(std::exchange(failure, nullptr));
  }
};

class message_queue final : public progressable {
 public:
  message_queue(context& where, std::unique_ptr<p2p_transport> by);
  ~message_queue();
  message_queue(const message_queue&) = delete;
  message_queue& operator=(const message_queue&) = delete;

  p2p_transport& transport() noexcept { return *transport_; }
  unsigned max_tag() const noexcept { return static_cast<unsigned>(max_tag_); }
  bool interleaves() const noexcept { return interleaves_; }

  // --- receives
  //
  // The posted receive stores what `allocate` throws, and every other error.
  /// Matches a message that has arrived, or posts the receive.
  void begin(posted_recv& recv);
  /// Matches the messages that have arrived, up to the one that ends `until`.
  void process_arrivals(const posted_recv* until = nullptr);
  /// Removes a receive from the queue. Afterwards nothing writes to its buffer: if its message is
  /// being transferred, waits for the contents.
  void cancel(posted_recv& recv) noexcept;
  /// Whether any receive is posted.
  bool has_posted() const noexcept { return first_ != nullptr; }

  // --- messages without receives
  /// Finds the oldest message that such a receive would match. It stays in the queue.
  bool find(int source, int tag, detail::envelope& found, const char* operation);
  /// Removes it, so that no receive gets it. Null: code outside the library has received it.
  shm::unexpected_message* extract(const detail::envelope& found, const char* operation);
  /// Returns it to its place among the others, unless a posted receive matches it.
  void put_back(shm::unexpected_message& one) noexcept;
  /// Returns when a message may have arrived.
  void wait(const shm::wait_site& site) { transport_->wait_for_next(site); }

  /// Describes a wait for reports. Without a peer, `what` ends with the preposition before it.
  shm::wait_site site_of(const char* operation, const char* what, int peer, int tag) const noexcept;
  shm::wait_site site_of(const detail::recv_args& r) const noexcept;

  // --- the posted receives, as an operation that every wait of this rank progresses
  bool advance(bool) override {
    process_arrivals();
    return !has_posted();
  }
  std::uint64_t progress_count() const noexcept override { return progress_count_; }
  shm::wait_site site(const char* what, int peer) const noexcept override;

 private:
  enum class verdict : std::uint8_t { accepted, rejected, discarded };
  verdict judge(posted_recv& recv, const detail::envelope& found, void*& into) const;
  shm::unexpected_message* find_unexpected(int source, int tag) const noexcept;
  void remove_unexpected(shm::unexpected_message& one) noexcept;
  posted_recv* first_match(const detail::envelope& found) const noexcept;
  void fetch_posted(const posted_recv* until);
  void post_to_engine();
  void receive(posted_recv& recv, shm::unexpected_message& one, void* into);
  void link(posted_recv& recv) noexcept;
  void end(posted_recv& recv) noexcept;
  void add_unexpected(shm::unexpected_message& one) noexcept;
  void deliver(shm::unexpected_message& one);
  bool offer(posted_recv& recv, shm::unexpected_message& one);
  void progress_receives();
  std::exception_ptr partial_element(const posted_recv& recv) const;
  std::exception_ptr too_long(const posted_recv& recv) const;

  context& where_;
  std::unique_ptr<p2p_transport> transport_;
  int max_tag_;
  bool interleaves_, shared_;
  posted_recv *first_ = nullptr, *last_ = nullptr;
  shm::unexpected_message *oldest_ = nullptr, *newest_ = nullptr;
  std::size_t in_progress_ = 0;  // receives in state transferring or at_engine
  std::uint64_t progress_count_ = 0, arrived_ = 0;
};

/// The error of a receive on `rank` whose message is not a whole number of elements.
mismatch_error partial_element(const recv_args& recv, const envelope& found, int rank,
                               const std::source_location& at);

/// For an engine without messages: carries those of a rank to itself, and rejects all others.
std::unique_ptr<p2p_transport> make_self_transport(context& where);

}  // namespace tutti::detail
