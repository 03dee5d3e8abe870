// SPDX-License-Identifier: Apache-2.0
//
// The parameters of each call, and the compile error of a wrong call. Everything is decided before
// the body of a call is instantiated, so that no other error follows.
//
// Longer than a screen: each collective is a case.
#pragma once

#include "tutti/detail/argument.hpp"
#include "tutti/detail/diagnostic.hpp"
#include "tutti/detail/element_of_call.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/form.hpp"
#include "tutti/ops.hpp"

TUTTI_API_BEGIN
namespace tutti {
class status;
}

namespace tutti::detail {

/// The parameters that a call takes.
struct rules {
  parameter_set in;                       // as name(...)
  parameter_set out;                      // as name_out(...)
  parameter_set required;                 // besides the buffer
  parameter buffer = parameter::unnamed;  // what it reads: this, or send_recv_buf if allowed
  bool type_suffices = false;             // ... but not on all ranks: `scatter<T>(root(q))`
  bool needs_type = false;                // that only T or the receive buffer determines
  bool makes = false;                     // a container, if no receive buffer is passed
};

/// The call exchanges, or receives as arguments, the counts of all ranks.
constexpr bool has_rank_counts(collective what) {
  return what == collective::gatherv || what == collective::scatterv || what == collective::allgatherv ||
         what == collective::alltoallv || is_neighborhood(what);
}
/// A call that takes a buffer also takes its layout.
constexpr void add_types(rules& r, bool combines) {
  using enum parameter;
  parameter_set types;
  if (r.in.has(send_buf)) types.add(send_type);
  if (r.out.has(recv_buf)) types.add(recv_type);
  if (r.in.has(send_recv_buf) || combines) types.add(send_recv_type);
  r.in = r.in | types;
  r.out = r.out | types;
}
constexpr rules rules_without_types(collective_form f) {
  using enum parameter;
  rules r;
  r.in.add(parameter::algorithm);
  r.in.add(parameter::composition);
  if (f.how == mode::nonblocking) r.in.add(parameter::request);
  if (f.what == collective::barrier) return r;
  r.makes = true;
  if (is_rooted(f.what)) r.in.add(parameter::root);
  if (!is_neighborhood(f.what)) r.in.add(send_recv_buf);
  if (f.what == collective::bcast) {
    r.buffer = send_recv_buf;
    r.type_suffices = true;
    if (!f.single) {
      r.in.add(send_recv_count);
      r.out = {send_recv_count};
    }
    return r;
  }
  r.buffer = send_buf;
  r.in.add(send_buf);
  r.out.add(send_buf);
  if (combines(f.what)) {
    r.in.add(parameter::op);
    r.required.add(parameter::op);
  }
  if (f.what == collective::exscan) r.in.add(values_on_rank_0);
  if (f.what == collective::scatter || f.what == collective::scatterv) r.type_suffices = true;
  if (f.single) return r;
  r.out.add(recv_buf);
  const auto both_ways = [&r](parameter_set all) { r.in = r.in | all, r.out = r.out | all; };
  switch (f.what) {
    case collective::reduce_scatter:
      r.in = r.in | parameter_set{recv_counts};
      r.required.add(recv_counts);
      break;
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      if (f.equal_blocks) return both_ways({send_count, recv_count}), r;
      if (f.what == collective::neighbor_alltoallv) {
        r.in = r.in | parameter_set{send_counts, send_displs, recv_counts, recv_displs};
        r.out = r.out | parameter_set{send_displs, recv_counts, recv_displs};
        break;
      }
      [[fallthrough]];
    case collective::gatherv:
    case collective::allgatherv:
      both_ways({send_count, recv_counts, recv_displs});
      break;
    case collective::scatterv:
      both_ways({send_counts, send_displs, recv_count});
      break;
    case collective::alltoallv:
      both_ways({send_counts, send_displs, recv_counts, recv_displs});
      break;
    case collective::alltoallw:
      r.in = r.in | parameter_set{send_counts, send_displs, send_types, recv_counts, recv_displs, recv_types};
      r.required = r.required | parameter_set{recv_counts, recv_types};
      break;
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan:
      r.in = r.in | parameter_set{send_count, send_recv_count};
      r.out = r.out | parameter_set{send_recv_count};
      break;
    case collective::reduce_scatter_block:
      r.in = r.in | parameter_set{recv_count, send_recv_count};
      r.out = r.out | parameter_set{recv_count};
      break;
    default:  // gather, scatter, allgather, alltoall
      both_ways({send_count, recv_count, send_recv_count});
  }
  return r;
}

constexpr rules rules_of(collective_form f) {
  rules r = rules_without_types(f);
  if (!f.single && f.what != collective::barrier && f.what != collective::alltoallw)
    add_types(r, combines(f.what));
  return r;
}

struct argument_error {
  problem what = problem::none;
  parameter which = parameter::unnamed;
};

/// The properties of an argument that the validation uses.
struct argument_properties {
  parameter name;
  data_direction direction;
  problem fault;  // error in the argument alone
  bool owning;    // it owns a buffer, or the call makes it: must be kept or returned
  bool fixed;     // a container that is never resized
};
constexpr bool is_buffer_sent(parameter_kind kind) {
  return kind == parameter_kind::in_buffer || kind == parameter_kind::send_buffer;
}
constexpr bool is_container(parameter_kind kind) { return kind <= parameter_kind::counts; }
template <class A>
inline constexpr bool owns_buffer = false;
template <parameter N, data_direction F, resize_policy P, class D>
inline constexpr bool owns_buffer<argument<N, F, P, D>> =
    !std::is_reference_v<D> && (F != data_direction::in || is_buffer_sent(kind_of(N)));

/// The error in one argument alone, in a call on elements of type T (void: not known).
template <class T, class A>
struct argument_problem {
  static constexpr problem value = problem::unnamed;
};
template <class T, parameter N, data_direction F, resize_policy P, class D>
struct argument_problem<T, argument<N, F, P, D>> {
  static constexpr problem value = [] {
    using bare = std::remove_cvref_t<D>;
    constexpr parameter_kind kind = kind_of(N);
    if constexpr (std::is_same_v<D, misuse>) {
      return problem::misused;
    } else if constexpr (holds_object<argument<N, F, P, D>>) {
      return problem::no_objects;  // calls that take objects use object_rules.hpp
    } else if constexpr (N == parameter::op) {
      using function = typename bare::function_type;
      if constexpr (std::is_void_v<T>)
        return problem::none;
      else if constexpr (!combines_elements<T, function>)
        return problem::not_callable;
      else if constexpr (converts_elements<T, function>())
        return problem::op_converts;
      else if constexpr (narrows_result<T, function>)
        return problem::op_narrows;
      else
        return problem::none;
    } else if constexpr (std::is_same_v<bare, automatic>) {
      return problem::none;
    } else if constexpr (kind == parameter_kind::statuses && !std::is_same_v<element_type<D>, status>) {
      return problem::misused;
    } else if constexpr (!is_container(kind)) {
      return F == data_direction::in || !std::is_const_v<std::remove_reference_t<D>> ? problem::none
                                                                                     : problem::constant;
    } else if constexpr (is_pointer<bare>) {
      return problem::pointer;
    } else if constexpr (is_packed_bool<bare>) {
      return problem::packed_bool;
    } else if constexpr (argument_shape_of<D>() == argument_shape::scattered) {
      return problem::scattered;
    } else if constexpr (kind == parameter_kind::counts && argument_shape_of<D>() == argument_shape::single) {
      return problem::not_counts;
    } else {
      using element = element_type<D>;
      if constexpr (kind == parameter_kind::counts) {
        if (!std::is_same_v<element, int> && !std::is_same_v<element, std::size_t>)
          return problem::not_counts;
      } else {
        if (!is_copied_bytewise<element>) return problem::not_bytes;
        if (!is_sendable<element>) return problem::address;
        const bool converts = N == parameter::values_on_rank_0 && becomes_element<element, T>;
        if (!std::is_void_v<T> && !std::is_same_v<element, T> && !converts) return problem::other_type;
      }
      if constexpr (F != data_direction::in) {
        if (!is_writable<D>) return problem::constant;
        constexpr bool resizes = requires(bare & c) { c.resize(std::size_t{1}); };
        if (P != resize_policy::no_resize && !resizes) return problem::no_resize;
      }
      return problem::none;
    }
  }();
};

/// The length that a layout of this name requires; unnamed: the given arguments suffice.
constexpr parameter length_needed(rules r, parameter type, bool in_place, parameter_set given) {
  using enum parameter;
  if (type == recv_type) return unnamed;
  // Blocks of different lengths are counted by parameters that the call requires anyway. Only a
  // rank other than the root that gathers them in place must give the length of its block.
  if (r.in.has(send_counts) || r.required.has(recv_counts)) return unnamed;
  if (in_place && r.in.has(recv_counts)) return r.in.has(root) ? send_count : unnamed;
  for (parameter name : {send_count, send_recv_count, recv_count})
    if (given.has(name) && (name != recv_count || !r.in.has(send_count))) return unnamed;
  return (type == send_type && r.in.has(send_count)) || !r.in.has(send_recv_count) ? send_count
                                                                                   : send_recv_count;
}

constexpr argument_error find_type_error(rules r, bool in_place, parameter_set given,
                                         const argument_properties* arguments, std::size_t n) {
  using enum parameter;
  parameter_set in;
  for (std::size_t i = 0; i < n; ++i)
    if (arguments[i].direction != data_direction::out) in.add(arguments[i].name);
  for (parameter type : {send_type, recv_type, send_recv_type}) {
    if (!in.has(type)) continue;
    if (given.has(send_counts) && !in.has(send_counts)) return {problem::not_out, send_counts};
    const bool both = type == send_recv_type;
    if (in_place && !both) return {problem::in_place, type};
    // A reduction takes it for both buffers.
    const bool for_both_buffers = both && !given.has(send_recv_buf);
    if (for_both_buffers && !r.required.has(parameter::op)) return {problem::missing, send_recv_buf};
    if (for_both_buffers && (in.has(send_type) || in.has(recv_type))) return {problem::twice, type};
    if (type == send_type && !given.has(send_buf)) return {problem::missing, send_buf};
    const parameter length = length_needed(r, type, in_place, in);
    if (length != unnamed && !in.has(length)) return {problem::no_length, length};
    const parameter into = type == recv_type || for_both_buffers ? recv_buf : both ? send_recv_buf : unnamed;
    if (into == unnamed) continue;
    if (!given.has(into)) return {problem::missing, into};
    for (std::size_t i = 0; i < n; ++i)
      if (arguments[i].name == into && !arguments[i].fixed) return {problem::items_resized, into};
  }
  return {};
}

/// Argument A, in a call on elements of type T (void: not known).
template <class T, class A>
inline constexpr argument_properties properties_in{
    parameter_of<A>, direction_of<A>, argument_problem<T, A>::value, owns_buffer<A>, is_fixed<A>};

constexpr argument_error find_error(rules r, bool typed, const argument_properties* arguments,
                                    std::size_t n) {
  parameter_set given, requested;
  for (std::size_t i = 0; i < n; ++i) {
    const argument_properties& a = arguments[i];
    if (a.name == parameter::unnamed) return {problem::unnamed, a.name};
    // These errors must be corrected before the call can be checked further.
    if (a.fault == problem::misused || a.fault == problem::pointer) return {a.fault, a.name};
    const bool returned =
        a.direction == data_direction::out ||
        (a.direction == data_direction::in_out && kind_of(a.name) == parameter_kind::send_buffer);
    if (returned ? !r.out.has(a.name) : !r.in.has(a.name))
      return {r.in.has(a.name) ? problem::not_out : problem::unexpected, a.name};
    if (given.has(a.name)) return {problem::twice, a.name};
    given.add(a.name);
    if (a.direction == data_direction::out) requested.add(a.name);
  }
  for (parameter name : {parameter::send_tag, parameter::recv_tag})
    if (given.has(name) && given.has(parameter::tag)) return {problem::both_tags, name};
  const bool in_place = given.has(parameter::send_recv_buf) && r.buffer != parameter::send_recv_buf;
  if (in_place)
    for (parameter name : {parameter::send_buf, parameter::recv_buf})
      if (given.has(name)) return {problem::in_place, name};
  if (r.buffer != parameter::unnamed && !given.has(r.buffer) && !in_place && !(r.type_suffices && typed))
    return {problem::missing, r.buffer};
  for (std::size_t i = 0; i < std::size(parameter_table); ++i)
    if (r.required.has(static_cast<parameter>(i)) && !given.has(static_cast<parameter>(i)))
      return {problem::missing, static_cast<parameter>(i)};
  // A sender of blocks of different lengths must give the lengths; so must a receiver in place.
  if (r.in.has(parameter::send_counts) && given.has(parameter::send_buf) &&
      !given.has(parameter::send_counts))
    return {problem::missing, parameter::send_counts};
  const parameter recv_lengths =
      r.in.has(parameter::recv_count) ? parameter::recv_count : parameter::recv_counts;
  if (requested.has(parameter::send_counts) && (!given.has(recv_lengths) || requested.has(recv_lengths)))
    return {problem::missing, recv_lengths};
  if (r.in.has(parameter::send_types) && given.has(parameter::send_buf) && !given.has(parameter::send_types))
    return {problem::missing, parameter::send_types};
  if (r.in.has(parameter::recv_counts) && in_place && !given.has(parameter::recv_counts))
    return {problem::missing, parameter::recv_counts};
  if (r.needs_type && !typed) return {problem::no_type, parameter::recv_buf};
  for (std::size_t i = 0; i < n; ++i)
    if (arguments[i].fault != problem::none) return {arguments[i].fault, arguments[i].name};
  if (given.has(parameter::request)) {
    for (std::size_t i = 0; i < n; ++i)
      if (arguments[i].owning) return {problem::request_cannot_own, arguments[i].name};
    if (r.makes && !given.has(parameter::recv_buf) && !given.has(parameter::send_recv_buf))
      return {problem::request_cannot_return,
              r.out.has(parameter::recv_buf) ? parameter::recv_buf : parameter::send_recv_buf};
  }
  return find_type_error(r, in_place, given, arguments, n);
}

/// The error in the call F<T>(Args...).
template <auto F, class T, class... Args>
consteval argument_error error_of_call() {
  constexpr rules r = rules_of(F);
  if constexpr (!std::is_void_v<T> && (std::is_const_v<T> || is_packed_bool<T> || !is_sendable<T>))
    return {problem::no_element, r.buffer == parameter::send_recv_buf ? r.buffer : parameter::recv_buf};
  using element = element_in<F, T, Args...>;
  constexpr bool typed = !std::is_void_v<typename element::type>;
  if constexpr (sizeof...(Args) == 0) {
    return find_error(r, typed, nullptr, 0);
  } else {
    constexpr argument_properties properties[] = {
        properties_in<typename element::template for_argument<Args>, Args>...};
    return find_error(r, typed, properties, sizeof...(Args));
  }
}

}  // namespace tutti::detail
TUTTI_API_END
