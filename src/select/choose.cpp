// SPDX-License-Identifier: Apache-2.0
#include "select/choose.hpp"

#include <array>
#include <bit>

#include "tutti/core/error.hpp"

namespace tutti {

bool permits(const pure_algorithm& a, const agreed_signature& s) noexcept {
  if (a.what != s.what) return false;
  if (demands(a.needs, restriction::power_of_two) && !std::has_single_bit(static_cast<unsigned>(s.ranks))) return false;
  if (demands(a.needs, restriction::commutative) && !s.commutative) return false;
  if (demands(a.needs, restriction::builtin_op) && s.op == builtin_op::user) return false;
  if (demands(a.needs, restriction::not_in_place) && s.in_place) return false;
  if (demands(a.needs, restriction::in_place) && !s.in_place) return false;
  if (demands(a.needs, restriction::even_ranks) && s.ranks % 2 != 0) return false;
  if (demands(a.needs, restriction::count_ge_ranks) && s.count < static_cast<std::size_t>(s.ranks)) return false;
  return true;
}

const pure_algorithm* find_algorithm(collective what, std::string_view name) noexcept {
  for (const pure_algorithm* a : catalogue())
    if (a->what == what && (a->name == name || a->short_name() == name)) return a;
  return nullptr;
}

namespace {

const pure_algorithm* permitted(const agreed_signature& s, std::string_view name) noexcept {
  const pure_algorithm* a = find_algorithm(s.what, name);
  return a != nullptr && permits(*a, s) ? a : nullptr;
}

// The fallback in code that each collective has, legal for every signature where one exists (trees come above it).
const pure_algorithm* best_pure(const agreed_signature& s) noexcept {
  switch (s.what) {
    case collective::allreduce:
      if (s.bytes() > 64 * 1024)
        if (const auto* a = permitted(s, "ring")) return a;
      return permitted(s, "recursive_doubling");
    case collective::allgather:
      return permitted(s, s.bytes() * static_cast<std::size_t>(s.ranks) > 32 * 1024 ? "ring" : "bruck");
    default: break;
  }
  for (const pure_algorithm* a : catalogue())
    if (permits(*a, s)) return a;
  return nullptr;
}

// Where messages of the engine carry a schedule, small reductions beat both MPIs' own collectives (docs/performance.md).
bool schedule_beats_native(const agreed_signature& s, const engine_traits& engine) noexcept {
  if (engine.embedded) return false;
  return s.what == collective::allreduce && s.ranks == 2 && s.bytes() <= 1024 && s.bytes() > 0;
}

}  // namespace

choice choose(const agreed_signature& s, const engine_traits& engine, bool native_offered) {
  if (native_offered && !schedule_beats_native(s, engine)) return {};
  if (const pure_algorithm* a = best_pure(s)) return {a};
  if (native_offered) return {};
  throw usage_error(std::string(name_of(s.what)), -1, "", "no algorithm serves this call here",
                    "use an operator that is commutative, or buffers that are not in place");
}

}  // namespace tutti
