// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages, as member functions of communicator with named parameters.
//
// The comment at communicator on parameters, results and errors also holds here. A receive takes
// matching messages of one sender in the order in which they were sent. Receives that match the
// same message get it in the order in which they were begun. Messages never match collectives or
// messages of other communicators.
//
// Costs: a send and a receive of n elements copy them once or twice. Up to 4 KiB go through the
// library. Larger messages go from buffer to buffer on engines in one process. A repeated blocking
// call allocates only a container that it makes. i... and ..._init forms reuse the memory of
// earlier ones.
#pragma once

#include <source_location>

#include "tutti/detail/diagnostic.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/forms.hpp"
#include "tutti/message.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// The base of communicator that has the point-to-point calls. No other class derives from it.
template <class Self>
class messages {
  static constexpr auto nonblocking = detail::mode::nonblocking;
  static constexpr auto persistent = detail::mode::persistent;

 public:
  /// Sends elements to one rank.
  ///
  /// `send(send_buf(v), destination(r), [send_count(_out)], [send_type(_out)], [tag], [send_mode])`
  ///
  /// Sends all of v, or the first send_count. The program may change v when the call returns. A
  /// standard send of more than a few KiB may wait for the receive. ssend always waits for it.
  /// bsend never does: the library keeps a copy. rsend requires that the receive was begun. They
  /// are the same as send_mode(send_modes::synchronous), buffered and ready. The default of tag is
  /// default_tag(). A send to rank::null sends nothing. With send_type(l) v holds items of that
  /// layout, and send_count must be given and counts them. Items with gaps are packed first, which
  /// costs one more copy.
  ///
  /// Throws usage_error, and sends nothing, if the rank or the tag does not exist, or if the count
  /// exceeds v. Also throws peer_error and deadlock_error.
  ///
  /// ```cpp
  /// int next = (world.rank() + 1) % world.size();
  /// world.bsend(send_buf({1, 2}), destination(next));
  /// std::vector<int> got = world.recv<int>();
  /// assert(got[1] == 2);
  /// ```
  TUTTI_MESSAGE(send, send)
  TUTTI_MESSAGE(ssend, ssend)
  TUTTI_MESSAGE(bsend, bsend)
  TUTTI_MESSAGE(rsend, rsend)

  /// Begins the same send without waiting. Returns a request whose wait() returns nothing (except
  /// send_count_out()). v must live and stay unchanged until then; the request keeps
  /// `send_buf(std::move(v))`. With `request(r)` the call returns void.
  TUTTI_MESSAGE(isend, send, .how = nonblocking)
  TUTTI_MESSAGE(issend, ssend, .how = nonblocking)
  TUTTI_MESSAGE(ibsend, bsend, .how = nonblocking)
  TUTTI_MESSAGE(irsend, rsend, .how = nonblocking)

  /// Prepares the same send. Returns a plan; every start() sends the current contents of v.
  TUTTI_MESSAGE(send_init, send, .how = persistent)
  TUTTI_MESSAGE(ssend_init, ssend, .how = persistent)
  TUTTI_MESSAGE(bsend_init, bsend, .how = persistent)
  TUTTI_MESSAGE(rsend_init, rsend, .how = persistent)

  /// Receives a message.
  ///
  /// `recv<T>([source], [tag], [recv_buf], [recv_count(_out)], [recv_type(_out)], [status(_out)])`
  ///
  /// Matches any source and any tag unless they are given. T is optional if recv_buf has a type.
  /// The message determines the length, and the policy of recv_buf determines how it is resized. A
  /// recv_buf that is longer than the message is written at its beginning; recv_count_out() or the
  /// status report the length. recv_count(n) states the maximal length, and lets the message go
  /// directly to its buffer. recv_single receives one element, and returns a T. A receive from
  /// rank::null gets an empty message. With recv_type(l) the caller passes a recv_buf that is not
  /// resized, recv_count(_out) counts items of that layout, and the call does not touch the gaps.
  ///
  /// Throws usage_error if the rank or the tag does not exist, or if recv_buf is too small. In the
  /// latter case the message stays and can be received again. Throws truncation_error if the
  /// message is longer than recv_count; the message is consumed and nothing is written. Throws
  /// mismatch_error if the message is not a whole number of elements or items; it stays. Throws
  /// what recv_buf throws when it is resized (std::bad_alloc); the message is consumed. Also throws
  /// peer_error and deadlock_error.
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
  TUTTI_MESSAGE_OF_TYPE(recv, recv)
  TUTTI_MESSAGE_OF_TYPE(recv_single, recv, .single = true)

  /// Begins the same receive without waiting. Returns a request whose wait() returns what recv()
  /// would. It never waits for a length: recv_buf is resized when the message arrives, in some
  /// other call of this rank. An lvalue recv_buf must live until then.
  ///
  /// ```cpp
  /// auto coming = world.irecv<int>(source(world.rank()));
  /// world.send(send_buf({4, 5, 6}), destination(world.rank()));
  /// assert(coming.wait().size() == 3);
  /// ```
  TUTTI_MESSAGE_OF_TYPE(irecv, recv, .how = nonblocking)
  TUTTI_MESSAGE_OF_TYPE(irecv_single, recv, .how = nonblocking, .single = true)

  /// Prepares the same receive. With recv_count(n) the container keeps n elements, whatever the
  /// length of the message.
  TUTTI_MESSAGE_OF_TYPE(recv_init, recv, .how = persistent)
  TUTTI_MESSAGE_OF_TYPE(recv_single_init, recv, .how = persistent, .single = true)

  /// Receives a message only if it has already arrived; does not wait. Returns an optional of the
  /// result of recv(), or a bool if that is void.
  ///
  /// ```cpp
  /// world.bsend(send_buf(7), destination(world.rank()), tag(2));
  /// std::optional<std::vector<int>> got;
  /// while (!(got = world.try_recv<int>(tag(2)))) {
  ///   // other work
  /// }
  /// assert((*got)[0] == 7);
  /// ```
  TUTTI_MESSAGE_OF_TYPE(try_recv, try_recv)

  /// Waits until there is a message that recv() of this source and tag would take, and leaves it in
  /// the queue.
  ///
  /// `probe([source], [tag], [status(_out)])`
  ///
  /// iprobe does not wait: it returns a bool, or with status_out() an optional of the result.
  ///
  /// ```cpp
  /// world.bsend(send_buf({1, 2, 3}), destination(world.rank()));
  /// status s;
  /// world.probe(status(s));
  /// std::vector<int> v(s.count<int>());
  /// world.recv(recv_buf(v), source(s.source()), tag(s.tag()));
  /// assert(v[2] == 3 && !world.iprobe(source(world.rank())));
  /// ```
  TUTTI_MESSAGE_ALSO_ALONE(probe, probe)
  TUTTI_MESSAGE_ALSO_ALONE(iprobe, probe, .how = nonblocking)

  /// Matches a message in the same way, and removes it from the reach of other receives. Returns a
  /// message (message.hpp), which receives it. improbe does not wait, and returns an optional of
  /// one.
  ///
  /// `mprobe([source], [tag])`
  ///
  /// ```cpp
  /// world.bsend(send_buf(2.5), destination(world.rank()));
  /// auto m = world.improbe();  // an optional
  /// assert(m && m->recv_single<double>() == 2.5);
  /// ```
  TUTTI_MESSAGE_ALSO_ALONE(mprobe, mprobe)
  TUTTI_MESSAGE_ALSO_ALONE(improbe, mprobe, .how = nonblocking)

  /// Sends one message and receives another; the peers may use any send and receive.
  ///
  /// `sendrecv([T], send_buf(v), destination, [source], [tag or send_tag, recv_tag], [recv_buf],
  /// [send_count(_out)], [recv_count(_out)], [send_type(_out)], [recv_type(_out)],
  /// [status(_out)])`, in place `send_recv_buf(v), [send_recv_type(_out)]`
  ///
  /// The received type is that of recv_buf, else T, else that of the sent elements. By default
  /// source and recv_tag match any, and send_tag is default_tag(); tag(t) sets both tags. In place,
  /// the call sends v, and then v holds what was received, resized as its policy requires. The
  /// library copies what is sent.
  ///
  /// The errors are those of send() and recv(). If the receive throws, the message has been sent.
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
  TUTTI_MESSAGE_OF_TYPE_WITH_ARGUMENTS(sendrecv, sendrecv)

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti
TUTTI_API_END
