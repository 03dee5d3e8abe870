// SPDX-License-Identifier: Apache-2.0
//
// The result of a call that returns more than the receive buffer.
//
//     parts of the result                          the call returns
//     none (the buffer was an lvalue)              void
//     the receive buffer alone                     the container itself; in _single forms the value
//     anything else                                a call_result<...>
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "tutti/detail/diagnostic.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// One part of a result: the name of a parameter and its value.
template <parameter Name, class T>
struct part {
  static constexpr parameter name = Name;
  using type = T;
};

template <std::size_t I, class Part>
struct slot {
  typename Part::type value;
};

template <class Indices, class... Parts>
struct slots;
template <std::size_t... I, class... Parts>
struct slots<std::index_sequence<I...>, Parts...> : slot<I, Parts>... {};

template <std::size_t I, class Part>
constexpr auto& value_at(slot<I, Part>& s) noexcept {
  return s.value;
}
template <std::size_t I, class Part>
constexpr const auto& value_at(const slot<I, Part>& s) noexcept {
  return s.value;
}
template <std::size_t I, class Part>
Part part_at(const slot<I, Part>&);

/// Throws the error of a second extract_NAME().
[[noreturn]] void reject_extracted(parameter name);

template <class... Parts>
constexpr std::size_t index_of(parameter name) {
  std::size_t i = 0;
  const bool found = ((Parts::name == name || (++i, false)) || ...);
  return found ? i : sizeof...(Parts);
}

}  // namespace detail

/// The owning out parameters of a call, by name or by structured binding. A receive buffer that was
/// not requested by name comes first; the others follow in the order of the arguments.
///
/// Each `extract_NAME()` moves that part out, once, in any order. Extraction of a part that was not
/// requested does not compile. extract_recv_buf() returns the buffer of send_recv_buf if that was
/// given. Nothing is copied or allocated. Throws usage_error if the part is a container and was
/// extracted before.
///
/// ```cpp
/// std::vector<int> v(world.rank() + 1);
/// auto [all, counts] = world.allgatherv(send_buf(v), recv_counts_out());
///
/// auto result = world.allgatherv(send_buf(v), recv_counts_out(), recv_displs_out());
/// std::vector<int> displs = result.extract_recv_displs();
/// assert(result.extract_recv_counts() == counts && result.extract_recv_buf() == all);
/// ```
template <class... Parts>
class [[nodiscard]] call_result {
  template <parameter Name>
  static constexpr std::size_t where = detail::index_of<Parts...>(Name);
  static constexpr std::size_t end = sizeof...(Parts);

 public:
  // For the library.
  template <class... T>
  explicit constexpr call_result(std::in_place_t, T&&... values) : slots_{{static_cast<T&&>(values)}...} {}

  /// Part I, for structured bindings.
  template <std::size_t I>
  constexpr auto& get() & noexcept {
    return detail::value_at<I>(slots_);
  }
  template <std::size_t I>
  constexpr const auto& get() const& noexcept {
    return detail::value_at<I>(slots_);
  }
  template <std::size_t I>
  constexpr auto&& get() && noexcept {
    return std::move(detail::value_at<I>(slots_));
  }

  /// The same as extract_recv_buf().
  constexpr auto extract_recv_buffer() { return extract_recv_buf(); }
// clang-format off
#define TUTTI_ROW(NAME, KIND, TEXT)                                                                         \
  constexpr auto extract_##NAME() {                                                                         \
    constexpr std::size_t index = where<parameter::NAME>;                                                     \
    constexpr std::size_t at = index == end && parameter::NAME == parameter::recv_buf                         \
                                   ? where<parameter::send_recv_buf> : index;                                 \
    if constexpr (at == end) {                                                                              \
      detail::diagnostic<at == end ? detail::problem::not_requested : detail::problem::none, parameter::NAME>{}; \
      return detail::rejected_call_result{};                                                                            \
    } else {                                                                                                \
      note_taken<at>(parameter::NAME);                                                                      \
      return extracted(std::move(*this).template get<at>());                                                    \
    }                                                                                                       \
  }
  TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
  // clang-format on

 private:
  // Whether a second extraction would find the part empty. Numbers, statuses and references stay.
  template <class T>
  static constexpr bool is_extracted_once = !std::is_reference_v<T> && !std::is_trivially_copyable_v<T>;
  struct nothing {};
  using marks = std::conditional_t<(is_extracted_once<typename Parts::type> || ...), unsigned, nothing>;

  template <std::size_t I>
  constexpr void note_taken(parameter name) {
    if constexpr (is_extracted_once<typename decltype(detail::part_at<I>(slots_))::type>) {
      if ((taken_ >> I & 1) != 0) detail::reject_extracted(name);
      taken_ |= 1u << I;
    }
  }
  template <class T>
  static constexpr std::remove_const_t<T> extracted(T&& value) {
    return static_cast<T&&>(value);
  }
  template <class T>
  static constexpr const T& extracted(const T& value) {
    return value;
  }

  detail::slots<std::index_sequence_for<Parts...>, Parts...> slots_;
  [[no_unique_address]] marks taken_{};  // bit I: part I was extracted
};

}  // namespace tutti
TUTTI_API_END

template <class... Parts>
struct std::tuple_size<tutti::call_result<Parts...>> : std::integral_constant<std::size_t, sizeof...(Parts)> {
};
template <std::size_t I, class... Parts>
struct std::tuple_element<I, tutti::call_result<Parts...>> {
  using type = typename decltype(tutti::detail::part_at<I>(
      std::declval<const tutti::detail::slots<std::index_sequence_for<Parts...>, Parts...>&>()))::type;
};
