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

#include "engines/carrier.hpp"
#include "engines/endpoint.hpp"
#include "execute/progressing.hpp"
#include "tutti/core/mail.hpp"

namespace tutti {

/// A receive. Its owner keeps it where it is until it is over, or given up.
struct want {
  enum class state : std::uint8_t {
    over,    // or never begun
    waits,   // for a message
    moves,   // the contents are on their way
    engines  // the engine was given the receive
  };
  detail::reception what;
  detail::envelope found;      // once over
  std::exception_ptr refusal;  // once over: why nothing was received
  want* before = nullptr;
  want* behind = nullptr;
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

class mailbox final : public progressing {
 public:
  mailbox(context& where, std::unique_ptr<carrier> by);
  ~mailbox();
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  carrier& by() noexcept { return *by_; }
  unsigned greatest_tag() const noexcept { return static_cast<unsigned>(greatest_tag_); }
  bool restless() const noexcept { return restless_; }

  // --- receives. What `room` throws, and every other refusal, is kept in the want.
  /// Takes what has come, or waits for it from here on.
  void begin(want& w);
  /// Takes in what has come, up to the message that ends `until`.
  void take_in(const want* until = nullptr);
  /// Takes a want out of the mailbox. What is on its way already arrives nevertheless.
  void give_up(want& w) noexcept;
  /// Whether receives are under way.
  bool busy() const noexcept { return first_ != nullptr; }

  // --- messages, past receives
  /// Whether one has come that such a receive would take, and which: the oldest. It stays where it is.
  bool find(int source, int tag, detail::envelope& found, const char* operation);
  /// Takes it out of the reach of receives. Null: where others receive too, and one of them has it now.
  fabric::parcel* take_out(const detail::envelope& found, const char* operation);
  /// Where it stood among the others, unless a receive takes it.
  void put_back(fabric::parcel& one) noexcept;
  /// Returns when something may have come.
  void wait(const fabric::wait_site& site) { by_->wait_for_next(site); }

  /// What a report says of a wait. `what` without a peer ends with the preposition that one would follow.
  fabric::wait_site site_of(const char* operation, const char* what, int peer, int tag) const noexcept;
  fabric::wait_site site_of(const detail::reception& r) const noexcept;

  // --- as something that every wait of this rank serves: the receives under way
  bool go_on(bool) override {
    take_in();
    return !busy();
  }
  std::uint64_t moves() const noexcept override { return moves_; }
  fabric::wait_site site(const char* what, int peer) const noexcept override;

 private:
  enum class verdict : std::uint8_t { fits, refused, too_long };
  verdict judge(want& w, const detail::envelope& found, void*& into) const;
  fabric::parcel* kept(int source, int tag) const noexcept;
  void take_out(fabric::parcel& one) noexcept;
  want* first_for(const detail::envelope& found) const noexcept;
  void take_wanted(const want* until);
  void give_to_engine();
  void receive(want& w, fabric::parcel& one, void* into);
  void link(want& w) noexcept;
  void end(want& w) noexcept;
  void keep(fabric::parcel& one) noexcept;
  void deliver(fabric::parcel& one);
  bool offer(want& w, fabric::parcel& one);
  void look_after();
  std::exception_ptr broken_elements(const want& w) const;
  std::exception_ptr too_long(const want& w) const;

  context& where_;
  std::unique_ptr<carrier> by_;
  int greatest_tag_;
  bool restless_, shared_;
  want *first_ = nullptr, *last_ = nullptr;
  fabric::parcel *oldest_ = nullptr, *newest_ = nullptr;
  std::size_t looked_after_ = 0;  // wants that move, or are the engine's
  std::uint64_t moves_ = 0, came_ = 0;
};

/// What serves where an engine has no mail: messages of a rank to itself. Others are refused in its name.
std::unique_ptr<carrier> mail_to_oneself(context& where);

}  // namespace tutti
