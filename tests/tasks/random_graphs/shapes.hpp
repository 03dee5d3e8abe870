// SPDX-License-Identifier: Apache-2.0
//
// Tasks of random graphs: a table of shapes, each of which states how a task uses data of which
// types. A kernel reads all that it may, and writes values that depend on all that it read. So a
// wrong order, or old data, changes the values until the end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/tasks.hpp"

namespace graphs {

struct stamp {  // a user type
  std::uint32_t a, b, c;
};
struct add_stamps {
  stamp operator()(const stamp& x, const stamp& y) const { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
};

using numbers = std::span<double>;
using shorts = std::span<std::uint16_t>;

enum class type : std::uint8_t { number, stamp, numbers, shorts };
inline constexpr int types = 4;

template <class T>
inline constexpr type type_of = type::number;
template <>
inline constexpr type type_of<stamp> = type::stamp;
template <>
inline constexpr type type_of<numbers> = type::numbers;
template <>
inline constexpr type type_of<shorts> = type::shorts;

constexpr std::size_t size_of(type t) {
  constexpr std::size_t sizes[] = {sizeof(unsigned), sizeof(stamp), sizeof(double), sizeof(std::uint16_t)};
  return sizes[static_cast<int>(t)];
}

/// The handles of one data object on one rank: the one of its type is set, the others are empty.
struct any_handle {
  tutti::tasks::handle<unsigned> number;
  tutti::tasks::handle<graphs::stamp> stamp;
  tutti::tasks::handle<graphs::numbers> numbers;
  tutti::tasks::handle<graphs::shorts> shorts;

  template <class T>
  auto& get() {
    if constexpr (type_of<T> == type::number)
      return number;
    else if constexpr (type_of<T> == type::stamp)
      return stamp;
    else if constexpr (type_of<T> == type::numbers)
      return numbers;
    else
      return shorts;
  }
};
/// Calls `run` with the handle of the object's type.
template <class Run>
auto with(type t, any_handle& h, Run&& run) {
  switch (t) {
    case type::number:
      return run(h.number);
    case type::stamp:
      return run(h.stamp);
    case type::numbers:
      return run(h.numbers);
    default:
      return run(h.shorts);
  }
}

// --- values
constexpr std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}
inline std::uint64_t bits(unsigned x) { return x; }
inline std::uint64_t bits(std::uint16_t x) { return x; }
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline std::uint64_t bits(const stamp& x) { return (std::uint64_t{x.a} << 32 | x.b) + 7 * x.c; }

// Whole numbers, so that sums of doubles are exact in any order.
inline void set(unsigned& x, std::uint64_t h) { x = static_cast<unsigned>(h); }
inline void set(std::uint16_t& x, std::uint64_t h) { x = static_cast<std::uint16_t>(h >> 20); }
inline void set(double& x, std::uint64_t h) { x = static_cast<double>(h >> 40); }
inline void set(stamp& x, std::uint64_t h) {
  x = {static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(h >> 32),
       static_cast<std::uint32_t>(h >> 16)};
}
inline void contribute(unsigned& x, std::uint64_t h) { x += static_cast<unsigned>(h); }
inline void contribute(std::uint16_t& x, std::uint64_t h) { x = static_cast<std::uint16_t>(x + (h >> 20)); }
inline void contribute(double& x, std::uint64_t h) { x += static_cast<double>(h >> 50); }
inline void contribute(stamp& x, std::uint64_t h) {
  stamp more;
  set(more, h);
  x = add_stamps()(x, more);
}

template <class E>
void mix_in(std::uint64_t& h, std::span<const E> all) {
  for (const E& x : all) h = h * 0x100000001b3u + bits(x);
  h = mixed(h);
}
/// Overwrites all elements, depending on the old values if `keeps` is true.
template <class E>
void overwrite(std::span<E> all, std::uint64_t h, bool keeps) {
  for (E& x : all) {
    h += 0x9e3779b97f4a7c15u;
    set(x, mixed(keeps ? h ^ bits(x) : h));
  }
}

// --- kernels
/// How a task uses one data object.
template <class T, tutti::tasks::use_mode How>
struct uses {
  using value = T;
  static constexpr auto how = How;
  static constexpr auto of = type_of<T>;
};

template <class T>
std::span<T> as_span(T& x) {
  return {&x, 1};
}
template <class E>
std::span<E> as_span(std::span<E> x) {
  return x;
}

template <class... Uses>
struct kernel {
  std::uint64_t salt;
  std::uint64_t* checksum;  // the values that the task read, compared on the rank that ran it

  template <class... Given>
  void operator()(Given&&... given) const {
    std::uint64_t h = mixed(salt);
    (read<Uses>(as_span(given), h), ...);
    *checksum = h;
    (write<Uses>(as_span(given), h), ...);
  }

 private:
  using mode = tutti::tasks::use_mode;
  template <class Use, class E>
  static void read(std::span<E> given, std::uint64_t& h) {
    if constexpr (Use::how == mode::read || Use::how == mode::read_write)
      mix_in(h, std::span<const std::remove_const_t<E>>(given));
  }
  template <class Use, class E>
  static void write(std::span<E> given, std::uint64_t& h) {
    h = mixed(h);
    if constexpr (Use::how == mode::write || Use::how == mode::read_write)
      overwrite(given, h, Use::how == mode::read_write);
    else if constexpr (Use::how == mode::reduce)
      for (std::uint64_t i = 0; E & x : given) contribute(x, mixed(h + i++));
  }
};

// --- shapes
/// The rank selection that is passed to insert().
struct insert_options {
  int on = -1;
  any_handle* owner_of = nullptr;
  type owner_type = type::number;
  bool waits = false;
  std::uint64_t after = 0;
};

struct shape {
  std::vector<type> of;
  std::vector<tutti::tasks::use_mode> how;
  void (*insert)(tutti::tasks::runtime&, any_handle* const* data, const insert_options&, std::uint64_t salt,
                 std::uint64_t* checksum);
  /// The same on plain memory.
  void (*run)(const tutti::tasks::kernel_buffer* buffers, std::uint64_t salt, std::uint64_t* checksum);
};

/// All shapes. The first one uses no data.
const std::vector<shape>& shapes();

/// Writes the first contents of a data object.
void fill(type, std::size_t count, void* memory, std::uint64_t salt);
/// Changes all elements depending on the old values, the same as a task.
void change(type, std::size_t count, void* memory, std::uint64_t salt);

}  // namespace graphs
