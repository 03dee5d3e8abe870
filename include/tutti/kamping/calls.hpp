// SPDX-License-Identifier: Apache-2.0
//
// Every operation of KaMPIng's Communicator, and tutti's further forms of it. Each passes its
// parameters to the call of the same name of tutti::communicator, whose documentation applies.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/kamping/items.hpp"
#include "tutti/kamping/parameters.hpp"

namespace kamping::internal {

template <class A>
inline constexpr bool is_unwanted = std::is_same_v<std::remove_cvref_t<A>, unwanted>;

template <class A>
inline constexpr bool is_open_recv_buf =
    is_open_buffer<A>&& tutti::detail::parameter_of<A> == tutti::parameter::recv_buf;

/// The type of an argument for type deduction. An open buffer determines none.
template <class A>
struct seen_as {
  using type = A;
};
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P,
          template <class...> class C>
struct seen_as<tutti::detail::argument<N, F, P, open_container<C>>> {
  using type = tutti::detail::argument<N, F, P, tutti::detail::automatic>;
};
// It determines the type, like any container of T.
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P, class T>
struct seen_as<tutti::detail::argument<N, F, P, default_container_of<T>>> {
  using type = tutti::detail::argument<N, F, P, tutti::dynamic_array<T>>;
};
template <class T, class... Args>
using element_of = tutti::detail::element_of_call<T, typename seen_as<std::remove_cvref_t<Args>>::type...>;

/// The element type of one argument; void if it is not a buffer or does not determine the type.
template <class A>
struct buffer_element {
  using type = void;
};
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P, class D>
struct buffer_element<tutti::detail::argument<N, F, P, D>> {
  using argument = tutti::detail::argument<N, F, P, D>;
  using type = typename tutti::detail::element_of_argument<N, typename seen_as<argument>::type>::type;
};
constexpr bool is_buffer(tutti::parameter name) {
  using enum tutti::parameter;
  return name == send_buf || name == recv_buf || name == send_recv_buf || name == values_on_rank_0;
}

/// Whether the call has buffers of kabool, or would make one where a KaMPIng program expects it.
template <class T, class... Args>
consteval bool receives_kabool() {
  using enum tutti::parameter;
  using element = element_of<T, Args...>;
  if constexpr (!std::is_same_v<element, bool> && !std::is_same_v<element, kabool>) {
    return false;
  } else {
    bool given = false, of_bool = false;
    const auto visit = [&]<class A>(std::type_identity<A>) {
      constexpr auto name = tutti::detail::parameter_of<A>;
      if (name != recv_buf && name != send_recv_buf) return;
      given = given || !is_open_buffer<A>;
      of_bool = of_bool || std::is_same_v<typename buffer_element<A>::type, bool>;
    };
    (visit(std::type_identity<std::remove_cvref_t<Args>>{}), ...);
    return !given || !of_bool;
  }
}

/// Reinterprets bools as kabools, which begin with a bool.
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P, class D>
auto of_kabool(tutti::detail::argument<N, F, P, D>& a) {
  namespace d = tutti::detail;
  if constexpr (d::argument_shape_of<D>() == d::argument_shape::single) {
    return d::argument<N, F, P, kabool>{kabool(a.data)};
  } else if constexpr (std::is_reference_v<D>) {
    const auto* first = reinterpret_cast<const kabool*>(d::data_of(a.data));
    return d::argument<N, F, P, std::span<const kabool>>{{first, d::size_of(a.data)}};
  } else {
    tutti::dynamic_array<kabool> copy(d::size_of(a.data));
    for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = d::data_of(a.data)[i];
    return d::argument<N, F, P, tutti::dynamic_array<kabool>>{std::move(copy)};
  }
}

/// A new container in place of an open one.
template <template <class...> class Container, class T, tutti::parameter N, tutti::detail::data_direction F,
          tutti::resize_policy P>
auto opened(const tutti::detail::argument<N, F, P, tutti::detail::automatic>&) {
  return tutti::detail::make_new<N, F, Container<T>>();
}
template <template <class...> class, class T, tutti::parameter N, tutti::detail::data_direction F,
          tutti::resize_policy P, template <class...> class C>
auto opened(const tutti::detail::argument<N, F, P, open_container<C>>&) {
  return tutti::detail::make_new<N, F, C<T>>();
}
template <template <class...> class Container, class, tutti::parameter N, tutti::detail::data_direction F,
          tutti::resize_policy P, class T>
auto opened(const tutti::detail::argument<N, F, P, default_container_of<T>>&) {
  return tutti::detail::make_new<N, F, Container<T>>();
}
/// Converts an argument for tutti. An open container becomes the communicator's own kind, or the
/// one that alloc_new_using names. bools become kabools if the call has such.
template <template <class...> class Container, class T, bool Kabool, class A>
decltype(auto) taken_as(A&& argument) {
  using bare = std::remove_cvref_t<A>;
  constexpr auto name = tutti::detail::parameter_of<bare>;
  if constexpr (is_open_buffer<bare>) {
    if constexpr (!std::is_void_v<T>)
      return opened<Container, T>(argument);
    else
      return static_cast<A&&>(argument);
  } else if constexpr (Kabool &&
                       (name == tutti::parameter::send_buf || name == tutti::parameter::values_on_rank_0)) {
    if constexpr (std::is_same_v<typename buffer_element<bare>::type, bool>)
      return of_kabool(const_cast<bare&>(argument));
    else
      return static_cast<A&&>(argument);
  } else {
    return static_cast<A&&>(argument);
  }
}

/// The arguments without those that are not parameters of the call.
template <class A>
inline constexpr bool is_request = std::is_same_v<std::remove_cvref_t<A>, request_parameter>;
template <class A>
auto if_taken(A& argument) {
  if constexpr (is_unwanted<A> || is_request<A>)
    return std::tuple<>();
  else
    return std::tuple<A&&>(static_cast<A&&>(argument));
}
template <class A>
void find_request(A& argument, Request*& found) {
  if constexpr (is_request<A>) found = &argument.to;
}

/// Wraps a nonblocking call in KaMPIng's type; returns anything else unchanged.
template <class R>
decltype(auto) returned(R&& result) {
  return static_cast<R&&>(result);
}
template <class R>
auto returned(tutti::nonblocking_result<R>&& result) {
  return NonBlockingResult<R>(std::move(result));
}

/// Makes the call f with the requested results, and KaMPIng's names for errors and results.
template <class F, class... Args>
auto make_call(F&& f, Args&&... args) {
  if constexpr (((is_unwanted<Args> || is_request<Args>) || ...)) {
    const auto call = [&] {
      return std::apply([&](auto&&... a) { return make_call(f, static_cast<decltype(a)&&>(a)...); },
                        std::tuple_cat(if_taken<Args>(args)...));
    };
    if constexpr ((is_request<Args> || ...)) {
      Request* into = nullptr;
      (find_request(args, into), ...);
      *into = Request();  // waits for the call before
      return into->hold(call());
    } else {
      return call();
    }
  } else {
    return translating([&] {
      using result = decltype(f(static_cast<Args&&>(args)...));
      if constexpr (std::is_void_v<result>)
        f(static_cast<Args&&>(args)...);
      else
        return returned(f(static_cast<Args&&>(args)...));
    });
  }
}

/// The same for a call that makes a container of kind C if none is passed.
template <template <class...> class C, class T, class F, class... Args>
auto make_receiving_call(F&& f, Args&&... args) {
  using tutti::parameter;
  using tutti::detail::parameter_of;
  constexpr bool given = ((parameter_of<std::remove_cvref_t<Args>> == parameter::recv_buf ||
                           parameter_of<std::remove_cvref_t<Args>> == parameter::send_recv_buf) ||
                          ...);
  constexpr bool kabools = receives_kabool<T, Args...>();
  using element = std::conditional_t<kabools, kabool, element_of<T, Args...>>;
  if constexpr (std::is_void_v<element>)
    return make_call(f, static_cast<Args&&>(args)...);
  else if constexpr (given || std::is_same_v<C<element>, std::vector<element>>)
    return make_call(f, taken_as<C, element, kabools>(static_cast<Args&&>(args))...);
  else
    return make_call(f, tutti::recv_buf<C<element>>(),
                     taken_as<C, element, kabools>(static_cast<Args&&>(args))...);
}

/// For calls whose only open buffer is send_recv_buf.
template <template <class...> class C, class T, class F, class... Args>
auto make_open_call(F&& f, Args&&... args) {
  if constexpr ((is_open_buffer<std::remove_cvref_t<Args>> || ...))
    return make_call(f, taken_as<C, element_of<T, Args...>, false>(static_cast<Args&&>(args))...);
  else
    return make_call(f, static_cast<Args&&>(args)...);
}

/// Nonblocking and persistent reductions combine items of a datatype only if the items are
/// elements.
template <class... Args>
void validate_items(const char* operation, const Args&... args) {
  if constexpr (combines_items<Args...>) {
    using element = element_of<void, Args...>;
    const auto visit = [&]<class A>(const A& a) {
      if constexpr (is_native_type<A>)
        if (!a.data.is_contiguous() || a.data.size() != sizeof(element))
          throw MpiErrorException(std::string(operation) +
                                      ": send_recv_type: an MPI_Op combines items of this datatype only in "
                                      "the blocking call: use that call, or an operator on elements",
                                  MPI_ERR_TYPE);
    };
    (visit(args), ...);
  }
}

/// The base of Communicator that has the calls. NAME_single, iNAME and NAME_init are forms of NAME
/// (communicator.hpp, messages.hpp). It includes the forms that KaMPIng does not have.
template <class Self, template <class...> class Container>
class calls {
 public:
// clang-format off
#define TUTTI_KAMPING_CALL(NAME)                                                                    \
  template <class... Args> auto NAME(Args&&... args) const {                                        \
    return make_call([this](auto&&... a) { return to().NAME(static_cast<decltype(a)&&>(a)...); },   \
                     static_cast<Args&&>(args)...);                                                 \
  }
#define TUTTI_KAMPING_TYPED_CALL(NAME)                                                              \
  template <class T = void, class... Args> auto NAME(Args&&... args) const {                        \
    return make_open_call<Container, T>([this](auto&&... a) { return to().template NAME<T>(static_cast<decltype(a)&&>(a)...); }, \
                     static_cast<Args&&>(args)...);                                                 \
  }
#define TUTTI_KAMPING_RECEIVING_CALL(NAME)                                                          \
  template <class... Args> auto NAME(Args&&... args) const {                                        \
    return make_receiving_call<Container, void>(                                                    \
        [this](auto&&... a) { return to().NAME(static_cast<decltype(a)&&>(a)...); },                \
        static_cast<Args&&>(args)...);                                                              \
  }
#define TUTTI_KAMPING_TYPED_RECEIVING_CALL(NAME)                                                    \
  template <class T = void, class... Args> auto NAME(Args&&... args) const {                        \
    using element_hint = std::conditional_t<std::is_same_v<T, bool> && receives_kabool<T, Args...>(), kabool, T>; \
    return make_receiving_call<Container, element_hint>(                                                    \
        [this](auto&&... a) { return to().template NAME<element_hint>(static_cast<decltype(a)&&>(a)...); }, \
        static_cast<Args&&>(args)...);                                                              \
  }
#define TUTTI_KAMPING_REDUCTION(NAME)                                                               \
  template <class... Args> auto NAME(Args&&... args) const {                                        \
    if constexpr (combines_items<Args...>)                                                          \
      return translating([&] { return reduce_items<tutti::collective::NAME, Container>(to(), args...); }); \
    else                                                                                            \
      return make_receiving_call<Container, void>(                                                  \
          [this](auto&&... a) { return to().NAME(static_cast<decltype(a)&&>(a)...); },              \
          of_whole_elements<element_of<void, Args...>>(static_cast<Args&&>(args))...);              \
  }                                                                                                 \
  TUTTI_KAMPING_ITEMLESS(i##NAME) TUTTI_KAMPING_ITEMLESS(NAME##_init)
#define TUTTI_KAMPING_ITEMLESS(NAME)                                                                \
  template <class... Args> auto NAME(Args&&... args) const {                                        \
    validate_items(#NAME, args...);                                                                    \
    return make_receiving_call<Container, void>(                                                    \
        [this](auto&&... a) { return to().NAME(static_cast<decltype(a)&&>(a)...); },                \
        of_whole_elements<element_of<void, Args...>>(static_cast<Args&&>(args))...);                \
  }
#define TUTTI_KAMPING_IN_PLACE(NAME)                                                                \
  template <class... Args> auto NAME##_inplace(Args&&... args) const {                              \
    static_assert(((tutti::detail::parameter_of<std::remove_cvref_t<Args>> ==                       \
                    tutti::parameter::send_recv_buf) || ...),                                       \
                  #NAME "_inplace: needs send_recv_buf");                                           \
    return NAME(static_cast<Args&&>(args)...);                                                      \
  }
#define TUTTI_KAMPING_FORMS(KIND, NAME) KIND(NAME) KIND(i##NAME) KIND(NAME##_init)

  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, barrier)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, bcast)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, bcast_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, gather)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, gatherv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_RECEIVING_CALL, scatter)
  TUTTI_KAMPING_TYPED_RECEIVING_CALL(iscatterv)
  TUTTI_KAMPING_TYPED_RECEIVING_CALL(scatterv_init)
  // send_counts are optional except at the root; the call of tutti would reject their absence.
  template <class T = void, class... Args> auto scatterv(Args&&... args) const {
    using element_hint = std::conditional_t<std::is_same_v<T, bool> && receives_kabool<T, Args...>(), kabool, T>;
    const auto call = [this](auto&&... a) {
      return to().template scatterv<element_hint>(static_cast<decltype(a)&&>(a)...);
    };
    constexpr auto has = [](tutti::parameter name) {
      return ((tutti::detail::parameter_of<std::remove_cvref_t<Args>> == name) || ...);
    };
    if constexpr (has(tutti::parameter::send_buf) && !has(tutti::parameter::send_counts))
      return make_receiving_call<Container, element_hint>(call, static_cast<Args&&>(args)...,
                                                  tutti::send_counts(std::span<const int>()));
    else
      return make_receiving_call<Container, element_hint>(call, static_cast<Args&&>(args)...);
  }
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, scatter_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, allgather)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, allgatherv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, alltoall)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, alltoallv)
  TUTTI_KAMPING_REDUCTION(reduce)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, reduce_single)
  TUTTI_KAMPING_REDUCTION(allreduce)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, allreduce_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, reduce_scatter)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, reduce_scatter_block)
  TUTTI_KAMPING_REDUCTION(scan)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, scan_single)
  TUTTI_KAMPING_REDUCTION(exscan)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, exscan_single)

  // Equivalent to the call of the same name with send_recv_buf.
  TUTTI_KAMPING_IN_PLACE(allgather)
  TUTTI_KAMPING_IN_PLACE(alltoall)
  TUTTI_KAMPING_IN_PLACE(allreduce)
  TUTTI_KAMPING_IN_PLACE(scan)
  TUTTI_KAMPING_IN_PLACE(exscan)

  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, send)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, ssend)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, bsend)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, rsend)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_RECEIVING_CALL, recv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, recv_single)
  TUTTI_KAMPING_TYPED_RECEIVING_CALL(try_recv)
  TUTTI_KAMPING_TYPED_RECEIVING_CALL(sendrecv)
  TUTTI_KAMPING_CALL(probe)
  TUTTI_KAMPING_CALL(iprobe)
#undef TUTTI_KAMPING_FORMS
#undef TUTTI_KAMPING_IN_PLACE
#undef TUTTI_KAMPING_ITEMLESS
#undef TUTTI_KAMPING_REDUCTION
#undef TUTTI_KAMPING_TYPED_RECEIVING_CALL
#undef TUTTI_KAMPING_RECEIVING_CALL
#undef TUTTI_KAMPING_TYPED_CALL
#undef TUTTI_KAMPING_CALL
  // clang-format on

 protected:
  calls() = default;

 private:
  const tutti::communicator& to() const { return static_cast<const Self&>(*this).tutti_communicator(); }
};

}  // namespace kamping::internal
