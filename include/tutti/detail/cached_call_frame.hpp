// SPDX-License-Identifier: Apache-2.0
//
// The path of a cached call. It computes the key of a call before the call is built
// (detail/call_key.hpp), so that the library can compare it with the cached call. The functions are
// members of `frame` (frame.hpp), the object that holds one collective call. frame.hpp includes
// this file at its end.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/frame.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

// Whether the call is blocking and its only result is the data in its buffer. Then it returns no
// counts or displacements, and forces no algorithm.
template <collective_form F, class T, class... Args>
constexpr bool collective_frame<F, T, Args...>::has_no_extra_outputs() {
  constexpr bool requests_outputs = has_out<recv_counts> || has_out<recv_displs> || has_out<send_counts> ||
                                    has_out<send_displs> || has_out<send_count> || has_out<recv_count> ||
                                    has_out<send_recv_count>;
  if constexpr (is_barrier)
    return false;
  else
    return F.how == mode::blocking && !F.equal_blocks && !requests_outputs && (explicit_out || F.single) &&
           !has<algorithm> && !has<composition> && !is_object_buffer<out_type> &&
           sizeof(T) <= max_cached_element_bytes;
}

// Whether the operator has no state that must be compared.
template <collective_form F, class T, class... Args>
constexpr bool collective_frame<F, T, Args...>::operator_is_stateless() {
  if constexpr (has<op>)
    return std::is_empty_v<typename std::remove_cvref_t<
        decltype(std::declval<collective_frame&>().template data<op>())>::function_type>;
  else
    return false;
}

// Whether a single count describes the call.
template <collective_form F, class T, class... Args>
constexpr bool collective_frame<F, T, Args...>::has_one_count() {
  if (!has_no_extra_outputs()) return false;
  switch (F.what) {
    case collective::allreduce:
    case collective::scan:
      return operator_is_stateless();
    case collective::bcast:
      return uses_send_recv_buf &&
             (has_in<send_recv_count> || F.single || argument_shape_of<out_type>() == argument_shape::single);
    case collective::allgather:
      return !in_place && !has<recv_count>;
    default:
      return false;
  }
}

// Vector forms whose counts are all given, and of one type.
template <collective_form F, class T, class... Args>
constexpr bool collective_frame<F, T, Args...>::has_all_counts() {
  if (!has_no_extra_outputs() || in_place || F.single || !counts_have_one_type()) return false;
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

// The size of one count of the argument N; 0: it is not given.
template <collective_form F, class T, class... Args>
template <parameter N>
constexpr std::size_t collective_frame<F, T, Args...>::count_type_size() {
  if constexpr (has_in<N>)
    return sizeof(*data_of(std::declval<collective_frame&>().template data<N>()));
  else
    return 0;
}
template <collective_form F, class T, class... Args>
constexpr std::size_t collective_frame<F, T, Args...>::max_count_type_size() {
  std::size_t largest = 0;
  for (std::size_t one : {count_type_size<send_counts>(), count_type_size<send_displs>(),
                          count_type_size<recv_counts>(), count_type_size<recv_displs>()})
    if (one > largest) largest = one;
  return largest;
}
template <collective_form F, class T, class... Args>
constexpr bool collective_frame<F, T, Args...>::counts_have_one_type() {
  for (std::size_t one : {count_type_size<send_counts>(), count_type_size<send_displs>(),
                          count_type_size<recv_counts>(), count_type_size<recv_displs>()})
    if (one != 0 && one != max_count_type_size()) return false;
  return true;
}

template <collective_form F, class T, class... Args>
inline std::uint64_t collective_frame<F, T, Args...>::call_key_of(const collective_caller& s) {
  constexpr bool uses_size_t = max_count_type_size() == sizeof(std::size_t);
  constexpr auto given = (has_in<send_displs> ? given_arrays::in_displs : given_arrays::none) |
                         (has_in<recv_displs> ? given_arrays::out_displs : given_arrays::none) |
                         (uses_size_t ? given_arrays::size_t_counts : given_arrays::none);
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

// Whether the output needs no resize.
template <collective_form F, class T, class... Args>
inline bool collective_frame<F, T, Args...>::has_required_size(std::size_t n) {
  return explicit_out && out_policy() == resize_policy::resize_to_fit ? size_of(out()) == n
                                                                      : size_of(out()) >= n;
}

// Returns false if the call is not executed. Then set_up() and run_call() follow.
template <collective_form F, class T, class... Args>
inline bool collective_frame<F, T, Args...>::run_with_one_count(const collective_caller& s) {
  std::size_t n = in_size();
  if constexpr (has_in<send_recv_count> || has_in<send_count>) {
    n = static_cast<std::size_t>(data<length_name>());
    if (n > in_size()) return false;  // also a negative count, which set_up() then rejects
  }
  if (F.single && in_size() != 1) return false;
  std::size_t all = n;
  if constexpr (F.what == collective::allgather)
    if (__builtin_mul_overflow(n, static_cast<std::size_t>(s.recv_blocks), &all)) return false;
  if (!has_required_size(all)) return false;
  const void* const input = in_data();
  void* const output = data_of(out());
  if (input == nullptr) return false;
  if constexpr (!uses_send_recv_buf)
    if (output == nullptr || input == output) return false;
  combine_function combine = nullptr;
  if constexpr (has<op>) combine = operation_for<T>(data<op>()).combine;
  return detail::run_cached(input, output, n, s.where, call_key_of(s), combine);
}

// Finds the arrays of counts and displacements. Without displacements `displs` is `counts`, as
// counted_call requires. Returns false if there is not one number for each block.
template <collective_form F, class T, class... Args>
template <parameter Counts, parameter Displs>
inline bool collective_frame<F, T, Args...>::find_count_arrays(int blocks, const void*& counts,
                                                               const void*& displs) {
  // Compares ends in place of sizes: that spares the division by the element size in size().
  const auto has_one_per_block = [n = static_cast<std::size_t>(blocks)](auto& c) {
    return data_of(c) + size_of(c) == data_of(c) + n;
  };
  counts = displs = data_of(data<Counts>());
  if (!has_one_per_block(data<Counts>())) return false;
  if constexpr (has_in<Displs>) {
    displs = data_of(data<Displs>());
    if (!has_one_per_block(data<Displs>())) return false;
  }
  return true;
}

template <collective_form F, class T, class... Args>
inline bool collective_frame<F, T, Args...>::build_counted_call(const collective_caller& s,
                                                                const void*& input, void*& output,
                                                                counted_call& c) {
  // The root of a scatterv sends blocks, the root of a gatherv receives them. In an exchange every
  // rank does both. In the other collectives every rank receives them.
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
    if (!has_required_size(n)) return false;
    c.output_length = n * sizeof(T);
  }
  input = !scatters || at_root ? in_data() : nullptr;
  output = !gathers_to_root || at_root ? data_of(out()) : nullptr;
  if (!at_root) return true;
  if constexpr (scatters && !has_in<send_counts>) return false;
  if constexpr ((scatters || exchanges) && has_in<send_counts>)
    if (!find_count_arrays<send_counts, send_displs>(s.send_blocks, c.in_counts, c.in_displs)) return false;
  if constexpr (!scatters)
    if (!find_count_arrays<recv_counts, recv_displs>(s.recv_blocks, c.out_counts, c.out_displs)) return false;
  return true;
}

template <collective_form F, class T, class... Args>
inline bool collective_frame<F, T, Args...>::run_cached(const collective_caller& s) {
  if constexpr (has_one_count()) {
    return run_with_one_count(s);
  } else {
    constexpr array_sides sides = F.what == collective::scatterv ? array_sides::in
                                  : has_in<send_counts>          ? array_sides::both
                                                                 : array_sides::out;
    const void* input;
    void* output;
    counted_call c;
    return build_counted_call(s, input, output, c) &&
           detail::run_cached_with_counts<sides>(input, output, c, call_key_of(s), s.where);
  }
}

// Stores a call with counts. run_call() itself stores the others. A call that took part with
// substitute buffers must not be repeated.
template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::cache_call(const collective_caller& s) {
  if constexpr (has_all_counts()) {
    if (substitute_.in_use()) return;
    const void* input;
    void* output;
    counted_call c{};
    if (build_counted_call(s, input, output, c))
      detail::cache_call(s.where, call_key_of(s), input, output, c, call_);
  }
}

}  // namespace tutti::detail
TUTTI_API_END
