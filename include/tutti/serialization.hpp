// SPDX-License-Identifier: Apache-2.0
//
// Objects of any type in messages and collectives: strings, maps, nested containers, and types of
// the program. tutti.hpp does not include this header.
//
//     written as                                      the call ...
//     send_buf(as_serialized(x))                      sends x
//     recv_buf(as_deserializable<T>())                makes a T and returns it
//     recv_buf(as_deserializable(x))                  reads into x, which is not part of the result
//     recv_buf(as_deserializable(std::move(x)))       reads into x, and returns it
//     send_recv_buf(as_serialized(x))                 both; a moved x is returned
//
// An object is copied once into the message, and once out of it. The library never serializes
// implicitly: a std::vector<std::string> without these functions does not compile.
//
// **Calls.** send, ssend, bsend, rsend, recv, try_recv, sendrecv; bcast, gather, allgather,
// scatter, alltoall; and the i... forms of all of them. Other calls reject objects at compile time.
// So do these calls if counts are given, or if one buffer is serialized and another is not (except
// in sendrecv).
//
//     call                        takes                              returns
//     bcast(send_recv_buf)        an object at the root              the same on all ranks
//     gather(send_buf)            an object of each rank             a container of p at the root
//     allgather(send_buf)         an object of each rank             a container of p
//     scatter(send_buf)           a range of p objects at the root   an object on each rank
//     alltoall(send_buf)          a range of p objects               a container of p
//
// Containers are std::vectors unless recv_buf(as_deserializable(...)) has another that can be
// resized. After an alltoall, object i comes from rank i. In a scatter the other ranks may pass any
// send_buf, or only `scatter(recv_buf(as_deserializable<T>()))`.
//
// **Types.** The default format supports bool and all trivially copyable types except pointers. It
// supports std::string, vector, deque, list, array, set, map, and their multi and unordered kinds.
// It also supports pair, tuple, optional, variant, and unique_ptr to one object. Their elements are
// of supported types. Sends also support span and string_view. Any other type has a function in its
// namespace, or a member `serialize(Archive& a)`, that names its parts, as for cereal:
//
//     template <class Archive>
//     void serialize(Archive& a, city& c) { a(c.name, c.latitude); }
//
// The function writes and reads (`Archive::is_loading::value` distinguishes them). It takes
// precedence, even for trivially copyable types. Elements of received containers have a default
// constructor. Objects with a serialize() can nest up to 128 levels; the call throws usage_error
// for more. Numbers travel in their memory representation, so all ranks must run on machines of one
// kind.
//
// **Costs.** Writing traverses the object twice, to measure and to write, and allocates the message
// once. Reading allocates the message and what the object needs; it reuses the memory of an lvalue
// or a moved object. A message is sent as one message of its bytes. bcast also costs an exchange of
// its length. The other collectives are gatherv, scatterv, allgatherv and alltoallv of bytes with
// one exchange of lengths. algorithm() selects among the algorithms of these.
//
// **Errors.** A message that is truncated, too long, or otherwise not of this type throws
// mismatch_error on the rank that reads it. The error names recv_buf (or send_recv_buf). The reader
// never reads outside of the message. The message is consumed, and an object of the caller holds a
// part of it. scatter and alltoall throw usage_error if the range does not have p objects; the
// other ranks learn of it.
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

#include "tutti/detail/archive_kinds.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/objects.hpp"

TUTTI_API_BEGIN
namespace tutti {
/// The namespace of as_serialized() and as_deserializable(), so that kamping.hpp can use these
/// names without this header.
inline namespace objects {

/// Marks x to be written in Format where it is sent. An lvalue is referred to. The call reads it
/// before it returns, also in an i... form, and the program may change it afterwards. The result
/// can be kept and sent several times.
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

/// A new T for what is received, or x, whose contents are overwritten. In gather, allgather and
/// alltoall it is the container of the objects of all ranks.
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
TUTTI_API_END
