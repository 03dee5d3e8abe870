// SPDX-License-Identifier: Apache-2.0
//
// The path of a repeated call. It computes the key of a call before the call is built
// (detail/repeat_call.hpp), so that the library can compare it with the last one. The functions are members
// of frame, which includes this file at its end.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/frame.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

// Whether the call requests no further results, so that it is over when the data has moved.
template <form F, class T, class... Args>
constexpr bool frame<F, T, Args...>::only_moves_data() {
  constexpr bool asks = has_out<recv_counts> || has_out<recv_displs> || has_out<send_counts> ||
                        has_out<send_displs> || has_out<send_count> || has_out<recv_count> ||
                        has_out<send_recv_count>;
  if constexpr (is_barrier)
    return false;
  else
    return F.how == mode::blocking && !F.even && !asks && (explicit_out || F.single) && !has<algorithm> &&
           !has<composition> && !stands_for_object<out_type> && sizeof(T) <= max_keyed_element_bytes;
}

// Whether the operator has no state that must be compared.
template <form F, class T, class... Args>
constexpr bool frame<F, T, Args...>::combines_statelessly() {
  if constexpr (has<op>)
    return std::is_empty_v<
        typename std::remove_cvref_t<decltype(std::declval<frame&>().template data<op>())>::function_type>;
  else
    return false;
}

// Whether a single count describes the call.
template <form F, class T, class... Args>
constexpr bool frame<F, T, Args...>::has_one_count() {
  if (!only_moves_data()) return false;
  switch (F.what) {
    case collective::allreduce:
    case collective::scan:
      return combines_statelessly();
    case collective::bcast:
      return both_ways &&
             (has_in<send_recv_count> || F.single || argument_shape_of<out_type>() == argument_shape::single);
    case collective::allgather:
      return !in_place && !has<recv_count>;
    default:
      return false;
  }
}

// Vector forms whose counts are all given, and of one type.
template <form F, class T, class... Args>
constexpr bool frame<F, T, Args...>::has_all_counts() {
  if (!only_moves_data() || in_place || F.single || !of_one_type()) return false;
  switch (F.what) {
    case collective::gatherv:
    case collective::allgatherv:
    case collective::neighbor_allgatherv:
      return has_in<recv_counts>;
    case collective::scatterv:
      return has_in<recv_count>;
    case collective::alltoallv:
    case collective::neighbor_alltoallv:
      return has_in<recv_counts> && has_in<send_counts>;
    default:
      return false;
  }
}

template <form F, class T, class... Args>
template <parameter N>
constexpr std::size_t frame<F, T, Args...>::width_of() {
  if constexpr (has_in<N>)
    return sizeof(*data_of(std::declval<frame&>().template data<N>()));
  else
    return 0;
}
template <form F, class T, class... Args>
constexpr std::size_t frame<F, T, Args...>::width() {
  std::size_t widest = 0;
  for (std::size_t one :
       {width_of<send_counts>(), width_of<send_displs>(), width_of<recv_counts>(), width_of<recv_displs>()})
    if (one > widest) widest = one;
  return widest;
}
template <form F, class T, class... Args>
constexpr bool frame<F, T, Args...>::of_one_type() {
  for (std::size_t one :
       {width_of<send_counts>(), width_of<send_displs>(), width_of<recv_counts>(), width_of<recv_displs>()})
    if (one != 0 && one != width()) return false;
  return true;
}

template <form F, class T, class... Args>
inline std::uint64_t frame<F, T, Args...>::call_key_of(const call_site& s) {
  constexpr auto given = (has_in<send_displs> ? given_arrays::in_displs : given_arrays::none) |
                         (has_in<recv_displs> ? given_arrays::out_displs : given_arrays::none) |
                         (width() == sizeof(std::size_t) ? given_arrays::wide : given_arrays::none);
  constexpr element type = element_of<T>();
  constexpr std::uint64_t plain = call_key(F.what, type, builtin_op::user, false, in_place, given);
  if constexpr (has<op>) {
    const operation how = operation_for<T>(data<op>());
    return call_key(F.what, type, how.which, how.commutative, in_place, given);
  } else if constexpr (has<root>) {
    return plain | root_bits_of_call_key(data<root>());
  } else if constexpr (is_rooted(F.what)) {
    return plain | root_bits_of_call_key(s.default_root);
  } else {
    return plain;
  }
}

// Whether the container already has the size that the call would give it.
template <form F, class T, class... Args>
inline bool frame<F, T, Args...>::fits_already(std::size_t n) {
  return explicit_out && out_policy() == resize_policy::resize_to_fit ? size_of(out()) == n
                                                                      : size_of(out()) >= n;
}

// A negative count exceeds every buffer, so the general path rejects it.
template <form F, class T, class... Args>
inline bool frame<F, T, Args...>::run_with_one_count(const call_site& s) {
  std::size_t n = in_size();
  if constexpr (has_in<send_recv_count> || has_in<send_count>) {
    n = static_cast<std::size_t>(data<length_name>());
    if (n > in_size()) return false;
  }
  if (F.single && in_size() != 1) return false;
  std::size_t all = n;
  if constexpr (F.what == collective::allgather)
    if (__builtin_mul_overflow(n, static_cast<std::size_t>(s.takes), &all)) return false;
  if (!fits_already(all)) return false;
  combine_function combine = nullptr;
  if constexpr (has<op>) combine = operation_for<T>(data<op>()).combine;
  return detail::run_cached(s.where, call_key_of(s), in_data(), data_of(out()), n, combine);
}

// Returns false if there is not one number for each block.
template <form F, class T, class... Args>
template <parameter Counts, parameter Displs>
inline bool frame<F, T, Args...>::build_arrays(int blocks, const void*& counts, const void*& displs) {
  const auto as_many = [n = static_cast<std::size_t>(blocks)](auto& c) {
    return data_of(c) + size_of(c) == data_of(c) + n;
  };
  counts = displs = data_of(data<Counts>());
  if (!as_many(data<Counts>())) return false;
  if constexpr (has_in<Displs>) {
    displs = data_of(data<Displs>());
    if (!as_many(data<Displs>())) return false;
  }
  return true;
}

template <form F, class T, class... Args>
inline bool frame<F, T, Args...>::build_counted(const call_site& s, counted_call& c) {
  constexpr bool scatters = F.what == collective::scatterv;
  constexpr bool gathers_to_root = F.what == collective::gatherv;
  constexpr bool exchanges = F.what == collective::alltoallv || F.what == collective::neighbor_alltoallv;
  bool at_root = true;
  if constexpr (has<root>)
    at_root = s.rank == data<root>();
  else if constexpr (is_rooted(F.what))
    at_root = s.rank == s.default_root;
  c.input_length = in_size() * sizeof(T);
  c.output_length = size_of(out()) * sizeof(T);
  if constexpr (has_in<send_count>) {
    const auto n = static_cast<std::size_t>(data<send_count>());
    if (n > in_size()) return false;
    c.input_length = n * sizeof(T);
  }
  if constexpr (scatters) {
    const auto n = static_cast<std::size_t>(data<recv_count>());
    if (!fits_already(n)) return false;
    c.output_length = n * sizeof(T);
  }
  c.input = !scatters || at_root ? in_data() : nullptr;
  c.output = !gathers_to_root || at_root ? data_of(out()) : nullptr;
  if constexpr (!exchanges) c.in_counts = c.in_displs = c.out_counts = c.out_displs = nullptr;
  if (!at_root) return true;
  if constexpr (scatters && !has_in<send_counts>) return false;
  if constexpr ((scatters || exchanges) && has_in<send_counts>)
    if (!build_arrays<send_counts, send_displs>(s.gives, c.in_counts, c.in_displs)) return false;
  if constexpr (!scatters)
    if (!build_arrays<recv_counts, recv_displs>(s.takes, c.out_counts, c.out_displs)) return false;
  return true;
}

template <form F, class T, class... Args>
inline bool frame<F, T, Args...>::run_cached(const call_site& s) {
  if constexpr (has_one_count()) {
    return run_with_one_count(s);
  } else {
    constexpr array_sides sides = F.what == collective::scatterv ? array_sides::in
                                  : has_in<send_counts>          ? array_sides::both
                                                                 : array_sides::out;
    counted_call c;
    return build_counted(s, c) && detail::run_cached_with_counts<sides>(s.where, c, call_key_of(s));
  }
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::cache_call(const call_site& s) {
  if constexpr (has_all_counts()) {
    if (substitute_.used()) return;
    counted_call c;
    if (build_counted(s, c)) detail::cache_call(s.where, call_key_of(s), c, call_);
  }
}

}  // namespace tutti::detail
TUTTI_API_END
