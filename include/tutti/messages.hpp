// SPDX-License-Identifier: Apache-2.0
//
// Messages from one rank to another, as member functions of communicator with named parameters.
//
// What is said of parameters, results and errors at communicator holds here too. Messages of one sender that
// a receive could take are taken in the order in which they were sent; receives that could take the same
// message get it in the order in which they were begun. Messages never meet collectives, nor other
// communicators.
//
// Costs: a send and a receive of n elements copy them once or twice, up to 4 KiB by way of the library,
// beyond that from buffer to buffer on engines in one process. Warm blocking calls allocate nothing but a
// container that they make; i... and ..._init forms use memory of earlier ones again.
#pragma once

#include <source_location>

#include "tutti/face/complaint.hpp"  // first: the way to it is part of every error
#include "tutti/face/post.hpp"
#include "tutti/message.hpp"

namespace tutti {

/// The base of communicator that has the calls of point to point. Nothing else derives from it.
template <class Self>
class messages {
  using which = detail::message_call;
  template <which What, detail::mode How = detail::mode::blocking, bool Single = false>
  static constexpr detail::message_form form{What, How, Single};
  static constexpr auto nonblocking = detail::mode::nonblocking;
  static constexpr auto persistent = detail::mode::persistent;

 public:
  /// Sends elements to one rank.
  ///
  /// `send(send_buf(v), destination(r), [send_count(_out)], [send_type(_out)], [tag], [send_mode])`
  ///
  /// All of v, or the first send_count; v may be changed when the call returns. A standard send of more than
  /// a few KiB may wait for the receive. ssend waits for it always, bsend never: the library keeps a copy;
  /// rsend promises that it was begun. They are send_mode(send_modes::synchronous), buffered, ready. tag
  /// left out: default_tag(). To rank::null nothing is sent. With send_type(l) v holds items of that layout,
  /// of which send_count, then to be given, are sent; those with gaps are packed first, a copy more.
  ///
  /// Throws usage_error, and sends nothing, where there is no such rank, no such tag on this engine, or the
  /// count is beyond v; peer_error, deadlock_error.
  ///
  /// ```cpp
  /// int next = (world.rank() + 1) % world.size();
  /// world.bsend(send_buf({1, 2}), destination(next));
  /// std::vector<int> got = world.recv<int>();
  /// assert(got[1] == 2);
  /// ```
  template <class... Args>
  auto send(Args&&... args) const {
    return detail::post<form<which::send>, void>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto ssend(Args&&... args) const {
    return detail::post<form<which::ssend>, void>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto bsend(Args&&... args) const {
    return detail::post<form<which::bsend>, void>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto rsend(Args&&... args) const {
    return detail::post<form<which::rsend>, void>(self(), detail::named(static_cast<Args&&>(args))...);
  }

  /// The same, begun and not waited for: a request whose wait() returns nothing (but send_count_out()). v
  /// must stay and not be changed until then; `send_buf(std::move(v))` is kept. With `request(r)` the call
  /// returns void.
  template <class... Args>
  auto isend(Args&&... args) const {
    return detail::post<form<which::send, nonblocking>, void>(self(),
                                                              detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto issend(Args&&... args) const {
    return detail::post<form<which::ssend, nonblocking>, void>(self(),
                                                               detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto ibsend(Args&&... args) const {
    return detail::post<form<which::bsend, nonblocking>, void>(self(),
                                                               detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto irsend(Args&&... args) const {
    return detail::post<form<which::rsend, nonblocking>, void>(self(),
                                                               detail::named(static_cast<Args&&>(args))...);
  }

  /// The same, prepared: a plan whose every start() sends what v holds then.
  template <class... Args>
  auto send_init(Args&&... args) const {
    return detail::post<form<which::send, persistent>, void>(self(),
                                                             detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto ssend_init(Args&&... args) const {
    return detail::post<form<which::ssend, persistent>, void>(self(),
                                                              detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto bsend_init(Args&&... args) const {
    return detail::post<form<which::bsend, persistent>, void>(self(),
                                                              detail::named(static_cast<Args&&>(args))...);
  }
  template <class... Args>
  auto rsend_init(Args&&... args) const {
    return detail::post<form<which::rsend, persistent>, void>(self(),
                                                              detail::named(static_cast<Args&&>(args))...);
  }

  /// Receives a message.
  ///
  /// `recv<T>([source], [tag], [recv_buf], [recv_count(_out)], [recv_type(_out)], [status(_out)])`
  ///
  /// From any source and of any tag, unless they are given. T may be left out where recv_buf has a type. The
  /// message is as long as it is, and recv_buf is resized as its policy says; one that is longer than the
  /// message is written at its beginning, and recv_count_out() or the status tell how far. recv_count(n)
  /// says how much may come at most, and lets the message go straight to its place. recv_single is one
  /// element, and returns a T. From rank::null comes an empty message. With recv_type(l) a recv_buf that is
  /// not resized is given, recv_count(_out) counts items of that layout, and what lies between their pieces
  /// is not touched.
  ///
  /// Throws usage_error where there is no such rank or tag, or recv_buf is too small (then the message
  /// stays, and can be received again); truncation_error where it is longer than recv_count (it is used up,
  /// nothing is written); mismatch_error where it is not a whole number of elements, or items (it stays);
  /// peer_error, deadlock_error.
  ///
  /// ```cpp
  /// world.bsend(send_buf({0.5, 1.5}), destination(world.rank()), tag(1));
  /// auto [v, from] = world.recv<double>(tag(1), status_out());
  /// assert(v.size() == 2 && from.source() == world.rank());
  ///
  /// world.bsend(send_buf(3), destination(world.rank()));
  /// int x = world.recv_single<int>(source(world.rank()));
  /// assert(x == 3);
  /// ```
  template <class T = void, class... Args>
  auto recv(Args&&... args) const {
    return detail::post<form<which::recv>, T>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto recv(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::recv>, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto recv_single(Args&&... args) const {
    return detail::post<form<which::recv, detail::mode::blocking, true>, T>(
        self(), detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto recv_single(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::recv, detail::mode::blocking, true>, T>(self(), at);
  }

  /// The same, begun and not waited for: a request whose wait() returns what recv() would. It never waits for
  /// a length: recv_buf is resized when the message comes, in some other call of this rank. An lvalue
  /// recv_buf must stay until then.
  ///
  /// ```cpp
  /// auto coming = world.irecv<int>(source(world.rank()));
  /// world.send(send_buf({4, 5, 6}), destination(world.rank()));
  /// assert(coming.wait().size() == 3);
  /// ```
  template <class T = void, class... Args>
  auto irecv(Args&&... args) const {
    return detail::post<form<which::recv, nonblocking>, T>(self(),
                                                           detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto irecv(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::recv, nonblocking>, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto irecv_single(Args&&... args) const {
    return detail::post<form<which::recv, nonblocking, true>, T>(self(),
                                                                 detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto irecv_single(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::recv, nonblocking, true>, T>(self(), at);
  }

  /// The same, prepared. With recv_count(n) the container keeps n elements, however long the message is.
  template <class T = void, class... Args>
  auto recv_init(Args&&... args) const {
    return detail::post<form<which::recv, persistent>, T>(self(),
                                                          detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto recv_init(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::recv, persistent>, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto recv_single_init(Args&&... args) const {
    return detail::post<form<which::recv, persistent, true>, T>(self(),
                                                                detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto recv_single_init(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::recv, persistent, true>, T>(self(), at);
  }

  /// recv() of a message that is there already: an optional of what that returns, or a bool where that is
  /// void. Does not wait.
  ///
  /// ```cpp
  /// world.bsend(send_buf(7), destination(world.rank()), tag(2));
  /// std::optional<std::vector<int>> got;
  /// while (!(got = world.try_recv<int>(tag(2)))) {
  ///   // other work
  /// }
  /// assert((*got)[0] == 7);
  /// ```
  template <class T = void, class... Args>
  auto try_recv(Args&&... args) const {
    return detail::post<form<which::try_recv>, T>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto try_recv(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::try_recv>, T>(self(), at);
  }

  /// Waits until there is a message that recv() of this source and tag would take, and leaves it.
  ///
  /// `probe([source], [tag], [status(_out)])`
  ///
  /// iprobe does not wait: a bool, with status_out() an optional of the result.
  ///
  /// ```cpp
  /// world.bsend(send_buf({1, 2, 3}), destination(world.rank()));
  /// status s;
  /// world.probe(status(s));
  /// std::vector<int> v(s.count<int>());
  /// world.recv(recv_buf(v), source(s.source()), tag(s.tag()));
  /// assert(v[2] == 3 && !world.iprobe(source(world.rank())));
  /// ```
  template <class... Args>
  auto probe(Args&&... args) const {
    return detail::post<form<which::probe>, void>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  auto probe(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::probe>, void>(self(), at);
  }
  template <class... Args>
  auto iprobe(Args&&... args) const {
    return detail::post<form<which::probe, nonblocking>, void>(self(),
                                                               detail::named(static_cast<Args&&>(args))...);
  }
  auto iprobe(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::probe, nonblocking>, void>(self(), at);
  }

  /// The same, and the message that is found is out of the reach of other receives: a message (message.hpp),
  /// which receives it. improbe returns an optional of one.
  ///
  /// `mprobe([source], [tag])`
  ///
  /// ```cpp
  /// world.bsend(send_buf(2.5), destination(world.rank()));
  /// auto m = world.improbe();  // an optional
  /// assert(m && m->recv_single<double>() == 2.5);
  /// ```
  template <class... Args>
  auto mprobe(Args&&... args) const {
    return detail::post<form<which::mprobe>, void>(self(), detail::named(static_cast<Args&&>(args))...);
  }
  auto mprobe(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::mprobe>, void>(self(), at);
  }
  template <class... Args>
  auto improbe(Args&&... args) const {
    return detail::post<form<which::mprobe, nonblocking>, void>(self(),
                                                                detail::named(static_cast<Args&&>(args))...);
  }
  auto improbe(std::source_location at = std::source_location::current()) const {
    return detail::post_alone<form<which::mprobe, nonblocking>, void>(self(), at);
  }

  /// Sends one message and receives another, whichever way the peers do it.
  ///
  /// `sendrecv([T], send_buf(v), destination, [source], [tag or send_tag, recv_tag], [recv_buf],
  /// [send_count(_out)], [recv_count(_out)], [send_type(_out)], [recv_type(_out)], [status(_out)])`, in place
  /// `send_recv_buf(v), [send_recv_type(_out)]`
  ///
  /// What is received is of the type of recv_buf, or T, or else of what is sent. Left out, source is any and
  /// recv_tag is any, send_tag default_tag(); tag(t) is both. In place v is sent, and then is what was
  /// received, resized as its policy says; the library copies what is sent.
  ///
  /// Errors as of send() and recv(): of the latter the message has been sent.
  ///
  /// ```cpp
  /// int p = world.size(), right = (world.rank() + 1) % p, left = (world.rank() + p - 1) % p;
  /// auto got = world.sendrecv(send_buf(world.rank()), destination(right), source(left));
  /// assert(got[0] == left);
  ///
  /// int token = world.rank();
  /// world.sendrecv(send_recv_buf(token), destination(right), source(left));
  /// assert(token == left);
  /// ```
  template <class T = void, class... Args>
  auto sendrecv(Args&&... args) const {
    return detail::post<form<which::sendrecv>, T>(self(), detail::named(static_cast<Args&&>(args))...);
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti
