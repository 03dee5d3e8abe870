// SPDX-License-Identifier: Apache-2.0
//
// What a call says of itself before it is laid down as `call`: enough to tell whether it is like the last one
// of its collective, in a few words that fit registers. Most calls are, and then nothing else is written.
//
// For front ends, beside port.hpp. A call of theirs that may be repeated:
//
// ```cpp
// int mine = 1, sum = 0;
// auto plus = op(std::plus<>{});
// const operation how = detail::operation_for<int>(plus.data);
// const auto key = detail::likeness(collective::allreduce, element_of<int>(), how.which, how.commutative);
// for (int i = 0; i < 3; ++i) {
//   if (detail::run_like_last(world.native(), key, &mine, &sum, 1, how.combine)) continue;
//   call c;
//   c.what = collective::allreduce;
//   c.type = element_of<int>();
//   c.count = 1;
//   c.input = &mine;
//   c.output = &sum;
//   c.op = how;
//   detail::run_call(world.native(), c);
// }
// assert(sum == world.size());
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/core/port.hpp"

namespace tutti::detail {

/// Elements of more bytes have no likeness.
inline constexpr std::size_t most_alike = 0x7ff;
/// That of no call.
inline constexpr std::uint64_t never_alike = ~std::uint64_t{0};

/// What stands in a likeness besides: which displacements are given, and that numbers are std::size_t.
enum class given_numbers : std::uint8_t { none = 0, in_displs = 1, out_displs = 2, wide = 4 };
constexpr given_numbers operator|(given_numbers a, given_numbers b) {
  return static_cast<given_numbers>(static_cast<int>(a) | static_cast<int>(b));
}

/// All that calls must have alike but lengths, counts, buffers and the operator's function, as one number;
/// the collective is its lowest byte. Of elements up to most_alike bytes.
constexpr std::uint64_t likeness(collective what, element type, builtin_op which = builtin_op::user,
                                 bool commutative = false, bool in_place = false,
                                 given_numbers given = given_numbers::none) {
  return static_cast<std::uint64_t>(what) | static_cast<std::uint64_t>(type.kind) << 8 |
         static_cast<std::uint64_t>(which) << 12 | static_cast<std::uint64_t>(commutative) << 16 |
         static_cast<std::uint64_t>(in_place) << 17 | static_cast<std::uint64_t>(given) << 18 |
         static_cast<std::uint64_t>(type.size) << 21;
}

/// What a rooted call's likeness has besides.
constexpr std::uint64_t likeness_of_root(int root) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32;
}

/// Whether it has that.
constexpr bool has(std::uint64_t like, given_numbers which) {
  return (like >> 18 & static_cast<std::uint64_t>(which)) != 0;
}

/// A call without counts that is like the last one of its collective, but for its buffers and its count, is
/// as right as that was: carries it out, and returns true. False: nothing was done; run_call() it. The caller
/// has seen that its buffers hold what the count says, and that the operator's function object is empty.
/// `combine` null: of calls that combine nothing.
bool run_like_last(core&, std::uint64_t like, const void* input, void* output, std::size_t count,
                   combine_function combine);

/// Which arrays of numbers a call has: for what it gives, for what it takes.
enum class number_sides : std::uint8_t { in, out, both };

/// A call with counts that are all given, in arrays of int or std::size_t, one for each block that is given
/// (in) or taken (out). Null: this rank has no such array. In place of displacements that are left out stand
/// the counts.
struct counted_call {
  const void* input;          ///< as in `call`, and so on
  void* output;               ///< null where nothing is received
  std::size_t input_length;   ///< bytes that are there, or that the count says where that is given
  std::size_t output_length;  ///< the same
  const void* in_counts;
  const void* in_displs;
  const void* out_counts;
  const void* out_displs;
};

/// The same of a call with counts: like the last one with the same numbers and the same lengths. After false:
/// check it, run_call() it, and then keep_like(). May write displacements that were left out into `c`.
template <number_sides Sides>
bool run_counted_like_last(core&, counted_call& c, std::uint64_t like);
extern template bool run_counted_like_last<number_sides::in>(core&, counted_call&, std::uint64_t);
extern template bool run_counted_like_last<number_sides::out>(core&, counted_call&, std::uint64_t);
extern template bool run_counted_like_last<number_sides::both>(core&, counted_call&, std::uint64_t);
/// `c` as it was before; `made` as it was carried out.
void keep_like(core&, std::uint64_t like, const counted_call& c, const call& made);

}  // namespace tutti::detail
