// SPDX-License-Identifier: Apache-2.0
//
// KaMPIng's named parameters. Most are tutti's own (parameters.hpp documents them). A few accept
// other arguments here: ranks and counts of any integer type, MPI's constants, operators, statuses.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include "tutti/kamping/request_pool.hpp"

// The namespace of as_serialized(x) and as_deserializable<T>(), if the program also includes
// tutti/serialization.hpp or tutti/cereal.hpp.
namespace tutti {
inline namespace objects {}
}  // namespace tutti

namespace kamping {
namespace internal {

/// The MPI datatype of the elements, as a part of the result of a call.
struct returned_datatype {
  MPI_Datatype native = MPI_DATATYPE_NULL;
  template <class T>
  void store_layout_of() {
    native = mpi_datatype<T>();
  }
  operator MPI_Datatype() const noexcept { return native; }
};
/// The same, stored in a variable of the caller.
struct stored_datatype {
  MPI_Datatype* to;
  template <class T>
  void store_layout_of() {
    *to = mpi_datatype<T>();
  }
};
}  // namespace internal
}  // namespace kamping

// It refers to a variable of the caller, and is therefore not part of a result.
template <tutti::parameter Name>
struct tutti::detail::argument<Name, tutti::detail::data_direction::out, tutti::no_resize,
                               kamping::internal::stored_datatype> {
  static constexpr parameter name = Name;
  static constexpr data_direction direction = data_direction::out;
  static constexpr resize_policy policy = tutti::no_resize;
  static constexpr bool owning = false;
  using data_type = kamping::internal::stored_datatype;
  data_type data;
};

namespace kamping {
using namespace tutti::objects;

using BufferResizePolicy = tutti::resize_policy;
namespace send_modes {
inline constexpr auto standard = tutti::send_modes::standard;
inline constexpr auto buffered = tutti::send_modes::buffered;
inline constexpr auto synchronous = tutti::send_modes::synchronous;
inline constexpr auto ready = tutti::send_modes::ready;
}  // namespace send_modes
namespace rank = tutti::rank;  // any, null
namespace tags = tutti::tags;  // any

namespace ops {
using namespace tutti::ops;
}

namespace internal {

inline constexpr auto no_resize = tutti::no_resize;
template <tutti::parameter Name>
constexpr auto number(int value) {
  return tutti::detail::argument<Name, tutti::detail::data_direction::in, no_resize, int>{value};
}
constexpr int rank_from(std::integral auto rank) {
  const int value = static_cast<int>(rank);
  return value == MPI_ANY_SOURCE ? tutti::rank::any : value == MPI_PROC_NULL ? tutti::rank::null : value;
}
template <class Tag>
constexpr int tag_from(Tag tag) {
  static_assert(std::is_integral_v<Tag> || std::is_enum_v<Tag>, "tag: takes an integer or an enumerator");
  const int value = static_cast<int>(tag);
  return value == MPI_ANY_TAG ? tutti::tags::any : value;
}

/// An MPI operator, applied to one element at a time.
struct mpi_operator {
  MPI_Op native;
  template <class T>
  T operator()(const T& left, const T& right) const {
    T result = right;
    check_mpi(MPI_Reduce_local(&left, &result, 1, mpi_datatype<T>(), native), "MPI_Reduce_local");
    return result;
  }
};

template <tutti::parameter Name>
auto type_out() {
  return tutti::detail::argument<Name, tutti::detail::data_direction::out, no_resize, returned_datatype>{};
}
template <tutti::parameter Name>
auto type_out(MPI_Datatype& to) {
  return tutti::detail::argument<Name, tutti::detail::data_direction::out, no_resize, stored_datatype>{{&to}};
}

/// alloc_new_using<C>: a C of the elements of the call.
template <template <class...> class C>
struct allocate_using {};
/// The data of such a buffer.
template <template <class...> class C>
struct open_container {};
template <tutti::parameter Name, tutti::detail::data_direction Direction, template <class...> class C>
constexpr auto open_buffer(const allocate_using<C>&) {
  return tutti::detail::argument<Name, Direction, tutti::resize_to_fit, open_container<C>>{};
}
/// alloc_container_of<T>: the communicator's container of T.
template <class T>
struct allocate_default {};
template <class T>
struct default_container_of {};
template <tutti::parameter Name, tutti::detail::data_direction Direction, class T>
constexpr auto open_buffer(const allocate_default<T>&) {
  return tutti::detail::argument<Name, Direction, tutti::resize_to_fit, default_container_of<T>>{};
}
template <tutti::parameter Name, class T>
constexpr auto new_counts(const allocate_default<T>&) {
  return tutti::detail::make_new<Name, tutti::detail::data_direction::out, std::vector<T>>();
}
template <tutti::parameter Name, template <class...> class C>
constexpr auto new_counts(const allocate_using<C>&) {
  return tutti::detail::make_new<Name, tutti::detail::data_direction::out, C<int>>();
}

/// The layout of an MPI datatype, with the datatype itself for MPI operators.
struct native_layout : tutti::layout {
  explicit native_layout(MPI_Datatype type) : tutti::layout(tutti::layout_of(type)), native(type) {}
  MPI_Datatype native;
};
template <tutti::parameter Name>
auto native_type(MPI_Datatype type) {
  return tutti::detail::argument<Name, tutti::detail::data_direction::in, no_resize, native_layout>{
      native_layout(type)};
}

/// ignore<T>: no elements of T. Without a type it is an unwanted parameter.
template <class T>
struct ignored : std::span<const T, 0> {};
template <>
struct ignored<void> {};

}  // namespace internal

inline namespace params {

using tutti::alloc_new;
using tutti::grow_only;
using tutti::no_resize;
using tutti::resize_to_fit;

using tutti::recv_buf;
using tutti::recv_buf_out;
using tutti::recv_count;
using tutti::recv_count_out;
using tutti::recv_counts;
using tutti::recv_counts_out;
using tutti::recv_displs;
using tutti::recv_displs_out;
using tutti::recv_type;
using tutti::send_buf;
using tutti::send_buf_out;
using tutti::send_count;
using tutti::send_count_out;
using tutti::send_counts;
using tutti::send_counts_out;
using tutti::send_displs;
using tutti::send_displs_out;
using tutti::send_mode;
using tutti::send_recv_buf;
using tutti::send_recv_count;
using tutti::send_recv_count_out;
using tutti::send_type;
using tutti::values_on_rank_0;

/// A container of T, of the communicator's own kind; of kabool for bool.
template <class T>
inline constexpr internal::allocate_default<std::conditional_t<std::is_same_v<T, bool>, kabool, T>>
    alloc_container_of{};
/// A container C of the call's elements, for example `recv_buf(alloc_new_using<std::vector>)`.
/// Counts and displacements become a C<int>.
template <template <class...> class C>
inline constexpr internal::allocate_using<C> alloc_new_using{};
// clang-format off
#define TUTTI_KAMPING_OPEN(FUNCTION, NAME, FLOW)                                                             \
  template <tutti::resize_policy = no_resize, template <class...> class C>                                   \
  constexpr auto FUNCTION(const internal::allocate_using<C>& how) {                                          \
    return internal::open_buffer<tutti::parameter::NAME, tutti::detail::data_direction::FLOW>(how);          \
  }                                                                                                          \
  template <tutti::resize_policy = no_resize, class T>                                                       \
  constexpr auto FUNCTION(const internal::allocate_default<T>& how) {                                        \
    return internal::open_buffer<tutti::parameter::NAME, tutti::detail::data_direction::FLOW>(how);          \
  }
#define TUTTI_KAMPING_COUNTS(NAME)                                                                      \
  template <tutti::resize_policy = no_resize, template <class...> class C>                              \
  constexpr auto NAME##_out(const internal::allocate_using<C>& how) {                                   \
    return internal::new_counts<tutti::parameter::NAME>(how);                                           \
  }                                                                                                     \
  template <tutti::resize_policy = no_resize, class T>                                                  \
  constexpr auto NAME##_out(const internal::allocate_default<T>& how) {                                 \
    return internal::new_counts<tutti::parameter::NAME>(how);                                           \
  }
TUTTI_KAMPING_OPEN(recv_buf, recv_buf, out)
TUTTI_KAMPING_OPEN(recv_buf_out, recv_buf, out)
TUTTI_KAMPING_OPEN(send_recv_buf, send_recv_buf, in_out)
TUTTI_KAMPING_COUNTS(send_counts)
TUTTI_KAMPING_COUNTS(recv_counts)
TUTTI_KAMPING_COUNTS(send_displs)
TUTTI_KAMPING_COUNTS(recv_displs)
#undef TUTTI_KAMPING_COUNTS
#undef TUTTI_KAMPING_OPEN
// clang-format on

/// The type of each item of the buffer, or of both buffers of a reduction. An MPI operator,
/// op(MPI_Op), receives whole items of send_recv_type. Other operators combine elements of the
/// buffer. If an item is a part of one element, and has its extent, they combine it with its gaps.
inline auto send_recv_type(MPI_Datatype type) {
  return internal::native_type<tutti::parameter::send_recv_type>(type);
}
inline auto send_recv_type(const tutti::layout& type) { return tutti::send_recv_type(type); }

/// As a buffer: no elements of T. As a status: none is requested.
template <class T = void>
inline constexpr internal::ignored<T> ignore{};

/// Ranks are of any integer type. MPI_ANY_SOURCE and MPI_PROC_NULL mean the same as rank::any and
/// rank::null.
constexpr auto root(std::integral auto rank) {
  return internal::number<tutti::parameter::root>(static_cast<int>(rank));
}
constexpr auto source(std::integral auto rank) {
  return internal::number<tutti::parameter::source>(internal::rank_from(rank));
}
constexpr auto destination(std::integral auto rank) {
  return internal::number<tutti::parameter::destination>(internal::rank_from(rank));
}
/// Tags are integers or enumerators.
template <class Tag>
constexpr auto tag(Tag value) {
  return internal::number<tutti::parameter::tag>(internal::tag_from(value));
}
template <class Tag>
constexpr auto send_tag(Tag value) {
  return internal::number<tutti::parameter::send_tag>(internal::tag_from(value));
}
template <class Tag>
constexpr auto recv_tag(Tag value) {
  return internal::number<tutti::parameter::recv_tag>(internal::tag_from(value));
}

/// tutti's operators (ops.hpp), and MPI operators. The latter are applied to one element at a time,
/// and are non-commutative unless declared otherwise.
template <class Function, class... Commutative>
requires(!std::same_as<std::remove_cvref_t<Function>, MPI_Op>) constexpr auto op(Function&& function,
                                                                                 Commutative... c) {
  return tutti::op(static_cast<Function&&>(function), c...);
}
template <class... Commutative>
auto op(MPI_Op native, Commutative... c) {
  return tutti::op(internal::mpi_operator{native}, c...);
}

/// The datatype of the elements, as by mpi_datatype<T>(), which need not be freed. Without a
/// variable it is part of the result, and converts to MPI_Datatype.
inline auto send_type_out() { return internal::type_out<tutti::parameter::send_type>(); }
inline auto send_type_out(MPI_Datatype& to) { return internal::type_out<tutti::parameter::send_type>(to); }
inline auto recv_type_out() { return internal::type_out<tutti::parameter::recv_type>(); }
inline auto recv_type_out(MPI_Datatype& to) { return internal::type_out<tutti::parameter::recv_type>(to); }
inline auto send_recv_type_out() { return internal::type_out<tutti::parameter::send_recv_type>(); }
inline auto send_recv_type_out(MPI_Datatype& to) {
  return internal::type_out<tutti::parameter::send_recv_type>(to);
}

/// The same as status_out(s): the call writes into s. Without s it is part of the result, as a
/// Status.
inline auto status_out(Status& s) {
  return tutti::detail::argument<tutti::parameter::status, tutti::detail::data_direction::out, no_resize,
                                 Status&>{s};
}
inline auto status_out(MPI_Status& s) { return internal::native_status_argument{{&s}}; }
inline auto status_out() {
  return tutti::detail::argument<tutti::parameter::status, tutti::detail::data_direction::out, no_resize,
                                 Status>{};
}
inline auto status(Status& s) { return status_out(s); }
inline auto status(MPI_Status& s) { return status_out(s); }
inline auto status(internal::ignored<void>) { return internal::unwanted{}; }

/// Statuses of several requests, for wait_all(): a container of Status or of MPI_Status.
template <tutti::resize_policy Policy = no_resize, class C>
auto statuses_out(C& container) {
  return internal::statuses_of<C, Policy>{container};
}
template <tutti::resize_policy Policy = no_resize, class C>
auto statuses(C& container) {
  return statuses_out<Policy>(container);
}
template <class C = std::vector<Status>>
auto statuses_out() {
  return internal::owned_statuses<C>{};
}
template <class C>
auto statuses_out(const tutti::detail::allocate<C>&) {
  return internal::owned_statuses<C>{};
}
inline auto statuses(internal::ignored<void>) { return internal::unwanted{}; }

/// Stores the request of the call in r. The call then returns an object whose extract() returns the
/// original result, once the request is complete. It keeps moved-in buffers until then.
inline auto request(Request& r) { return internal::request_parameter{r}; }
inline auto request(PooledRequest r) { return internal::request_parameter{r.get()}; }

}  // namespace params
}  // namespace kamping
