// SPDX-License-Identifier: Apache-2.0
//
// Every operation of KaMPIng's Communicator, and the other forms that tutti has of it: each hands its
// parameters to the call of the same name of tutti::communicator, whose documentation says the rest.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/kamping/parameters.hpp"

namespace kamping::internal {

template <class A>
inline constexpr bool is_unwanted = std::is_same_v<std::remove_cvref_t<A>, unwanted>;

template <class A>
inline constexpr bool is_open_recv_buf = false;
template <tutti::detail::flow F, tutti::resize_policy P>
inline constexpr bool
    is_open_recv_buf<tutti::detail::argument<tutti::parameter::recv_buf, F, P, tutti::detail::automatic>> =
        true;

template <class C>
auto new_recv_buf() {
  return tutti::recv_buf<C>();
}
/// recv_buf() asks for the communicator's own kind of container.
template <class C, class A>
decltype(auto) with_container(A&& argument) {
  if constexpr (is_open_recv_buf<std::remove_cvref_t<A>>)
    return new_recv_buf<C>();
  else
    return static_cast<A&&>(argument);
}

/// The arguments without those that are no parameters of the call.
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

/// A call under way gets KaMPIng's name; anything else is returned as it is.
template <class R>
decltype(auto) returned(R&& result) {
  return static_cast<R&&>(result);
}
template <class R>
auto returned(tutti::nonblocking_result<R>&& result) {
  return NonBlockingResult<R>(std::move(result));
}

/// Makes the call f with what is asked for, under KaMPIng's names for errors and results.
template <class F, class... Args>
auto make_call(F&& f, Args&&... args) {
  if constexpr (((is_unwanted<Args> || is_request<Args>) || ...)) {
    const auto call = [&] {
      return std::apply(
          [&](auto&&... taken) { return make_call(f, static_cast<decltype(taken)&&>(taken)...); },
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

/// The same for a call that makes a container where it is passed none: of kind C.
template <template <class...> class C, class T, class F, class... Args>
auto make_receiving_call(F&& f, Args&&... args) {
  using tutti::parameter;
  using tutti::detail::parameter_of;
  constexpr bool given = ((parameter_of<std::remove_cvref_t<Args>> == parameter::recv_buf ||
                           parameter_of<std::remove_cvref_t<Args>> == parameter::send_recv_buf) ||
                          ...);
  using element = tutti::detail::element_of_call<T, std::remove_cvref_t<Args>...>;
  if constexpr (std::is_void_v<element>) {
    return make_call(f, static_cast<Args&&>(args)...);
  } else {
    using container = C<element>;
    if constexpr (std::is_same_v<container, std::vector<element>>)
      return make_call(f, static_cast<Args&&>(args)...);
    else if constexpr (given)
      return make_call(f, with_container<container>(static_cast<Args&&>(args))...);
    else
      return make_call(f, new_recv_buf<container>(), static_cast<Args&&>(args)...);
  }
}

/// The base of Communicator that has the calls. NAME_single, iNAME and NAME_init are forms of NAME
/// (communicator.hpp, messages.hpp); those that KaMPIng does not have are here as well.
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
    return make_call([this](auto&&... a) { return to().template NAME<T>(static_cast<decltype(a)&&>(a)...); }, \
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
    return make_receiving_call<Container, T>(                                                       \
        [this](auto&&... a) { return to().template NAME<T>(static_cast<decltype(a)&&>(a)...); },    \
        static_cast<Args&&>(args)...);                                                              \
  }
#define TUTTI_KAMPING_FORMS(KIND, NAME) KIND(NAME) KIND(i##NAME) KIND(NAME##_init)

  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, barrier)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, bcast)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, bcast_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, gather)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, gatherv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_RECEIVING_CALL, scatter)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_RECEIVING_CALL, scatterv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_TYPED_CALL, scatter_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, allgather)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, allgatherv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, alltoall)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, alltoallv)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, reduce)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, reduce_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, allreduce)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, allreduce_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, reduce_scatter)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, reduce_scatter_block)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, scan)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, scan_single)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_RECEIVING_CALL, exscan)
  TUTTI_KAMPING_FORMS(TUTTI_KAMPING_CALL, exscan_single)

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
