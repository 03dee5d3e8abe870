// SPDX-License-Identifier: Apache-2.0
//
// The table of named parameters. Its rows generate the names, the factories (parameters.hpp),
// extract_...() (result.hpp), and the compile errors (collective_rules.hpp). A new parameter is one
// row here, and an entry in the calls that take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "tutti/detail/export.hpp"

// X(name, kind, description). An element is one object of a buffer, such as an int. If a layout is
// given, an item is what one layout describes, and counts count items. A policy is a resize_policy,
// such as no_resize. A call that returns an output takes its name_out(). Kinds whose factories the
// tables of parameters.hpp generate:
//
//     in_buffer      name(container), name(value), name({list})
//     send_buffer    the same, and name_out(std::move(container)), which the call returns
//     out_buffer     name(), name<policy>(container), name<Container>(), and the same as name_out
//     in_out_buffer  name<policy>(container or value)
//     counts         one number per rank: name(container), name({list}); as an output name_out(...)
//     count          one number: name(integer); as an output name_out(), name_out(integer)
//     type           the layout of items: name(layout); as an output name_out(), name_out(layout)
//
// Kinds whose factories are written by hand:
//
//     rank           name(int): root(2)
//     tag            name(int): tag(7)
//     string         name("..."), name(std::string): algorithm("ring")
//     layouts        name(container of layouts)
//     mode           name(send_modes): send_mode(send_modes::synchronous)
//     function       name(callable), name(callable, ops::commutative)
//     status         name_out(), name_out(status); a tutti::status may be passed directly
//     statuses       the same with containers of statuses
//     request        a tutti::request is passed directly
// clang-format off
#define TUTTI_PARAMETERS(X)                                                                              \
  X(send_buf, send_buffer, "the elements to send: a contiguous container, a single value, or a list")    \
  X(recv_buf, out_buffer, "where received elements go; left out: a new container")                       \
  X(send_recv_buf, in_out_buffer, "sent from and received into; the in-place form of a collective")      \
  X(send_count, count, "elements to send (per rank, if equal for all); left out: the whole buffer")      \
  X(recv_count, count, "elements to receive (per rank, if equal for all); left out: inferred")           \
  X(send_recv_count, count, "elements of send_recv_buf, or of a reduction; left out: the whole buffer")  \
  X(send_counts, counts, "elements to send to each rank")                                                \
  X(recv_counts, counts, "elements to receive from each rank; left out: inferred by communication")      \
  X(send_displs, counts, "where each rank's block begins in send_buf; left out: densely packed")         \
  X(recv_displs, counts, "where each rank's block goes in recv_buf; left out: densely packed")           \
  X(send_types, layouts, "the layout of each block that an alltoallw sends")                             \
  X(recv_types, layouts, "the layout of each block that an alltoallw receives")                          \
  X(send_type, type, "the layout of each item of send_buf; left out: that of an element")                \
  X(recv_type, type, "the layout of each item of recv_buf; left out: that of an element")                \
  X(send_recv_type, type, "the layout of each item of send_recv_buf, or of both buffers of a reduction") \
  X(source, rank, "the rank that a message comes from; left out: rank::any")                             \
  X(destination, rank, "the rank that a message goes to")                                                \
  X(tag, tag, "the tag of a message; left out: 0 to send, tags::any to receive")                         \
  X(send_tag, tag, "the tag of the message that a sendrecv sends")                                       \
  X(recv_tag, tag, "the tag of the message that a sendrecv receives")                                    \
  X(send_mode, mode, "when a send is complete: one of send_modes; left out: standard")                   \
  X(status, status, "source, tag and length of the received message")                                    \
  X(statuses, statuses, "the same of several messages")                                                  \
  X(request, request, "receives the pending call; the i... call then returns void")                      \
  X(op, function, "the operator that combines two elements")                                             \
  X(root, rank, "the rank that a rooted collective starts or ends at; left out: 0")                      \
  X(values_on_rank_0, in_buffer, "the result of exscan on rank 0: one value for all elements, or one each")\
  X(algorithm, string, "forces one algorithm, such as \"ring\"; left out: selected")                     \
  X(composition, string, "forces one composition, such as \"node_leader\"; left out: selected")
// clang-format on

TUTTI_API_BEGIN
namespace tutti {

/// Every named parameter. `unnamed`: an argument that is no named parameter.
enum class parameter : std::uint8_t {
#define TUTTI_ROW(NAME, KIND, DESCRIPTION) NAME,
  TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
      unnamed
};

namespace detail {

enum class parameter_kind : std::uint8_t {
  in_buffer,
  send_buffer,
  out_buffer,
  in_out_buffer,
  counts,
  count,
  type,
  rank,
  tag,
  string,
  layouts,
  mode,
  function,
  status,
  statuses,
  request
};

struct parameter_row {
  std::string_view name;
  parameter_kind kind;
  std::string_view description;
};

inline constexpr parameter_row parameter_table[] = {
#define TUTTI_ROW(NAME, KIND, DESCRIPTION) {#NAME, parameter_kind::KIND, DESCRIPTION},
    TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
    // Any kind that no rule tests: this argument is an error.
    {"unnamed", parameter_kind::request, ""}};
static_assert(std::size(parameter_table) <= 64, "a parameter_set has one bit for each parameter");

constexpr const char* parameter_name(parameter name) noexcept {
  return parameter_table[static_cast<std::size_t>(name)].name.data();
}
constexpr parameter_kind kind_of(parameter name) noexcept {
  return parameter_table[static_cast<std::size_t>(name)].kind;
}

/// A set of parameters.
class parameter_set {
 public:
  constexpr parameter_set() = default;
  constexpr parameter_set(std::initializer_list<parameter> names) {
    for (parameter name : names) bits_ |= bit(name);
  }
  constexpr bool has(parameter name) const { return (bits_ & bit(name)) != 0; }
  constexpr void add(parameter name) { bits_ |= bit(name); }
  constexpr void remove(parameter name) { bits_ &= ~bit(name); }
  constexpr bool operator==(const parameter_set&) const = default;
  constexpr friend parameter_set operator|(parameter_set a, parameter_set b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr std::uint64_t bit(parameter name) { return std::uint64_t{1} << static_cast<int>(name); }
  std::uint64_t bits_ = 0;
};

}  // namespace detail
}  // namespace tutti
TUTTI_API_END
