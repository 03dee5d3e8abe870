// SPDX-License-Identifier: Apache-2.0
//
// A digest of a call for checked mode: all arguments that must be equal on all ranks, in a few
// words. Ranks exchange digests as bytes. checked_mode is the only user.
#pragma once

#include <cstdint>
#include <string>

#include "tutti/call.hpp"
#include "tutti/detail/call_site.hpp"

namespace tutti::detail {

struct call_digest {
  std::uint8_t what, kind, op, commutative, in_place, rejected;
  std::uint16_t on_behalf;
  std::int32_t root;
  std::uint64_t count, element, algorithm, counts;
  std::uint64_t code, module;  // of an operator of the program
  // The beginning of the names of algorithm and composition, if the call gives them. For what makes
  // a communicator, the name of the operation.
  char named[40];
  // The location of the call in the program, and the call of several steps that makes it. They are
  // not compared.
  char place[56], enclosing[32];
};

/// `ranks`, `inter`: of the communicator. `rejected`: this rank rejects its arguments, so that
/// those that may be invalid are left out.
call_digest digest_of(const call& c, int ranks, bool inter, bool rejected, const current_call& now);
/// For an operation that makes a communicator.
call_digest digest_of(const char* operation, const current_call& now);

/// Whether ranks with these digests may call together.
bool same(const call_digest& a, const call_digest& b) noexcept;

/// "bcast of 3 elements of 4 bytes, root 1 at program.cpp:7". Of a step of another call:
/// "sort_globally (its allreduce of 1 elements of 8 bytes (u64), sum) at program.cpp:7"
std::string describe(const call_digest& d);

/// FNV-1a: equal for equal values, and in all likelihood different for others.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 1099511628211u;
}
/// 0 for null.
std::uint64_t hash_of(const char* text) noexcept;

}  // namespace tutti::detail
