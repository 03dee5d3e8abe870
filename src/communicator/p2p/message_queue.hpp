// SPDX-License-Identifier: Apache-2.0
//
// Which receive gets which message, on one communicator of one rank, for all engines. Two lists: receives
// that wait, in the order in which they were begun, and messages that nobody wanted yet, in the order in
// which they came. Whatever comes is offered to the receives in turn, and kept where none takes it; a new
// receive looks through what was kept. So no message is in the second list that a receive of the first would
// take.
//
// Where others than the library receive on the communicator too, messages stay with the engine until a
// receive gets them: each waiting receive is asked for in turn, and the second list has only what was put
// back.
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

/// A receive. Its owner keeps it where it is until it is over, or given up.
struct posted_recv {
  enum class state : std::uint8_t {
    over,    // or never begun
    waits,   // for a message
    moves,   // the contents are on their way
    engines  // the engine was given the receive
  };
  detail::recv_args what;
  detail::envelope found;      // once over
  std::exception_ptr refusal;  // once over: why nothing was received
  posted_recv* before = nullptr;
  posted_recv* behind = nullptr;
  state now = state::over;
  bool lasts = false;  // the program goes on while it waits: it is not of a blocking receive
  transfer moving;

  bool over() const noexcept { return now == state::over; }
  /// Of one that is over: throws what it was refused by, once.
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

  // --- receives. What `room` throws, and every other refusal, is kept in the want.
  /// Takes what has come, or waits for it from here on.
  void begin(posted_recv& w);
  /// Takes in what has come, up to the message that ends `until`.
  void take_in(const posted_recv* until = nullptr);
  /// Takes a want out of the mailbox. What is on its way already arrives nevertheless.
  void give_up(posted_recv& w) noexcept;
  /// Whether receives are under way.
  bool busy() const noexcept { return first_ != nullptr; }

  // --- messages, past receives
  /// Whether one has come that such a receive would take, and which: the oldest. It stays where it is.
  bool find(int source, int tag, detail::envelope& found, const char* operation);
  /// Takes it out of the reach of receives. Null: where others receive too, and one of them has it now.
  shm::unexpected_message* take_out(const detail::envelope& found, const char* operation);
  /// Where it stood among the others, unless a receive takes it.
  void put_back(shm::unexpected_message& one) noexcept;
  /// Returns when something may have come.
  void wait(const shm::wait_site& site) { by_->wait_for_next(site); }

  /// What a report says of a wait. `what` without a peer ends with the preposition that one would follow.
  shm::wait_site site_of(const char* operation, const char* what, int peer, int tag) const noexcept;
  shm::wait_site site_of(const detail::recv_args& r) const noexcept;

  // --- as something that every wait of this rank serves: the receives under way
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
  std::size_t looked_after_ = 0;  // wants that move, or are the engine's
  std::uint64_t moves_ = 0, came_ = 0;
};

/// What serves where an engine has no mail: messages of a rank to itself. Others are refused in its name.
std::unique_ptr<p2p_transport> make_self_transport(context& where);

}  // namespace tutti
