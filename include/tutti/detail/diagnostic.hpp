// SPDX-License-Identifier: Apache-2.0
//
// The compile error of a wrong call: one sentence.
#pragma once
#if defined(__GNUC__)
#pragma GCC system_header  // omits the expansion of the macros below from the message
#endif

#include "tutti/detail/export.hpp"
#include "tutti/detail/parameter_table.hpp"

TUTTI_API_BEGIN
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
  request_cannot_own,
  not_requested,
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
  request_cannot_return,
  items_resized
};

/// The error message, generated for every parameter, since a static_assert takes only a literal.
template <problem P, problem Q>
inline constexpr bool not_a = true;
template <problem P>
inline constexpr bool not_a<P, P> = false;
template <problem P, parameter N>
struct diagnostic {
  static_assert(not_a<P, problem::unnamed>, "unnamed argument, not a parameter: did you mean send_buf(x)?");
};
// clang-format off
#define TUTTI_DIAGNOSE(NAME, PROBLEM, TEXT) static_assert(not_a<P, problem::PROBLEM>, #NAME ": " TEXT);
#define TUTTI_DIAGNOSE_ANY(NAME)                                                                                   \
  TUTTI_DIAGNOSE(NAME, missing, "missing, this call needs it")                                                     \
  TUTTI_DIAGNOSE(NAME, unexpected, "this call does not take it")                                                   \
  TUTTI_DIAGNOSE(NAME, not_out, "this call takes it as input only, not " #NAME "_out")                             \
  TUTTI_DIAGNOSE(NAME, twice, "given twice, or both in and out")                                                   \
  TUTTI_DIAGNOSE(NAME, in_place, "send_recv_buf stands for send_buf and recv_buf")                                 \
  TUTTI_DIAGNOSE(NAME, constant, "const, but the call writes to it")                                               \
  TUTTI_DIAGNOSE(NAME, request_cannot_own, "moved in or made by the call, but request(r) keeps nothing: pass a variable")  \
  TUTTI_DIAGNOSE(NAME, not_requested, "was not requested, so it cannot be extracted")
#define TUTTI_DIAGNOSE_CONTAINER(NAME)                                                                             \
  TUTTI_DIAGNOSE(NAME, pointer, "a pointer, not a buffer: pass std::span(p, n)")                                   \
  TUTTI_DIAGNOSE(NAME, packed_bool, "std::vector<bool> packs bits, it has no bools")                               \
  TUTTI_DIAGNOSE(NAME, scattered, "not a contiguous container (data() and size()), as_serialized(x) sends it")     \
  TUTTI_DIAGNOSE(NAME, not_bytes, "elements are not trivially copyable, as_serialized(x) sends them")              \
  TUTTI_DIAGNOSE(NAME, address, "elements hold addresses (pointers, views, iterators), which mean nothing on another rank") \
  TUTTI_DIAGNOSE(NAME, no_resize, "this container cannot be resized, use no_resize")                               \
  TUTTI_DIAGNOSE(NAME, other_type, "its elements are not of the type that is sent")                                \
  TUTTI_DIAGNOSE(NAME, not_counts, "takes a container of int or of std::size_t")                                   \
  TUTTI_DIAGNOSE(NAME, no_objects, "this call takes no serialized objects")                                        \
  TUTTI_DIAGNOSE(NAME, not_serialized, "all buffers or none: as_serialized(x) is sent, as_deserializable<T>() received") \
  TUTTI_DIAGNOSE(NAME, no_range, "takes a range of objects, one for each rank")
// Ensures that no problem lacks a message.
#define TUTTI_DIAGNOSE_NO_MORE(NAME, LAST) static_assert(P <= problem::LAST, #NAME ": this call does not take it in this form");

// Further messages for each kind in the table.
#define TUTTI_DIAGNOSES_in_buffer(NAME)                                                                            \
  TUTTI_DIAGNOSE(NAME, misused, "takes one buffer: a container, a value or a list; for a pointer p pass std::span(p, n)") \
  TUTTI_DIAGNOSE_CONTAINER(NAME)                                                                                   \
  TUTTI_DIAGNOSE_NO_MORE(NAME, no_range)
#define TUTTI_DIAGNOSES_send_buffer(NAME)                                                                          \
  TUTTI_DIAGNOSE(NAME, misused, "takes one buffer: a container, a value or a list; for a pointer p pass std::span(p, n); " \
            #NAME "_out takes a moved container")                                                                  \
  TUTTI_DIAGNOSE_CONTAINER(NAME)                                                                                   \
  TUTTI_DIAGNOSE_NO_MORE(NAME, no_range)
#define TUTTI_DIAGNOSES_out_buffer(NAME)                                                                           \
  TUTTI_DIAGNOSE(NAME, misused, "takes one container, with or without a policy, or a type alone; for a pointer p pass std::span(p, n)") \
  TUTTI_DIAGNOSE_CONTAINER(NAME)                                                                                   \
  TUTTI_DIAGNOSE(NAME, no_type, "pass one, or name the element type: call<T>(...)")                                \
  TUTTI_DIAGNOSE(NAME, no_element, "call<T>(...) needs a T that is an element; as_deserializable<T>() receives other types") \
  TUTTI_DIAGNOSE(NAME, request_cannot_return, "missing: with request(r) the call makes and returns nothing, pass a variable") \
  TUTTI_DIAGNOSE(NAME, items_resized, "with a layout it must be a no_resize container")
#define TUTTI_DIAGNOSES_in_out_buffer(NAME) TUTTI_DIAGNOSES_out_buffer(NAME)
#define TUTTI_DIAGNOSES_counts(NAME)                                                                               \
  TUTTI_DIAGNOSE(NAME, misused, "takes one container of int or of std::size_t, or a list; " #NAME "_out also takes a policy, or a type alone") \
  TUTTI_DIAGNOSE_CONTAINER(NAME)                                                                                   \
  TUTTI_DIAGNOSE_NO_MORE(NAME, no_range)
#define TUTTI_DIAGNOSES_count(NAME)                                                                                \
  TUTTI_DIAGNOSE(NAME, misused, "takes one integer; " #NAME "_out takes a variable, or is empty")                  \
  TUTTI_DIAGNOSE(NAME, no_length, "missing: a layout is given without its count")                                  \
  TUTTI_DIAGNOSE_NO_MORE(NAME, no_length)
#define TUTTI_DIAGNOSES_PLAIN(NAME, TEXT)                                                                          \
  TUTTI_DIAGNOSE(NAME, misused, TEXT)                                                                              \
  TUTTI_DIAGNOSE_NO_MORE(NAME, not_requested)
#define TUTTI_DIAGNOSES_type(NAME)                                                                                 \
  TUTTI_DIAGNOSES_PLAIN(NAME, "takes one tutti::layout, with tutti/mpi.hpp also an MPI_Datatype; " #NAME "_out takes a variable, or is empty")
#define TUTTI_DIAGNOSES_rank(NAME) TUTTI_DIAGNOSES_PLAIN(NAME, "takes one rank, an int")
#define TUTTI_DIAGNOSES_tag(NAME)                                                                                  \
  TUTTI_DIAGNOSE(NAME, misused, "takes one tag, an int")                                                           \
  TUTTI_DIAGNOSE(NAME, both_tags, "tag stands for send_tag and recv_tag")                                          \
  TUTTI_DIAGNOSE_NO_MORE(NAME, both_tags)
#define TUTTI_DIAGNOSES_string(NAME) TUTTI_DIAGNOSES_PLAIN(NAME, "takes one name, a const char* or a std::string")
#define TUTTI_DIAGNOSES_layouts(NAME) TUTTI_DIAGNOSES_PLAIN(NAME, "takes one container of layouts, one for each block")
#define TUTTI_DIAGNOSES_mode(NAME) TUTTI_DIAGNOSES_PLAIN(NAME, "takes one of send_modes")
#define TUTTI_DIAGNOSES_function(NAME)                                                                             \
  TUTTI_DIAGNOSE(NAME, misused, "takes one callable, and ops::commutative or ops::non_commutative")                \
  TUTTI_DIAGNOSE(NAME, not_callable, "cannot be called with two elements and return one")                          \
  TUTTI_DIAGNOSE(NAME, op_converts, "its parameters are not of the element type: elements would be converted")     \
  TUTTI_DIAGNOSE(NAME, op_narrows, "its result does not fit into an element: return the element type") \
  TUTTI_DIAGNOSE_NO_MORE(NAME, op_narrows)
#define TUTTI_DIAGNOSES_status(NAME) TUTTI_DIAGNOSES_PLAIN(NAME, "takes a tutti::status, a variable; " #NAME "_out may also be empty")
#define TUTTI_DIAGNOSES_statuses(NAME)                                                                             \
  TUTTI_DIAGNOSES_PLAIN(NAME, "takes one container of tutti::status, a variable; " #NAME "_out may also be empty")
#define TUTTI_DIAGNOSES_request(NAME) TUTTI_DIAGNOSES_PLAIN(NAME, "takes a tutti::request, a variable")
#define TUTTI_ROW(NAME, KIND, TEXT)                                                                           \
  template <problem P> struct diagnostic<P, parameter::NAME> { TUTTI_DIAGNOSE_ANY(NAME) TUTTI_DIAGNOSES_##KIND(NAME) };
TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
#undef TUTTI_DIAGNOSES_request
#undef TUTTI_DIAGNOSES_statuses
#undef TUTTI_DIAGNOSES_status
#undef TUTTI_DIAGNOSES_function
#undef TUTTI_DIAGNOSES_mode
#undef TUTTI_DIAGNOSES_layouts
#undef TUTTI_DIAGNOSES_string
#undef TUTTI_DIAGNOSES_tag
#undef TUTTI_DIAGNOSES_rank
#undef TUTTI_DIAGNOSES_type
#undef TUTTI_DIAGNOSES_PLAIN
#undef TUTTI_DIAGNOSES_count
#undef TUTTI_DIAGNOSES_counts
#undef TUTTI_DIAGNOSES_in_out_buffer
#undef TUTTI_DIAGNOSES_out_buffer
#undef TUTTI_DIAGNOSES_send_buffer
#undef TUTTI_DIAGNOSES_in_buffer
#undef TUTTI_DIAGNOSE_NO_MORE
#undef TUTTI_DIAGNOSE_CONTAINER
#undef TUTTI_DIAGNOSE_ANY
#undef TUTTI_DIAGNOSE
// clang-format on

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::initializer_list<T>> = true;

/// The result of a rejected call. It converts to any type, so that no other error follows. It does
/// not convert to a list: an assignment to a vector could take either that or a vector.
struct rejected_call_result {
  template <class T>
  requires(!is_list<T>) operator T() const;
  rejected_call_result wait() const;
  rejected_call_result test() const;
};

}  // namespace tutti::detail
TUTTI_API_END
