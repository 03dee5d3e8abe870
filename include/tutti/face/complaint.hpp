// SPDX-License-Identifier: Apache-2.0
//
// The one sentence that the compiler says where a call is written wrongly.
#pragma once
#if defined(__GNUC__)
#pragma GCC system_header  // keeps the trace of the macros below out of the message
#endif

#include "tutti/face/table.hpp"

namespace tutti::detail {

/// What is wrong with a call.
enum class problem : std::uint8_t {
  none,
  unnamed,
  missing,
  unexpected,
  not_out,
  twice,
  in_place,
  constant,
  packed_bool,
  scattered,
  not_bytes,
  no_resize,
  other_type,
  not_counts,
  not_callable,
  no_type,
  both_tags,
  keeps_none,
  no_length,
  items_resized,
  not_asked,
  no_objects,
  not_serialized,
  no_range
};

/// The sentence, generated for every parameter, as a static_assert takes a literal only.
template <problem P, problem Q>
inline constexpr bool not_a = true;
template <problem P>
inline constexpr bool not_a<P, P> = false;
template <problem P, parameter N>
struct complaint {
  static_assert(not_a<P, problem::unnamed>, "unnamed argument, not a parameter: did you mean send_buf(x)?");
};
// clang-format off
#define TUTTI_ROW(NAME, KIND, TEXT)                                                                                                             \
  template <problem P> struct complaint<P, parameter::NAME> {                                                                                   \
    static_assert(not_a<P, problem::missing>, #NAME ": missing, this call needs it");                                                           \
    static_assert(not_a<P, problem::unexpected>, #NAME ": this call does not take it");                                                         \
    static_assert(not_a<P, problem::not_out>, #NAME ": this call takes it in only, not " #NAME "_out");                                         \
    static_assert(not_a<P, problem::twice>, #NAME ": given twice, or both in and out");                                                         \
    static_assert(not_a<P, problem::in_place>, #NAME ": send_recv_buf stands for send_buf and recv_buf");                                       \
    static_assert(not_a<P, problem::constant>, #NAME ": const, but the call writes to it");                                                     \
    static_assert(not_a<P, problem::packed_bool>, #NAME ": std::vector<bool> packs bits, it has no bools");                                     \
    static_assert(not_a<P, problem::scattered>, #NAME ": not a contiguous container (data() and size()), as_serialized(x) sends it");           \
    static_assert(not_a<P, problem::not_bytes>, #NAME ": elements are not trivially copyable, as_serialized(x) sends them");                    \
    static_assert(not_a<P, problem::no_resize>, #NAME ": this container cannot be resized, use no_resize");                                     \
    static_assert(not_a<P, problem::other_type>, #NAME ": its elements are not of the type that is sent");                                      \
    static_assert(not_a<P, problem::not_counts>, #NAME ": takes a container of int or of std::size_t");                                         \
    static_assert(not_a<P, problem::not_callable>, #NAME ": cannot be called with two elements to give one");                                   \
    static_assert(not_a<P, problem::no_type>, #NAME ": pass one, or name the element type: call<T>(...)");                                      \
    static_assert(not_a<P, problem::both_tags>, #NAME ": tag stands for send_tag and recv_tag");                                                \
    static_assert(not_a<P, problem::keeps_none>, #NAME ": keeps no buffers, pass each as an lvalue");                                           \
    static_assert(not_a<P, problem::no_length>, #NAME ": missing: a layout is given without its count");                                        \
    static_assert(not_a<P, problem::items_resized>, #NAME ": with a layout it must be a no_resize container");                                  \
    static_assert(not_a<P, problem::not_asked>, #NAME ": was not asked for, so it cannot be extracted");                                        \
    static_assert(not_a<P, problem::no_objects>, #NAME ": this call takes no serialized objects");                                              \
    static_assert(not_a<P, problem::not_serialized>, #NAME ": all buffers or none: as_serialized(x) is sent, as_deserializable<T>() received"); \
    static_assert(not_a<P, problem::no_range>, #NAME ": takes a range of objects, one for each rank");                                          \
  };
TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
// clang-format on

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::initializer_list<T>> = true;

/// What a call that was refused returns: it stands for anything, so that the one message stays alone. Not for
/// a list: a vector that is assigned to could take that, or a vector.
struct mistaken {
  template <class T>
  requires(!is_list<T>) operator T() const;
  mistaken wait() const;
  mistaken test() const;
};

}  // namespace tutti::detail
