// SPDX-License-Identifier: Apache-2.0
//
// Objects in messages, in the formats of cereal (https://uscilab.github.io/cereal). It is for
// programs whose types are written for cereal, or that need cereal's archives. It offers
// as_serialized<Archive>(x), as_deserializable<T, Archive>() and as_deserializable<Archive>(x).
// Archive is an input or output archive that is constructed from a stream alone and whose
// counterpart cereal knows. Examples are BinaryOutputArchive, PortableBinaryOutputArchive,
// JSONOutputArchive and XMLOutputArchive. The program needs cereal's headers, including those of
// the archives and types that it uses. tutti.hpp does not include this header.
//
// serialization.hpp describes the calls. The differences are:
// - The compiler rejects types for which cereal has no function. The headers cereal/types/...
//   supply those of the standard types.
// - cereal writes into a message that grows, so parts of it may be copied again, and it allocates.
// - An exception that cereal throws while it reads a message becomes a mismatch_error. cereal
//   checks lengths less strictly than the default format, and a damaged message can make it
//   allocate much memory.
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

#include "tutti/detail/export.hpp"
#include "tutti/serialization.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// A stream buffer that appends to a message.
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

/// A stream buffer that reads from a message.
class bytes_source : public std::streambuf {
 public:
  bytes_source(const std::byte* from, std::size_t n) {
    char* begin = const_cast<char*>(reinterpret_cast<const char*>(from));  // read only
    setg(begin, begin, begin + n);
  }
  std::size_t left() const noexcept { return static_cast<std::size_t>(egptr() - gptr()); }
};

/// Emits one error for a type that cereal cannot serialize; the line before names T.
template <class T>
struct needs_cereal {
  static_assert(
      !std::is_same_v<T, T>,
      "as_serialized: cereal has no serialize() for this type: include <cereal/types/...>, or write one");
};

template <class Out, class In>
struct cereal_format {
  template <class X>
  using cannot_be_sent =
      std::conditional_t<cereal::traits::is_output_serializable<X, Out>::value, void, needs_cereal<X>>;
  template <class X>
  using cannot_be_received = std::conditional_t<cereal::traits::is_input_serializable<X, In>::value &&
                                                    std::is_default_constructible_v<X>,
                                                void, needs_cereal<X>>;

  template <class X, class Iterator>
  static void pack(object_bytes& to, Iterator first, std::size_t n, std::size_t* lengths, object_site) {
    for (std::size_t i = 0; i < n; ++i, ++first) {
      const std::size_t before = to.size();
      bytes_sink sink(to);
      std::ostream stream(&sink);
      {
        Out archive(stream);
        archive(static_cast<const X&>(*first));
      }  // some archives write their end in the destructor
      if (to.size() == before) to.append("", 1);
      lengths[i] = to.size() - before;
    }
  }

  template <class X>
  static void unpack(const std::byte* from, std::size_t n, X& object, object_site at) {
    bytes_source source(from, n);
    std::istream stream(&source);
    try {
      In archive(stream);
      archive(object);
    } catch (const cereal::Exception& e) {
      reject(at, e);
    } catch (const std::length_error& e) {
      reject(at, e);
    } catch (const std::bad_alloc& e) {
      reject(at, e);
    }
    // An object of no bytes still takes one; text archives may leave trailing blanks.
    const std::size_t left = source.left();
    if (left != 0 && left != (n == 1 ? 1u : 0u) && !cereal::traits::is_text_archive<In>::value)
      reject_long(at, at.name, left);
  }

 private:
  [[noreturn]] static void reject(object_site at, const std::exception& e) {
    reject_message(at, at.name, std::string("cereal reports: ") + e.what());
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
TUTTI_API_END
