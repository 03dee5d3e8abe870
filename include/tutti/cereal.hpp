// SPDX-License-Identifier: Apache-2.0
//
// Objects in messages in the formats of cereal (https://uscilab.github.io/cereal), for programs that have
// types written for it, or want its archives: as_serialized<Archive>(x), as_deserializable<T, Archive>(),
// as_deserializable<Archive>(x). Archive is any that cereal knows the counterpart of, either of the two, made
// of a stream alone: BinaryOutputArchive, PortableBinaryOutputArchive, JSONOutputArchive, XMLOutputArchive.
// Needs cereal's headers, and those of its archives and types that the program uses; tutti.hpp does not
// include this.
//
// All else is as said in serialization.hpp, but:
// - what cereal has no function for is refused by the compiler: its headers cereal/types/... bring those of
//   the standard types;
// - cereal writes into a message that grows, so that a part of it may be copied again, and allocates;
// - what cereal throws of a message is a mismatch_error; it looks less closely at lengths than the default
//   format, and one that is damaged can make it allocate much.
//
// ```cpp
// #include <cereal/archives/json.hpp>
// #include <cereal/archives/portable_binary.hpp>
// #include <cereal/types/map.hpp>
// #include <cereal/types/string.hpp>
// #include <map>
// #include <tutti/cereal.hpp>
// std::map<std::string, int> ages = {{"rank", world.rank()}};
// world.bcast(send_recv_buf(as_serialized<cereal::PortableBinaryOutputArchive>(ages)));
// assert(ages.at("rank") == 0);
//
// auto sent = world.isend(send_buf(as_serialized<cereal::JSONOutputArchive>(ages)),
// destination(world.rank())); auto text = world.recv<char>();  // readable by others
// assert(std::string(text.begin(), text.end()).find("rank") != std::string::npos);
// sent.wait();
// ```
#pragma once

#include <istream>
#include <new>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>

#include <cereal/cereal.hpp>

#include "tutti/serialization.hpp"

namespace tutti {
namespace detail {

/// What a stream writes to the end of a message.
class bytes_sink : public std::streambuf {
 public:
  explicit bytes_sink(object_bytes& to) : to_(to) {}

 private:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    to_.append(&one, 1);
    return c;
  }
  std::streamsize xsputn(const char* from, std::streamsize n) override {
    to_.append(from, static_cast<std::size_t>(n));
    return n;
  }

  object_bytes& to_;
};

/// A message, as what a stream reads.
class bytes_source : public std::streambuf {
 public:
  bytes_source(const std::byte* from, std::size_t n) {
    char* begin = const_cast<char*>(reinterpret_cast<const char*>(from));  // read only
    setg(begin, begin, begin + n);
  }
  std::size_t left() const noexcept { return static_cast<std::size_t>(egptr() - gptr()); }
};

/// The one sentence about a type that cereal cannot have; T is named by the line before.
template <class T>
struct needs_cereal {
  static_assert(
      !std::is_same_v<T, T>,
      "as_serialized: cereal has no serialize() for this type: include <cereal/types/...>, or write one");
};

template <class Out, class In>
struct cereal_format {
  template <class X>
  using obstacle_to_send =
      std::conditional_t<cereal::traits::is_output_serializable<X, Out>::value, void, needs_cereal<X>>;
  template <class X>
  using obstacle_to_receive = std::conditional_t<cereal::traits::is_input_serializable<X, In>::value &&
                                                     std::is_default_constructible_v<X>,
                                                 void, needs_cereal<X>>;

  template <class X, class Iterator>
  static void pack(object_bytes& to, Iterator first, std::size_t n, std::size_t* lengths, object_place) {
    for (std::size_t i = 0; i < n; ++i, ++first) {
      const std::size_t before = to.size();
      bytes_sink sink(to);
      std::ostream stream(&sink);
      {
        Out archive(stream);
        archive(static_cast<const X&>(*first));
      }  // some write their end now
      if (to.size() == before) to.append("", 1);
      lengths[i] = to.size() - before;
    }
  }

  template <class X>
  static void unpack(const std::byte* from, std::size_t n, X& object, object_place at) {
    bytes_source source(from, n);
    std::istream stream(&source);
    try {
      In archive(stream);
      archive(object);
    } catch (const cereal::Exception& e) {
      refuse(at, e);
    } catch (const std::length_error& e) {
      refuse(at, e);
    } catch (const std::bad_alloc& e) {
      refuse(at, e);
    }
    // What takes no bytes has one all the same; texts may end with blanks.
    const std::size_t left = source.left();
    if (left != 0 && left != (n == 1 ? 1u : 0u) && !cereal::traits::is_text_archive<In>::value)
      refuse_long(at, at.name, left);
  }

 private:
  [[noreturn]] static void refuse(object_place at, const std::exception& e) {
    refuse_message(at, at.name, std::string("cereal says: ") + e.what());
  }
};

template <class Archive>
requires std::is_base_of_v<cereal::detail::OutputArchiveBase, Archive>
struct format_named<Archive> {
  using type = cereal_format<Archive, typename cereal::traits::detail::get_input_from_output<Archive>::type>;
};
template <class Archive>
requires std::is_base_of_v<cereal::detail::InputArchiveBase, Archive>
struct format_named<Archive> {
  using type = cereal_format<typename cereal::traits::detail::get_output_from_input<Archive>::type, Archive>;
};

}  // namespace detail
}  // namespace tutti
