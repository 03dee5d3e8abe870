// SPDX-License-Identifier: Apache-2.0
//
// Defines the cases.
#include <string>
#include <vector>

#include "communicator/make_communicators.hpp"
#include "communicator/rank_state.hpp"
#include "schedule/algorithm.hpp"
#include "support/algorithm_cases.hpp"
#include "support/algorithm_cases/one_call.hpp"

namespace tests {
namespace {

template <class T>
constexpr const char* type_name = "affine";
template <>
constexpr const char* type_name<std::uint64_t> = "u64";
template <>
constexpr const char* type_name<std::uint8_t> = "u8";

template <class T>
std::string name_of_case(const call_case& w) {
  std::string name = w.name + "/" + type_name<T>;
  if (combines(w.what)) name += std::string("/") + kind_names[static_cast<std::size_t>(w.op)];
  return name + (w.in_place ? "/in_place" : "") + (w.nonblocking ? "/nonblocking" : "") + "/root_" +
         std::to_string(w.root) + "/count_" + std::to_string(w.count);
}

// With many ranks, there are fewer roots and counts.
std::vector<int> roots_for(collective what, int size) {
  std::vector<int> roots{0};
  if (!is_rooted(what)) return roots;
  if (size > 1) roots.push_back(size - 1);
  if (size > 2) roots.push_back(size / 2);
  if (size <= 5)
    for (int r = 1; r < size - 1; ++r)
      if (r != size / 2) roots.push_back(r);
  return roots;
}
std::vector<std::size_t> counts_for(coverage extent, int size) {
  if (extent == coverage::some) return {static_cast<std::size_t>(size) + 2};
  if (size > 8) return {0, 1, 3, 17};
  return {0, 1, 3, 17, 200, 3001};  // with cells and rendezvous
}

// Returns whether the restrictions of the algorithm, composition or engine permit the call.
template <class T>
bool serves(detail::communicator_impl& comm, const call_case& w) {
  agreed_signature s;
  s.what = w.what;
  s.ranks = detail::size_of(comm);
  s.count = w.count;
  s.element_size = sizeof(T);
  s.kind = element_of<T>().kind;
  s.op = operator_of<T>(w.op).which;
  s.commutative = !combines(w.what) || w.op != kind::ordered;
  s.in_place = w.in_place;
  if (w.composed) return permits(read_composition(w.what, w.name), detail::selection_context_of(comm, s));
  return w.name.ends_with("/native") ? detail::offers_native(comm, s) != native_offer::none
                                     : permits(read_choice(w.what, w.name), s);
}

// Runs all calls that the restrictions of one name permit, in the same order on all ranks.
template <class T>
void try_all_of(detail::communicator_impl& comm, cases& cases, const std::string& name, collective what,
                coverage extent, bool composed = false) {
  for (const kind op : kinds) {
    if (op != kind::commuting && !combines(what)) continue;
    if (std::is_same_v<T, affine> ? op == kind::builtin : op == kind::ordered) continue;
    if (op == kind::lambda && extent == coverage::some) continue;
    for (const bool in_place : {false, true}) {
      if (in_place && (what == collective::barrier || what == collective::bcast)) continue;
      // A rank's result may overlap operands that others read, so the embedded engines leave this
      // case to schedules. Native collectives of an MPI do not accept operators of tutti.
      if (in_place && name.ends_with("/native") && what == collective::reduce_scatter_block) continue;
      for (const int root : roots_for(what, detail::size_of(comm)))
        for (const std::size_t count : counts_for(extent, detail::size_of(comm)))
          for (const bool nonblocking : {false, true}) {
            const call_case w{name, what, op, in_place, nonblocking, root, count, composed};
            if (serves<T>(comm, w))
              cases([&] { return name_of_case<T>(w); }, [&] { one_call<T>(comm, w).check(); });
          }
    }
  }
}

// Returns the name with other values of its parameters.
std::vector<std::string> variants(const catalogue_entry& a, int size) {
  std::vector<std::string> all;
  for (const algorithm_parameter_range& one : a.parameters) {
    std::vector<std::uint32_t> values;
    switch (one.which) {
      case algorithm_parameter::segment:
        values = {32, 48};
        break;
      case algorithm_parameter::region:
        for (int r = 1; r <= size; ++r)
          if (size % r == 0) values.push_back(static_cast<std::uint32_t>(r));
        break;
      case algorithm_parameter::aggregate:
        values = {1, 2, 4};
        break;
      default:
        values = {1, 3, static_cast<std::uint32_t>(size)};
    }
    for (const std::uint32_t v : values)
      if (v >= one.min && v <= one.max && v != one.default_value)
        all.push_back(std::string(a.name) + ":" + std::string(name_of(one.which)) + "=" + std::to_string(v));
  }
  return all;
}

coverage coverage_if_combining(collective what) { return combines(what) ? coverage::all : coverage::some; }

}  // namespace

void try_algorithm(detail::communicator_impl& comm, cases& cases, const pure_algorithm& a) {
  if (is_neighborhood(a.what) || has_restriction(a.restrictions, restriction::inter)) return;
  const std::string name(a.name);
  try_all_of<affine>(comm, cases, name, a.what, coverage::all);
  try_all_of<std::uint64_t>(comm, cases, name, a.what, coverage_if_combining(a.what));
  try_all_of<std::uint8_t>(comm, cases, name, a.what, coverage::some);
  for (const std::string& other : variants(a, detail::size_of(comm))) {
    try_all_of<affine>(comm, cases, other, a.what, coverage::some);
    if (combines(a.what)) try_all_of<std::uint64_t>(comm, cases, other, a.what, coverage::some);
  }
}

void try_every_algorithm(detail::communicator_impl& comm, cases& cases) {
  for (const pure_algorithm* a : catalogue()) try_algorithm(comm, cases, *a);
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    if (is_neighborhood(what)) continue;
    const std::string name = std::string(collective_names[i]) + "/native";
    try_all_of<affine>(comm, cases, name, what, coverage::all);
    try_all_of<std::uint64_t>(comm, cases, name, what, coverage_if_combining(what));
  }
}

void try_composition(detail::communicator_impl& comm, cases& cases, const composed_algorithm& a,
                     coverage extent) {
  const std::string name(a.name);
  try_all_of<affine>(comm, cases, name, a.what, detail::size_of(comm) <= 6 ? extent : coverage::some, true);
  if (extent == coverage::some) return;
  try_all_of<std::uint64_t>(comm, cases, name, a.what, coverage::some, true);
  for (const std::string& other : variants(a, detail::size_of(comm)))
    try_all_of<affine>(comm, cases, other, a.what, coverage::some, true);
}

void try_every_composition(detail::communicator_impl& comm, cases& cases, coverage extent) {
  for (const composed_algorithm* a : composition_catalogue()) try_composition(comm, cases, *a, extent);
}

void run_with_world(endpoint& ep, const std::function<void(detail::communicator_impl&, cases&)>& program) {
  auto shared = std::make_shared<detail::rank_state>();
  shared->ep = &ep;
  shared->by = std::make_shared<const selection>();
  const auto world = detail::make_world(shared);
  cases all;
  program(*world, all);
  all.expect_some();
}

void every_algorithm(endpoint& ep) { run_with_world(ep, try_every_algorithm); }

void every_composition(endpoint& ep, coverage extent) {
  run_with_world(
      ep, [&](detail::communicator_impl& comm, cases& all) { try_every_composition(comm, all, extent); });
}

}  // namespace tests
