// SPDX-License-Identifier: Apache-2.0
//
// The common base of the frames of collectives (frame.hpp) and of messages (message_frame.hpp). It
// finds the arguments by name, holds the receiving container, whether the caller or the call made
// it, and builds the result.
#pragma once

#include <type_traits>
#include <utility>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/inference.hpp"
#include "tutti/result.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

template <class... Parts>
struct part_list {};
template <class... A, class... B>
part_list<A..., B...> operator+(part_list<A...>, part_list<B...>);

template <class... Parts>
struct result_of_parts {
  using type = call_result<Parts...>;
};
template <>
struct result_of_parts<> {
  using type = void;
};
template <class T>
struct result_of_parts<part<parameter::recv_buf, T>> {
  using type = T;
};
template <class T>
struct result_of_parts<part<parameter::send_recv_buf, T>> {
  using type = T;
};
template <class T>  // of front ends that return it (kamping.hpp)
struct result_of_parts<part<parameter::send_buf, T>> {
  using type = T;
};

/// - NewContainer: the container that the call makes if no receive buffer is passed (void: it
///   receives nothing).
/// - NewPart: the type in which it is returned.
/// - Out: the parameter that names the receive buffer.
/// - ByReference: containers are returned as references into the frame, which is used again.
template <class NewContainer, class NewPart, parameter Out, bool ByReference, class... Args>
class frame_base {
 protected:
  struct nothing {};

  template <class... U>
  explicit frame_base(U&&... arguments) : args_{{static_cast<U&&>(arguments)}...} {}
  frame_base(const frame_base&) = delete;
  frame_base& operator=(const frame_base&) = delete;
  ~frame_base() = default;

  // --- the arguments
  template <parameter N>
  static constexpr bool has = ((parameter_of<std::remove_reference_t<Args>> == N) || ...);
  template <parameter N>
  static constexpr bool has_out = ((parameter_of<std::remove_reference_t<Args>> == N &&
                                    direction_of<std::remove_reference_t<Args>> == data_direction::out) ||
                                   ...);
  template <parameter N>
  static constexpr bool has_in = has<N> && !has_out<N>;
  template <parameter N>
  static constexpr bool owns =
      ((parameter_of<std::remove_reference_t<Args>> == N && std::remove_reference_t<Args>::owning) || ...);
  template <parameter N>
  static constexpr bool is_automatic() {
    return ((std::is_same_v<std::remove_cvref_t<decltype(std::declval<Args&>().data)>, automatic> &&
             parameter_of<std::remove_reference_t<Args>> == N) ||
            ...);
  }
  template <parameter N>
  static constexpr resize_policy policy_of() {
    resize_policy found = resize_policy::no_resize;
    ((parameter_of<std::remove_reference_t<Args>> == N ? void(found = std::remove_reference_t<Args>::policy)
                                                       : void()),
     ...);
    return found;
  }
  template <parameter N>
  auto& data() noexcept {
    return get<N>(args_).data;
  }

  // --- receive buffers
  static constexpr bool receives = !std::is_void_v<NewContainer>;
  static constexpr bool explicit_out = has<Out> && !is_automatic<Out>();
  // If no argument requests the received data, they are the first part of the result.
  static constexpr bool new_part_first = receives && !has<Out>;
  using made = std::conditional_t<explicit_out || !receives, nothing, NewContainer>;

  auto& out() noexcept {
    if constexpr (explicit_out)
      return data<Out>();
    else
      return made_;
  }
  static auto type_of_out() {
    if constexpr (explicit_out)
      return std::type_identity<
          std::remove_reference_t<decltype(get<Out>(std::declval<argument_set<Args...>&>()).data)>>{};
    else
      return std::type_identity<made>{};
  }
  using out_type = typename decltype(type_of_out())::type;
  static constexpr resize_policy out_policy() {
    if constexpr (argument_shape_of<out_type>() != argument_shape::contiguous)
      return resize_policy::no_resize;
    else
      return explicit_out ? policy_of<Out>() : resize_policy::resize_to_fit;
  }
  /// Returns memory for n elements of `bytes` bytes each, as far as the policy allows.
  void* reserve(caller s, std::size_t n, std::size_t bytes) {
    if (n > PTRDIFF_MAX / bytes) reject_overflow(s, Out, n);
    if (!fit<out_policy()>(out(), n)) reject_size(s, Out, size_of(out()), n);
    return data_of(out());
  }

  // --- further requested results
  template <parameter N>
  void put_count(caller s, std::size_t n) {
    if constexpr (has_out<N>) {
      using number = std::remove_cvref_t<decltype(data<N>())>;
      data<N>() = static_cast<number>(n);
      if (data<N>() < 0 || static_cast<std::size_t>(data<N>()) != n) reject_narrow(s, N, n);
    } else {
      (void)s, (void)n;
    }
  }

  // --- the result
  template <class C>
  using returned =
      std::conditional_t<ByReference && argument_shape_of<C>() == argument_shape::contiguous, const C&, C>;
  using new_part = std::conditional_t<std::is_same_v<NewContainer, NewPart>, returned<made>, NewPart>;

  template <parameter N, class Object>
  static constexpr auto part_of_object() {
    if constexpr (std::is_void_v<Object>)
      return part_list<>{};
    else
      return part_list<part<N, Object>>{};
  }
  template <class Argument>
  static constexpr auto part_of_argument() {
    if constexpr (!Argument::owning || Argument::direction == data_direction::in)
      return part_list<>{};
    else if constexpr (is_object_buffer<typename Argument::data_type>)
      return part_of_object<Argument::name, typename Argument::data_type::unpacked_object>();
    else if constexpr (std::is_same_v<typename Argument::data_type, automatic>)
      return part_list<part<Argument::name, new_part>>{};
    else
      return part_list<part<Argument::name, returned<typename Argument::data_type>>>{};
  }
  static constexpr auto first_part() {
    if constexpr (new_part_first)
      return part_list<part<Out, new_part>>{};
    else
      return part_list<>{};
  }
  using parts = decltype((first_part() + ... + part_of_argument<std::remove_reference_t<Args>>()));

  template <class List>
  struct result_from;
  template <class... Parts>
  struct result_from<part_list<Parts...>> : result_of_parts<Parts...> {};

  template <class Part>
  auto& held() noexcept {
    if constexpr (Part::name == parameter::recv_buf || Part::name == parameter::send_recv_buf)
      return this->out();
    else
      return this->template data<Part::name>();
  }
  /// Moves one part of the result out of the frame.
  template <class Part>
  typename Part::type extract() {
    if constexpr (is_object_buffer<std::remove_cvref_t<decltype(held<Part>())>>)
      return std::move(held<Part>().object());
    else if constexpr (ByReference)
      return held<Part>();
    else
      return std::move(held<Part>());
  }
  /// The result, built from the parts of `self`, which is this frame.
  template <class Self, class... Parts>
  static auto make_result(Self& self, part_list<Parts...>) -> typename result_of_parts<Parts...>::type {
    using type = typename result_of_parts<Parts...>::type;
    if constexpr (std::is_void_v<type>)
      return;
    else if constexpr ((std::is_same_v<typename Parts::type, type> && ...) && sizeof...(Parts) == 1)
      return (self.template extract<Parts>(), ...);
    else
      return type(std::in_place, self.template extract<Parts>()...);
  }

 public:
  using result_type = typename result_from<parts>::type;

 private:
  argument_set<Args...> args_;
  [[no_unique_address]] made made_{};
};

}  // namespace tutti::detail
TUTTI_API_END
