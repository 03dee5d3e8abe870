// SPDX-License-Identifier: Apache-2.0
//
// The compile error of a wrong call: one sentence.
#pragma once
#if defined(__GNUC__)
#pragma GCC system_header  // omits the expansion of the macros below from the message
#endif

#include "tutti/face/table.hpp"

namespace tutti::detail {

/// The errors of a call.
enum class problem : std::uint8_t {
  none,
  unnamed,
  // of any parameter
  misused,
  missing,
  unexpected,
  not_out,
  twice,
  in_place,
  constant,
  keeps_none,
  not_asked,
  // of one kind
  both_tags,
  not_callable,
  op_converts,
  op_narrows,
  no_length,
  // of containers
  pointer,
  packed_bool,
  scattered,
  not_bytes,
  address,
  no_resize,
  other_type,
  not_counts,
  no_objects,
  not_serialized,
  no_range,
  // of what is received into
  no_type,
  no_element,
  makes_none,
  items_resized
};

/// The error message, generated for every parameter, since a static_assert takes only a literal.
template <problem P, problem Q>
inline constexpr bool not_a = true;
template <problem P>
inline constexpr bool not_a<P, P> = false;
template <problem P, parameter N>
struct complaint {
  static_assert(not_a<P, problem::unnamed>, "unnamed argument, not a parameter: did you mean send_buf(x)?");
};
// clang-format off
#define TUTTI_SAY(NAME, PROBLEM, TEXT) static_assert(not_a<P, problem::PROBLEM>, #NAME ": " TEXT);
#define TUTTI_SAY_ANY(NAME)                                                                                   \
  TUTTI_SAY(NAME, missing, "missing, this call needs it")                                                     \
  TUTTI_SAY(NAME, unexpected, "this call does not take it")                                                   \
  TUTTI_SAY(NAME, not_out, "this call takes it in only, not " #NAME "_out")                                   \
  TUTTI_SAY(NAME, twice, "given twice, or both in and out")                                                   \
  TUTTI_SAY(NAME, in_place, "send_recv_buf stands for send_buf and recv_buf")                                 \
  TUTTI_SAY(NAME, constant, "const, but the call writes to it")                                               \
  TUTTI_SAY(NAME, keeps_none, "moved in or made by the call, but request(r) keeps nothing: pass a variable")  \
  TUTTI_SAY(NAME, not_asked, "was not asked for, so it cannot be extracted")
#define TUTTI_SAY_CONTAINER(NAME)                                                                             \
  TUTTI_SAY(NAME, pointer, "a pointer, not a buffer: pass std::span(p, n)")                                   \
  TUTTI_SAY(NAME, packed_bool, "std::vector<bool> packs bits, it has no bools")                               \
  TUTTI_SAY(NAME, scattered, "not a contiguous container (data() and size()), as_serialized(x) sends it")     \
  TUTTI_SAY(NAME, not_bytes, "elements are not trivially copyable, as_serialized(x) sends them")              \
  TUTTI_SAY(NAME, address, "elements hold addresses (pointers, views, iterators), which mean nothing on another rank") \
  TUTTI_SAY(NAME, no_resize, "this container cannot be resized, use no_resize")                               \
  TUTTI_SAY(NAME, other_type, "its elements are not of the type that is sent")                                \
  TUTTI_SAY(NAME, not_counts, "takes a container of int or of std::size_t")                                   \
  TUTTI_SAY(NAME, no_objects, "this call takes no serialized objects")                                        \
  TUTTI_SAY(NAME, not_serialized, "all buffers or none: as_serialized(x) is sent, as_deserializable<T>() received") \
  TUTTI_SAY(NAME, no_range, "takes a range of objects, one for each rank")
// Ensures that no problem lacks a message.
#define TUTTI_SAY_NO_MORE(NAME, LAST) static_assert(P <= problem::LAST, #NAME ": this call does not take it like this");

// Further messages for each kind in the table.
#define TUTTI_SAYS_in_buffer(NAME)                                                                            \
  TUTTI_SAY(NAME, misused, "takes one buffer: a container, a value or a list; of a pointer p std::span(p, n)") \
  TUTTI_SAY_CONTAINER(NAME)                                                                                   \
  TUTTI_SAY_NO_MORE(NAME, no_range)
#define TUTTI_SAYS_send_buffer(NAME)                                                                          \
  TUTTI_SAY(NAME, misused, "takes one buffer: a container, a value or a list; of a pointer p std::span(p, n); " \
            #NAME "_out a moved container")                                                                   \
  TUTTI_SAY_CONTAINER(NAME)                                                                                   \
  TUTTI_SAY_NO_MORE(NAME, no_range)
#define TUTTI_SAYS_out_buffer(NAME)                                                                           \
  TUTTI_SAY(NAME, misused, "takes one container, with a policy or without, or a type alone; of a pointer p std::span(p, n)") \
  TUTTI_SAY_CONTAINER(NAME)                                                                                   \
  TUTTI_SAY(NAME, no_type, "pass one, or name the element type: call<T>(...)")                                \
  TUTTI_SAY(NAME, no_element, "call<T>(...) of a T that is no element, as as_deserializable<T>() may receive")\
  TUTTI_SAY(NAME, makes_none, "missing: with request(r) the call makes and returns nothing, pass a variable") \
  TUTTI_SAY(NAME, items_resized, "with a layout it must be a no_resize container")
#define TUTTI_SAYS_in_out_buffer(NAME) TUTTI_SAYS_out_buffer(NAME)
#define TUTTI_SAYS_counts(NAME)                                                                               \
  TUTTI_SAY(NAME, misused, "takes one container of int or of std::size_t, or a list; " #NAME "_out a policy too, or a type alone") \
  TUTTI_SAY_CONTAINER(NAME)                                                                                   \
  TUTTI_SAY_NO_MORE(NAME, no_range)
#define TUTTI_SAYS_count(NAME)                                                                                \
  TUTTI_SAY(NAME, misused, "takes one integer; " #NAME "_out a variable, or nothing")                         \
  TUTTI_SAY(NAME, no_length, "missing: a layout is given without its count")                                  \
  TUTTI_SAY_NO_MORE(NAME, no_length)
#define TUTTI_SAYS_PLAIN(NAME, TEXT)                                                                          \
  TUTTI_SAY(NAME, misused, TEXT)                                                                              \
  TUTTI_SAY_NO_MORE(NAME, not_asked)
#define TUTTI_SAYS_type(NAME)                                                                                 \
  TUTTI_SAYS_PLAIN(NAME, "takes one tutti::layout, with tutti/mpi.hpp also an MPI_Datatype; " #NAME "_out a variable, or nothing")
#define TUTTI_SAYS_rank(NAME) TUTTI_SAYS_PLAIN(NAME, "takes one rank, an int")
#define TUTTI_SAYS_tag(NAME)                                                                                  \
  TUTTI_SAY(NAME, misused, "takes one tag, an int")                                                           \
  TUTTI_SAY(NAME, both_tags, "tag stands for send_tag and recv_tag")                                          \
  TUTTI_SAY_NO_MORE(NAME, both_tags)
#define TUTTI_SAYS_text(NAME) TUTTI_SAYS_PLAIN(NAME, "takes one name, a const char* or a std::string")
#define TUTTI_SAYS_layouts(NAME) TUTTI_SAYS_PLAIN(NAME, "takes one container of layouts, one for each block")
#define TUTTI_SAYS_mode(NAME) TUTTI_SAYS_PLAIN(NAME, "takes one of send_modes")
#define TUTTI_SAYS_function(NAME)                                                                             \
  TUTTI_SAY(NAME, misused, "takes one callable, and ops::commutative or ops::non_commutative")                \
  TUTTI_SAY(NAME, not_callable, "cannot be called with two elements to give one")                             \
  TUTTI_SAY(NAME, op_converts, "its parameters are not of the element type: elements would be converted")     \
  TUTTI_SAY(NAME, op_narrows, "its result does not fit into an element (double into int): return the element type") \
  TUTTI_SAY_NO_MORE(NAME, op_narrows)
#define TUTTI_SAYS_status(NAME) TUTTI_SAYS_PLAIN(NAME, "takes a tutti::status, a variable; " #NAME "_out also nothing")
#define TUTTI_SAYS_statuses(NAME)                                                                             \
  TUTTI_SAYS_PLAIN(NAME, "takes one container of tutti::status, a variable; " #NAME "_out also nothing")
#define TUTTI_SAYS_request(NAME) TUTTI_SAYS_PLAIN(NAME, "takes a tutti::request, a variable")
#define TUTTI_ROW(NAME, KIND, TEXT)                                                                           \
  template <problem P> struct complaint<P, parameter::NAME> { TUTTI_SAY_ANY(NAME) TUTTI_SAYS_##KIND(NAME) };
TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
#undef TUTTI_SAYS_request
#undef TUTTI_SAYS_statuses
#undef TUTTI_SAYS_status
#undef TUTTI_SAYS_function
#undef TUTTI_SAYS_mode
#undef TUTTI_SAYS_layouts
#undef TUTTI_SAYS_text
#undef TUTTI_SAYS_tag
#undef TUTTI_SAYS_rank
#undef TUTTI_SAYS_type
#undef TUTTI_SAYS_PLAIN
#undef TUTTI_SAYS_count
#undef TUTTI_SAYS_counts
#undef TUTTI_SAYS_in_out_buffer
#undef TUTTI_SAYS_out_buffer
#undef TUTTI_SAYS_send_buffer
#undef TUTTI_SAYS_in_buffer
#undef TUTTI_SAY_NO_MORE
#undef TUTTI_SAY_CONTAINER
#undef TUTTI_SAY_ANY
#undef TUTTI_SAY
// clang-format on

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::initializer_list<T>> = true;

/// The result of a rejected call. It converts to any type, so that no other error follows. It does
/// not convert to a list: an assignment to a vector could take either that or a vector.
struct mistaken {
  template <class T>
  requires(!is_list<T>) operator T() const;
  mistaken wait() const;
  mistaken test() const;
};

}  // namespace tutti::detail
