// SPDX-License-Identifier: Apache-2.0
//
// Objects of any type in messages and collectives: strings, maps, containers in containers, types of the
// program's own. Not included by tutti.hpp.
//
//     written as                                        the call ...
//     send_buf(as_serialized(x))                        sends x
//     recv_buf(as_deserializable<T>())                  makes a T and returns it
//     recv_buf(as_deserializable(x))                    reads into x, which is not part of the result
//     recv_buf(as_deserializable(std::move(x)))         reads into x, and returns it
//     send_recv_buf(as_serialized(x))                   both; a moved x is returned
//
// An object is copied once, into the message, and once out of it. Nothing is serialized unasked: a
// std::vector<std::string> without these is refused by the compiler.
//
// **Calls.** send, ssend, bsend, rsend, recv, try_recv, sendrecv and their i... forms; bcast, gather,
// allgather, scatter, alltoall and theirs. Others refuse objects, and say so when they are compiled, as they
// do of counts, and of buffers of which one is serialized and another is not (but in sendrecv).
//
//     call                        takes                              gives
//     bcast(send_recv_buf)        an object at the root              the same on all ranks
//     gather(send_buf)            an object of each rank             a container of p at the root
//     allgather(send_buf)         an object of each rank             a container of p
//     scatter(send_buf)           a range of p objects at the root   an object on each rank
//     alltoall(send_buf)          a range of p objects               a container of p: object i from rank i
//
// Containers are std::vectors unless recv_buf(as_deserializable(...)) has another that can be resized. In a
// scatter the others pass what they like as send_buf, or `scatter(recv_buf(as_deserializable<T>()))`.
//
// **Types.** bool, all that is trivially copyable but pointers; std::string, vector, deque, list, array, set,
// map, their multi and unordered kinds, pair, tuple, optional, variant, unique_ptr to one object, of such; to
// send also span and string_view. Any other type has a function in its namespace, or a member
// `serialize(Archive& a)`, that names its parts, as for cereal:
//
//     template <class Archive>
//     void serialize(Archive& a, city& c) { a(c.name, c.latitude); }
//
// It is called to write and to read (`Archive::is_loading::value` tells them apart), and comes before all
// else, also for types that are trivially copyable. What is received in containers has a default constructor.
// At most 128 objects with a serialize() stand within one another: a usage_error else. Numbers travel as they
// are in memory, so all ranks run on machines of one kind.
//
// **Costs.** Writing goes through the object twice, to measure and to write, and allocates the message once;
// reading allocates the message, and what the object needs: what an lvalue or a moved object has is used
// again. A message is sent as one of its bytes; bcast costs an exchange of its length besides, the other
// collectives are gatherv, scatterv, allgatherv and alltoallv of bytes with one exchange of lengths. Their
// algorithms are those that algorithm() names.
//
// **Errors.** A message that is cut short, too long, or not of this type otherwise is a mismatch_error that
// names recv_buf (or send_recv_buf) on the rank that reads it; nothing outside of the message is read. The
// message is used up, and an object of the caller's holds a part of it. scatter and alltoall throw
// usage_error where the range has not p objects; the other ranks are told.
//
// ```cpp
// #include <map>
// #include <tutti/serialization.hpp>
// int me = world.rank(), p = world.size();
// std::map<int, std::string> names = {{me, "rank " + std::to_string(me)}};
// world.bsend(send_buf(as_serialized(names)), destination((me + 1) % p));
// auto got = world.recv(recv_buf(as_deserializable<std::map<int, std::string>>()));
// assert(got.begin()->first == (me + p - 1) % p);
//
// std::vector<std::string> words = {"some", "words"};
// if (!world.is_root()) words.clear();
// world.bcast(send_recv_buf(as_serialized(words)));
// assert(words.back() == "words");
//
// auto all = world.allgather(send_buf(as_serialized(names)));  // a vector of p maps
// assert(all[p - 1].at(p - 1) == "rank " + std::to_string(p - 1));
// ```
#pragma once

#include "tutti/face/archive_kinds.hpp"  // first: the way to it is part of every error
#include "tutti/face/objects.hpp"

namespace tutti {
/// as_serialized() and as_deserializable(), so that kamping.hpp can have these names without this header.
inline namespace objects {

/// x, written in Format where it is sent. An lvalue is referred to: it is read when the call is made, and may
/// be changed when that returns, also of an i... form. What is returned can be kept and sent several times.
///
/// ```cpp
/// #include <tutti/serialization.hpp>
/// std::vector<std::string> lines(world.size(), "for " + std::to_string(world.rank()));
/// auto coming = world.ialltoall(send_buf(as_serialized(lines)));
/// lines.clear();
/// assert(coming.wait().back() == "for " + std::to_string(world.size() - 1));
/// ```
template <class Format = native_format, class X>
constexpr auto as_serialized(X&& x) {
  return detail::serialized<X, detail::format_of<Format>>{static_cast<X&&>(x)};
}

/// A new T for what is received, or x, in which what stands is written over. In gather, allgather and
/// alltoall it is the container of all ranks' objects.
///
/// ```cpp
/// #include <tutti/serialization.hpp>
/// std::vector<std::string> all;
/// world.allgather(send_buf(as_serialized(std::string(world.rank(), 'x'))),
/// recv_buf(as_deserializable(all))); assert(int(all.back().size()) == world.size() - 1);
/// ```
template <class T, class Format = native_format>
constexpr auto as_deserializable() {
  return detail::deserializable<T, detail::format_of<Format>>{T()};
}
template <class Format = native_format, class X>
constexpr auto as_deserializable(X&& x) {
  return detail::deserializable<X, detail::format_of<Format>>{static_cast<X&&>(x)};
}

}  // namespace objects
}  // namespace tutti
