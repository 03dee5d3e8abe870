// SPDX-License-Identifier: Apache-2.0
//
// A compact key of a call, computed before the full `call` is built. The key fits in a register and
// shows whether the call equals the cached call of its collective. Most calls do, and then the full
// `call` is never built.
//
// For front ends, in addition to abi.hpp. A front end uses the cache like this:
//
// ```cpp
// int mine = 1, sum = 0;
// auto plus = op(std::plus<>{});
// const operation how = detail::operation_for<int>(plus.data);
// const auto key = detail::call_key(collective::allreduce, element_of<int>(), how.which,
//                                   how.commutative);
// for (int i = 0; i < 3; ++i) {
//   if (detail::run_cached(&mine, &sum, 1, detail::impl_of(world), key, how.combine)) continue;
//   call c;
//   c.what = collective::allreduce;
//   c.type = element_of<int>();
//   c.count = 1;
//   c.input = &mine;
//   c.output = &sum;
//   c.op = how;
//   detail::run_call(detail::impl_of(world), c);
// }
// assert(sum == world.size());
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The largest element size in bytes that a key can hold.
inline constexpr std::size_t max_cached_element_bytes = 0x7ff;
/// The key of a call that never matches.
inline constexpr std::uint64_t no_call_key = ~std::uint64_t{0};

/// Further contents of a key: which displacements are given, and whether counts are std::size_t.
enum class given_arrays : std::uint8_t { none = 0, in_displs = 1, out_displs = 2, size_t_counts = 4 };
constexpr given_arrays operator|(given_arrays a, given_arrays b) {
  return static_cast<given_arrays>(static_cast<int>(a) | static_cast<int>(b));
}

/// The key: everything that a call must have in common with the cached call, except lengths,
/// counts, buffers and the operator's function. The lowest byte is the collective. Elements have at
/// most max_cached_element_bytes bytes.
constexpr std::uint64_t call_key(collective what, element type, builtin_op which = builtin_op::user,
                                 bool commutative = false, bool in_place = false,
                                 given_arrays given = given_arrays::none) {
  return static_cast<std::uint64_t>(what) | static_cast<std::uint64_t>(type.kind) << 8 |
         static_cast<std::uint64_t>(which) << 12 | static_cast<std::uint64_t>(commutative) << 16 |
         static_cast<std::uint64_t>(in_place) << 17 | static_cast<std::uint64_t>(given) << 18 |
         static_cast<std::uint64_t>(type.size) << 21;
}

/// The bits that a rooted call adds to its key.
constexpr std::uint64_t root_bits_of_call_key(int root) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32;
}

/// Whether the key contains these bits.
constexpr bool has(std::uint64_t key, given_arrays which) {
  return (key >> 18 & static_cast<std::uint64_t>(which)) != 0;
}

/// Executes a call without counts if it equals the cached call of its collective, except for
/// buffers and count. Such a call is as valid as the cached one. Returns true if it was executed.
/// Returns false if nothing was done; the caller then uses run_call().
///
/// The caller ensures that the buffers are not null and hold the count. They are one address in
/// place and in a bcast, and two otherwise. An operator is an empty function object; `combine` is
/// null for calls that combine nothing. The buffers and the count are first, as in MPI's functions,
/// so that they stay in their registers.
bool run_cached(const void* input, void* output, std::size_t count, communicator_impl&, std::uint64_t key,
                combine_function combine);

/// Which counts a call has in arrays: those of sent blocks (in), of received blocks (out), or both.
enum class array_sides : std::uint8_t { in, out, both };

/// A call whose counts are all given, in arrays of int or std::size_t, one for each block that is
/// sent (in) or received (out). If displacements are absent, the pointer to the counts takes their
/// place. Arrays that this rank does not have are null in cache_call(); run_cached_with_counts()
/// does not read them.
struct counted_call {
  std::size_t input_length;   ///< bytes of the input, or those of the count if it is given
  std::size_t output_length;  ///< the same
  const void* in_counts;      ///< the following members have the same meaning as in `call`
  const void* out_counts;
  const void* in_displs;
  const void* out_displs;
};

/// The same for a call with counts: it must have the same counts and lengths as the cached call. If
/// it returns false, the caller validates the call, runs run_call(), and then cache_call(). It may
/// write absent displacements into `c`. Buffers may be null, `output` if nothing is received.
template <array_sides Sides>
bool run_cached_with_counts(const void* input, void* output, counted_call& c, std::uint64_t key,
                            communicator_impl&);
extern template bool run_cached_with_counts<array_sides::in>(const void*, void*, counted_call&, std::uint64_t,
                                                             communicator_impl&);
extern template bool run_cached_with_counts<array_sides::out>(const void*, void*, counted_call&,
                                                              std::uint64_t, communicator_impl&);
extern template bool run_cached_with_counts<array_sides::both>(const void*, void*, counted_call&,
                                                               std::uint64_t, communicator_impl&);
/// Stores a call in the cache: the arguments of the program, and the call that was executed.
void cache_call(communicator_impl&, std::uint64_t key, const void* input, void* output,
                const counted_call& arguments, const call& executed);

}  // namespace tutti::detail
TUTTI_API_END
