// SPDX-License-Identifier: Apache-2.0
//
// Named parameters. An argument of a collective is written `name(data)`. Arguments come in any
// order, and the library infers optional ones that are absent. The table in
// detail/parameter_table.hpp has a row for each parameter, with its meaning.
//
//     written as                 the call ...
//     name(data)                 reads data: refers to an lvalue, keeps an rvalue until it is done
//     name_out(), name_out<C>()  makes a new container, of type C, and returns it
//     name_out(std::move(c))     writes into c, and returns it
//     name_out(c)                writes into c, which is not part of the result
//
// A receive buffer is always an output: recv_buf(...) is recv_buf_out(...). send_recv_buf(...) is
// read and written. send_buf_out(std::move(v)) is sent, and returned as a part of the result.
//
// Resizing: `name_out<resize_to_fit>(c)`, `<grow_only>`, `<no_resize>` (detail/argument.hpp). The
// default for a passed container is no_resize, whether it is moved or not; a call throws
// usage_error if it is too small.
//
// A buffer is one of:
// - a contiguous container (value_type, data(), size(); resize(n) if it is to be resized);
// - a C array, or a contiguous range that knows its size (a span, a subrange, views::take and
//   views::drop of one);
// - a single value, or a list as in send_buf({a, b}).
//
// std::ref(x) is the same as the variable x. The elements of a view must live until the call is
// complete. Elements are trivially copyable, and contain no addresses (pointers, views, iterators).
// Counts and displacements are in elements, one for each rank in the order of ranks, in contiguous
// containers of int or of std::size_t. As outputs they are a std::vector<int>, and a number that
// does not fit throws usage_error; recv_counts_out<std::vector<std::size_t>>() returns 64 bits. A
// single count is any integer.
//
// A buffer may hold items of a layout (layout.hpp) instead of elements. send_type, recv_type
// and send_recv_type name the layout; the class communicator states what it means.
//
// Reports contain the source location of a call. It is that of the first buffer. Without a buffer
// it is that of the first of root, source, destination, tag and algorithm. Code that makes
// arguments on behalf of a caller passes the caller's location: `send_buf(v, at)` with a
// std::source_location.
//
// The factories neither send nor copy. They allocate only for lists, which they keep in an array of
// their own.
//
// ```cpp
// std::vector<int> v(world.rank() + 1), all, displs(world.size());
// auto counts = world.allgatherv(send_buf(v), recv_buf<resize_to_fit>(all), recv_counts_out(),
//                                recv_displs_out(displs));
// assert(counts.extract_recv_counts().back() == world.size());  // the one part that was asked for
// assert(displs[0] == 0 && all[displs.back()] == 0);            // written where they stand
// ```
#pragma once

#include <concepts>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/detail/rejected_factories.hpp"
#include "tutti/layout.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

using source_place = std::source_location;

template <class Argument, class Data>
constexpr Argument make_argument(Data&& data, const source_place& at) {
  if constexpr (has_location<Argument>)
    return {static_cast<Data&&>(data), at};
  else
    return {static_cast<Data&&>(data)};
}
template <parameter Name, class C>
constexpr auto make_in(C&& c, const source_place& at = {}) {
  if constexpr (is_reference_wrapper<std::remove_cvref_t<C>>)
    return make_in<Name>(c.get(), at);
  else
    return make_argument<argument<Name, data_direction::in, no_resize, C>>(static_cast<C&&>(c), at);
}
template <parameter Name, class T>
auto make_list(std::initializer_list<T> values, const source_place& at = {}) {
  return make_argument<argument<Name, data_direction::in, no_resize, dynamic_array<T>>>(
      dynamic_array<T>(values), at);
}
template <parameter Name, resize_policy Policy, data_direction Flow, class C>
constexpr auto make_out(C&& c, const source_place& at = {}) {
  if constexpr (is_reference_wrapper<std::remove_cvref_t<C>>)
    return make_out<Name, Policy, Flow>(c.get(), at);
  else
    return make_argument<argument<Name, Flow, Policy, C>>(static_cast<C&&>(c), at);
}
template <parameter Name, data_direction Flow, class C>
constexpr auto make_new(const source_place& at = {}) {
  using made = argument<Name, Flow, resize_to_fit, C>;
  if constexpr (has_location<made>)
    return made{C(), at};
  else
    return made{};
}
template <parameter Name, data_direction Flow, resize_policy Policy, class C>
constexpr auto make_out(const allocate<C>&, const source_place& at = {}) {
  return make_new<Name, Flow, C>(at);
}
template <class C>
inline constexpr bool is_moved_in =
    !std::is_lvalue_reference_v<C> && !is_reference_wrapper<std::remove_cv_t<C>>;
template <class C>
inline constexpr bool is_allocate = false;
template <class C>
inline constexpr bool is_allocate<allocate<C>> = true;

/// A number, kept with its sign so that the call can reject a negative one.
template <parameter Name>
constexpr auto make_count(std::integral auto n) {
  return argument<Name, data_direction::in, no_resize, long long>{static_cast<long long>(n)};
}

}  // namespace detail

// clang-format off
#define TUTTI_FACTORY_rank(NAME)
#define TUTTI_FACTORY_tag(NAME)
#define TUTTI_FACTORY_string(NAME)
#define TUTTI_FACTORY_layouts(NAME)
#define TUTTI_FACTORY_mode(NAME)
#define TUTTI_FACTORY_function(NAME)
#define TUTTI_FACTORY_status(NAME)
#define TUTTI_FACTORY_statuses(NAME)
#define TUTTI_FACTORY_request(NAME)
#define TUTTI_HERE detail::source_place at = detail::source_place::current()
#define TUTTI_FACTORY_in_buffer(NAME)                                           \
  template <class C> constexpr auto NAME(C&& c, TUTTI_HERE) {                   \
    return detail::make_in<parameter::NAME>(static_cast<C&&>(c), at);           \
  }                                                                             \
  template <class T> auto NAME(std::initializer_list<T> list, TUTTI_HERE) {     \
    return detail::make_list<parameter::NAME>(list, at);                        \
  }
#define TUTTI_FACTORY_send_buffer(NAME)                                                      \
  TUTTI_FACTORY_in_buffer(NAME)                                                              \
  template <class C> requires(detail::is_moved_in<C>)                                     \
  constexpr auto NAME##_out(C&& c, TUTTI_HERE) {                                             \
    return detail::make_out<parameter::NAME, no_resize, detail::data_direction::in_out>(static_cast<C&&>(c), at); \
  }
#define TUTTI_OUT_FACTORY(NAME, FUNCTION, FLOW, NEW)                                                 \
  template <resize_policy Policy = no_resize, class C> constexpr auto FUNCTION(C&& c, TUTTI_HERE) {  \
    if constexpr (detail::is_allocate<std::remove_cvref_t<C>>)                                       \
      return detail::make_out<parameter::NAME, detail::data_direction::FLOW, Policy>(c, at);                   \
    else                                                                                             \
      return detail::make_out<parameter::NAME, Policy, detail::data_direction::FLOW>(static_cast<C&&>(c), at); \
  }                                                                                                  \
  template <class C = NEW> constexpr auto FUNCTION(TUTTI_HERE) {                                     \
    return detail::make_new<parameter::NAME, detail::data_direction::FLOW, C>(at);                             \
  }
#define TUTTI_FACTORY_out_buffer(NAME)                  \
  TUTTI_OUT_FACTORY(NAME, NAME, out, detail::automatic) \
  TUTTI_OUT_FACTORY(NAME, NAME##_out, out, detail::automatic)
#define TUTTI_FACTORY_in_out_buffer(NAME) TUTTI_OUT_FACTORY(NAME, NAME, in_out, detail::automatic)
#define TUTTI_FACTORY_counts(NAME) \
  TUTTI_FACTORY_in_buffer(NAME)    \
  TUTTI_OUT_FACTORY(NAME, NAME##_out, out, std::vector<int>)
#define TUTTI_FACTORY_count(NAME)                                                              \
  constexpr auto NAME(std::integral auto n) { return detail::make_count<parameter::NAME>(n); } \
  template <std::integral C> constexpr auto NAME##_out(C& n) {                                 \
    return detail::make_out<parameter::NAME, no_resize, detail::data_direction::out>(n, {});             \
  }                                                                                            \
  template <std::integral C = int> constexpr auto NAME##_out() {                               \
    return detail::make_new<parameter::NAME, detail::data_direction::out, C>({});                        \
  }
#define TUTTI_FACTORY_type(NAME)                                                                                \
  inline auto NAME(const layout& item) { return detail::make_in<parameter::NAME>(item, {}); }                  \
  inline auto NAME(layout&& item) { return detail::make_in<parameter::NAME>(static_cast<layout&&>(item), {}); } \
  template <class L> requires(detail::is_layout<L>) auto NAME##_out(L&& item) {                                \
    return detail::make_out<parameter::NAME, no_resize, detail::data_direction::out>(static_cast<L&&>(item), {});        \
  }                                                                                                            \
  inline auto NAME##_out() { return detail::make_new<parameter::NAME, detail::data_direction::out, layout>({}); }
#define TUTTI_ROW(NAME, KIND, TEXT) TUTTI_FACTORY_##KIND(NAME)
TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
#undef TUTTI_FACTORY_type
#undef TUTTI_FACTORY_count
#undef TUTTI_FACTORY_counts
#undef TUTTI_FACTORY_in_out_buffer
#undef TUTTI_FACTORY_out_buffer
#undef TUTTI_OUT_FACTORY
#undef TUTTI_FACTORY_send_buffer
#undef TUTTI_FACTORY_in_buffer
#undef TUTTI_FACTORY_request
#undef TUTTI_FACTORY_statuses
#undef TUTTI_FACTORY_status
#undef TUTTI_FACTORY_function
#undef TUTTI_FACTORY_mode
#undef TUTTI_FACTORY_layouts
#undef TUTTI_FACTORY_string
#undef TUTTI_FACTORY_tag
#undef TUTTI_FACTORY_rank
// clang-format on

/// The layout of each block of an alltoallw: one for each rank, as a vector, array or span of
/// layouts. An lvalue must live until the call is complete. The call throws usage_error if there
/// are not as many as counts.
template <class Layouts>
requires(detail::is_layouts<Layouts>) constexpr auto send_types(Layouts&& types) {
  return detail::make_in<parameter::send_types>(static_cast<Layouts&&>(types), {});
}
template <class Layouts>
requires(detail::is_layouts<Layouts>) constexpr auto recv_types(Layouts&& types) {
  return detail::make_in<parameter::recv_types>(static_cast<Layouts&&>(types), {});
}

/// The rank at which a rooted collective starts or ends, 0 .. size - 1, the same on all ranks. The
/// call throws usage_error for any other value. Default: communicator::default_root(), which is 0
/// unless it was set.
constexpr auto root(int rank, TUTTI_HERE) {
  return detail::argument<parameter::root, detail::data_direction::in, no_resize, int>{rank, at};
}

/// The rank that a message goes to, 0 .. size - 1. For rank::null nothing is sent. The call throws
/// usage_error for any other value.
constexpr auto destination(int rank, TUTTI_HERE) {
  return detail::argument<parameter::destination, detail::data_direction::in, no_resize, int>{rank, at};
}
/// The rank that a message comes from, 0 .. size - 1. rank::any matches every rank; with rank::null
/// the receive is complete at once and empty. Default: rank::any. The call throws usage_error for
/// any other value.
constexpr auto source(int rank, TUTTI_HERE) {
  return detail::argument<parameter::source, detail::data_direction::in, no_resize, int>{rank, at};
}
/// The tag of a message, or the tag that a receive matches: 0 .. 32767 on every engine, or
/// tags::any to receive. Default: communicator::default_tag() to send, which is 0 unless it was
/// set, and tags::any to receive. In a sendrecv it is the tag of both messages. The call throws
/// usage_error if it is out of range.
constexpr auto tag(int tag, TUTTI_HERE) {
  return detail::argument<parameter::tag, detail::data_direction::in, no_resize, int>{tag, at};
}
/// The tags of the two messages of a sendrecv, if they differ.
constexpr auto send_tag(int tag) {
  return detail::argument<parameter::send_tag, detail::data_direction::in, no_resize, int>{tag};
}
constexpr auto recv_tag(int tag) {
  return detail::argument<parameter::recv_tag, detail::data_direction::in, no_resize, int>{tag};
}
/// When a send is complete. Default: send_modes::standard.
constexpr auto send_mode(send_modes mode) {
  return detail::argument<parameter::send_mode, detail::data_direction::in, no_resize, send_modes>{mode};
}

/// Selects an algorithm for this call, the same on all ranks: "ring", "allreduce/ring", or with
/// parameters "chain:segment=64K" (`tutti list` prints them all). If the call does not meet its
/// restrictions, another algorithm runs, and rank 0 reports it once. TUTTI_COLL_FALLBACK=error
/// makes that a usage_error, =silent omits the report. The text is read before the call, the i...
/// form or the ..._init form returns. Such a call bypasses the cache of earlier calls: it costs a
/// look-up by name. The call throws usage_error if no algorithm has that name, a parameter does not
/// exist, or its value is out of range.
///
/// ```cpp
/// auto sum = world.allreduce(send_buf(1), op(std::plus<>{}), algorithm("ring"));
/// assert(std::string(world.last_algorithm(collective::allreduce)) == "allreduce/ring");
/// ```
constexpr auto algorithm(const char* name, TUTTI_HERE) {
  return detail::argument<parameter::algorithm, detail::data_direction::in, no_resize, const char*>{name, at};
}
constexpr auto algorithm(const detail::has_c_str auto& name, TUTTI_HERE) {
  return algorithm(name.c_str(), at);
}

/// Selects a composition for this call, a collective built from other collectives: "node_leader",
/// "allreduce/pipeline:segment=64K", or "@pure" for none. If algorithm() is also given, the inner
/// calls of the same collective run that algorithm. Errors, fallback and agreement are those of
/// algorithm().
///
/// ```cpp
/// world.allreduce(send_buf(1), op(std::plus<>{}), composition("reduce_bcast"));
/// ```
constexpr auto composition(const char* name, TUTTI_HERE) {
  return detail::argument<parameter::composition, detail::data_direction::in, no_resize, const char*>{name,
                                                                                                      at};
}
constexpr auto composition(const detail::has_c_str auto& name, TUTTI_HERE) {
  return composition(name.c_str(), at);
}

#undef TUTTI_HERE

/// A send buffer of no elements of type T, for ranks that send nothing.
///
/// ```cpp
/// std::vector<int> v(3);
/// auto all = world.is_root() ? world.gatherv(send_buf(v)) : world.gatherv(send_buf(ignore<int>));
/// assert(all.size() == (world.is_root() ? 3 : 0));
/// ```
template <class T>
inline constexpr std::span<const T, 0> ignore{};

}  // namespace tutti
TUTTI_API_END
