// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/decisions.hpp"

#include <algorithm>
#include <optional>

#include "selection/flat_tree.hpp"
#include "selection/resolve.hpp"

namespace tutti::preload {
namespace {

// MPI offers every collective for every call. If the trees choose it, but the engine's own
// collective uses the memory of the node, the call is served.
decision decide_by_trees(process& p, communicator_info& m, const call& c, const agreed_signature& s) {
  selection_context all{.call = s, .native = true, .shared_memory = false};
  all.set_topology(m.topology);
  all.whole_job = m.size == p.ep->size();
  all.reaches = reach::any_rank;
  all.engine = p.engine_conditions;
  const resolution found = resolve(*p.by, all, {});
  if (found.used_forced_algorithm) detail::count_obeyed(*p.shared, c.what, override_kind::algorithm);
  if (found.used_forced_composition) detail::count_obeyed(*p.shared, c.what, override_kind::composition);
  bool forwarded = !found.served || (found.composed.which == nullptr && found.pure.pure == nullptr);
  std::optional<std::uint64_t> max_in_memory;
  // With several threads nothing is in memory, and the communicator is opened under the lock later.
  if (found.served && forwarded && !p.multithreaded) {
    p.open(m);
    if (const auto bytes = detail::native_in_memory(*m.impl, s)) max_in_memory = *bytes / c.type.size;
    if (max_in_memory && s.count <= *max_in_memory) forwarded = false;
  }
  const forced_choice& forced = p.by->of(c.what);
  if (!forced.algorithm.empty() || !forced.composition.empty() || !p.by->trees || s.count == 0)
    return {forwarded, s.count, s.count};
  decision d{forwarded, 1, tree_step::open};
  for (const tree_half half : {tree_half::composition, tree_half::pure}) {
    const flat_tree flat(*p.by->trees, all, half);
    std::uint64_t from = 0;
    for (const flat_step& step : flat.steps()) {
      if (s.count <= step.upper_bound_of_count) {
        d.min_count = std::max(d.min_count, from);
        d.max_count = std::min(d.max_count, step.upper_bound_of_count);
        break;
      }
      from = step.upper_bound_of_count + 1;
    }
  }
  if (max_in_memory) {
    if (s.count <= *max_in_memory)
      d.max_count = std::min(d.max_count, *max_in_memory);
    else
      d.min_count = std::max(d.min_count, *max_in_memory + 1);
  }
  // The library itself also divides here, at as many elements as ranks.
  const auto ranks = static_cast<std::uint64_t>(m.size);
  if (s.count < ranks)
    d.max_count = std::min(d.max_count, ranks - 1);
  else
    d.min_count = std::max(d.min_count, ranks);
  return d;
}

}  // namespace

decision decide(process& p, communicator_info& m, const call& c) {
  const agreed_signature s = agreed_part(c, m.size);
  if (is_vector_form(c.what)) return decide_by_trees(p, m, c, s);
  auto& known = m.by_signature[static_cast<std::size_t>(c.what)];
  agreed_signature without_count = s;
  without_count.count = 0;
  for (const decision_of_signature& one : known)
    if (one.of == without_count && one.made.min_count <= s.count && s.count <= one.made.max_count)
      return one.made;
  const decision made = decide_by_trees(p, m, c, s);
  if (known.size() == max_decisions) known.clear();
  known.push_back({without_count, made});
  return made;
}

decision decide_bcast(process& p, communicator_info& m, std::size_t bytes) {
  if (m.last_packed.min_count <= bytes && bytes <= m.last_packed.max_count) return m.last_packed;
  call c;
  c.what = collective::bcast;
  c.count = bytes;
  return m.last_packed = decide(p, m, c);
}

bool decided_by_counts(const process& p, collective what) {
  return has_agreed_counts(what) && p.by->trees && tests_quantity(*p.by->trees, what, quantity::total_bytes);
}

}  // namespace tutti::preload
