// SPDX-License-Identifier: Apache-2.0
//
// The local memory that supersteps transfer (tutti/bsp.hpp), given by containers, values and slots;
// and the compile errors for arguments that are not such memory.
#pragma once

#include <span>
#include <type_traits>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/ops.hpp"

TUTTI_API_BEGIN
namespace tutti::bsp {
template <class T, bool Global>
class registration;
}

namespace tutti::detail {

/// Memory without its type.
struct bsp_memory {
  void* data;
  std::size_t count;                    ///< elements
  std::size_t element;                  ///< bytes of one
  bsp::slot registered = bsp::no_slot;  ///< where it is

  std::size_t bytes() const noexcept { return count * element; }
};

template <class S>
inline constexpr bool is_slot = false;
template <class T, bool Global>
inline constexpr bool is_slot<bsp::registration<T, Global>> = true;
template <class S>
inline constexpr bool is_global_slot = false;
template <class T>
inline constexpr bool is_global_slot<bsp::registration<T, true>> = true;

/// It also accepts a const container: the library writes to it only if its elements are not const.
template <class C>
bsp_memory memory_of(C& c) noexcept {
  bsp_memory memory{const_cast<void*>(static_cast<const volatile void*>(data_of(c))), size_of(c),
                    sizeof(element_type<C>)};
  if constexpr (is_slot<std::remove_const_t<C>>) memory.registered = c.number();
  return memory;
}

// --- errors in C, which is `X&` for a variable and `X` for a temporary
template <class C>
inline constexpr bool is_pointer_type =
    std::is_pointer_v<std::remove_cvref_t<C>> || std::is_null_pointer_v<std::remove_cvref_t<C>>;
template <class C>
inline constexpr bool packs_bits = is_packed_bool<std::remove_cvref_t<C>>;
template <class C>
inline constexpr bool is_scattered = argument_shape_of<C>() == argument_shape::scattered && !packs_bits<C>;
template <class C>
consteval bool elements_are_copied() {
  if constexpr (is_pointer_type<C> || argument_shape_of<C>() == argument_shape::scattered)
    return true;  // another error reports it
  else
    return is_copied_bytewise<element_type<C>>;
}
template <class C>
consteval bool elements_hold_addresses() {
  if constexpr (is_pointer_type<C> || argument_shape_of<C>() == argument_shape::scattered ||
                !elements_are_copied<C>())
    return false;
  else
    return holds_address<element_type<C>>();
}
template <class C>
consteval bool elements_are_sendable() {
  return elements_are_copied<C>() && !elements_hold_addresses<C>();
}
template <class C>
consteval bool elements_are_const() {
  if constexpr (is_pointer_type<C> || argument_shape_of<C>() == argument_shape::scattered)
    return false;
  else
    return !is_writable<C>;
}
/// A container that owns its elements, or a value if it is written to.
template <class C, bool Written>
inline constexpr bool destroyed_before_sync =
    !std::is_lvalue_reference_v<C> && !is_pointer_type<C> &&
    argument_shape_of<C>() != argument_shape::scattered &&
    (argument_shape_of<C>() == argument_shape::contiguous
         ? !std::ranges::enable_borrowed_range<std::remove_cvref_t<C>>
         : Written);
template <class C, bool Written>
inline constexpr bool is_valid_memory =
    !is_pointer_type<C> && argument_shape_of<C>() != argument_shape::scattered &&
    elements_are_sendable<C>() && !(Written && elements_are_const<C>()) && !destroyed_before_sync<C, Written>;

/// Memory that is read.
template <class C>
consteval bool validate_src() {
  static_assert(!is_pointer_type<C>, "src: a pointer, not a buffer: pass std::span(p, n)");
  static_assert(!packs_bits<C>, "src: std::vector<bool> packs bits, it has no bools");
  static_assert(!is_scattered<C>, "src: not a contiguous container (data() and size())");
  static_assert(elements_are_copied<C>(), "src: elements are not trivially copyable");
  static_assert(!elements_hold_addresses<C>(),
                "src: elements hold addresses (pointers, views, iterators), which mean nothing elsewhere");
  static_assert(!destroyed_before_sync<C, false>,
                "src: a temporary container, gone before the sync reads it");
  return is_valid_memory<C, false>;
}
/// Memory that is written.
template <class C>
consteval bool validate_dst() {
  static_assert(!is_pointer_type<C>, "dst: a pointer, not a buffer: pass std::span(p, n)");
  static_assert(!packs_bits<C>, "dst: std::vector<bool> packs bits, it has no bools");
  static_assert(!is_scattered<C>, "dst: not a contiguous container (data() and size())");
  static_assert(elements_are_copied<C>(), "dst: elements are not trivially copyable");
  static_assert(!elements_hold_addresses<C>(),
                "dst: elements hold addresses (pointers, views, iterators), which mean nothing elsewhere");
  static_assert(!elements_are_const<C>(), "dst: const, but the sync writes to it");
  static_assert(!destroyed_before_sync<C, true>, "dst: a temporary, gone before the sync writes to it");
  return is_valid_memory<C, true>;
}
/// Memory that is read and written.
template <class C>
consteval bool validate_data() {
  static_assert(!is_pointer_type<C>, "data: a pointer, not a buffer: pass std::span(p, n)");
  static_assert(!packs_bits<C>, "data: std::vector<bool> packs bits, it has no bools");
  static_assert(!is_scattered<C>, "data: not a contiguous container (data() and size())");
  static_assert(elements_are_copied<C>(), "data: elements are not trivially copyable");
  static_assert(!elements_hold_addresses<C>(),
                "data: elements hold addresses (pointers, views, iterators), which mean nothing elsewhere");
  static_assert(!elements_are_const<C>(), "data: const, but the sync writes to it");
  static_assert(!destroyed_before_sync<C, true>, "data: a temporary, gone before the sync writes to it");
  return is_valid_memory<C, true>;
}
/// One such element.
template <class C>
consteval bool validate_value() {
  static_assert(argument_shape_of<C>() == argument_shape::single,
                "value: a container, but combine() takes one element");
  static_assert(!is_pointer_type<C>, "value: a pointer, not an element");
  static_assert(argument_shape_of<C>() != argument_shape::single || elements_are_copied<C>(),
                "value: not trivially copyable");
  static_assert(argument_shape_of<C>() != argument_shape::single || !elements_hold_addresses<C>(),
                "value: holds an address, which means nothing elsewhere");
  static_assert(argument_shape_of<C>() != argument_shape::single || !elements_are_const<C>(),
                "value: const, but the sync writes to it");
  static_assert(argument_shape_of<C>() != argument_shape::single || !destroyed_before_sync<C, true>,
                "value: a temporary, gone before the sync writes to it");
  return argument_shape_of<C>() == argument_shape::single && is_valid_memory<C, true>;
}
/// Memory that is registered.
template <class C>
consteval bool validate_area() {
  static_assert(!is_pointer_type<C>, "area: a pointer, not a buffer: pass std::span(p, n)");
  static_assert(!packs_bits<C>, "area: std::vector<bool> packs bits, it has no bools");
  static_assert(!is_scattered<C>, "area: not a contiguous container (data() and size())");
  static_assert(elements_are_copied<C>(), "area: elements are not trivially copyable");
  static_assert(!elements_hold_addresses<C>(),
                "area: elements hold addresses (pointers, views, iterators), which mean nothing elsewhere");
  static_assert(!elements_are_const<C>(), "area: const, but others may write to it");
  static_assert(!destroyed_before_sync<C, true>, "area: a temporary, gone before anybody can use it");
  return is_valid_memory<C, true>;
}

/// The remote side of a put.
template <class S, class Local>
consteval bool validate_dst_slot() {
  static_assert(is_global_slot<S>, "dst_slot: takes a global slot, as registered() returns it");
  if constexpr (is_global_slot<S>) {
    constexpr bool same = std::is_same_v<typename S::value_type, element_type<Local>>;
    static_assert(same, "dst_slot: its elements are not of the type of src");
    return same;
  }
  return false;
}
/// The remote side of a get.
template <class S, class Local>
consteval bool validate_src_slot() {
  static_assert(is_global_slot<S>, "src_slot: takes a global slot, as registered() returns it");
  if constexpr (is_global_slot<S>) {
    constexpr bool same = std::is_same_v<typename S::value_type, element_type<Local>>;
    static_assert(same, "src_slot: its elements are not of the type of dst");
    return same;
  }
  return false;
}
/// Blocks that are copied from src to dst.
template <class Src, class Dst>
consteval bool validate_blocks() {
  if constexpr (is_valid_memory<Src, false> && is_valid_memory<Dst, true>) {
    constexpr bool same = std::is_same_v<element_type<Src>, element_type<Dst>>;
    static_assert(same, "dst: its elements are not of the type of src");
    return same;
  }
  return validate_src<Src>() && validate_dst<Dst>();
}
template <class T, class F>
consteval bool validate_op() {
  using function = std::decay_t<F>;
  static_assert(combines_elements<T, function>, "op: cannot be called with two elements and return one");
  if constexpr (combines_elements<T, function>) {
    static_assert(!converts_elements<T, function>(),
                  "op: its parameters are not of the element type: elements would be converted");
    static_assert(converts_elements<T, function>() || !narrows_result<T, function>,
                  "op: its result does not fit into an element: return the element type");
    return !converts_elements<T, function>() && !narrows_result<T, function>;
  }
  return false;
}

}  // namespace tutti::detail
TUTTI_API_END
