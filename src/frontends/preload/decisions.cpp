// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/decisions.hpp"

#include <algorithm>
#include <limits>

#include "selection/flat_tree.hpp"
#include "selection/resolve.hpp"

namespace tutti::preload {
namespace {

constexpr std::size_t max_topologies = 64, max_shared_decisions = 256;

// Calls with counts below the result are made in the memory of the node by the engine's own
// collective. With several threads there are none, and the communicator is opened under the lock
// later.
std::uint64_t end_of_counts_in_memory(process& p, communicator_info& m, const agreed_signature& s) {
  if (p.multithreaded) return 0;
  p.open(m);
  const auto bytes = detail::native_in_memory(*m.impl, s);
  return bytes ? std::min(*bytes / s.element_size, std::numeric_limits<std::size_t>::max() - 1) + 1 : 0;
}

// MPI offers every collective for every call. If the trees choose it, but the engine's own
// collective uses the memory of the node, the call is served.
decision decide_by_trees(process& p, communicator_info& m, const call& c, const agreed_signature& s,
                         std::uint64_t end_in_memory) {
  selection_context all{.call = s, .native = true, .shared_memory = false};
  all.set_topology(m.topology);
  all.whole_job = m.size == p.ep->size();
  all.reaches = reach::any_rank;
  all.engine = p.engine_conditions;
  const resolution found = resolve(*p.by, all, {});
  if (found.used_forced_algorithm) detail::count_obeyed(*p.shared, c.what, override_kind::algorithm);
  if (found.used_forced_composition) detail::count_obeyed(*p.shared, c.what, override_kind::composition);
  bool forwarded = !found.served || (found.composed.which == nullptr && found.pure.pure == nullptr);
  if (!found.served || !forwarded) end_in_memory = 0;  // an algorithm serves it, or nothing does
  if (s.count < end_in_memory) forwarded = false;
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
  if (s.count < end_in_memory)
    d.max_count = std::min(d.max_count, end_in_memory - 1);
  else
    d.min_count = std::max(d.min_count, end_in_memory);
  // The library itself also divides here, at as many elements as ranks.
  const auto ranks = static_cast<std::uint64_t>(m.size);
  if (s.count < ranks)
    d.max_count = std::min(d.max_count, ranks - 1);
  else
    d.min_count = std::max(d.min_count, ranks);
  return d;
}

shared_decisions& decisions_of_topology(process& p, communicator_info& m) {
  if (m.shared) return *m.shared;
  const bool whole_job = m.size == p.ep->size();
  for (const auto& one : p.decisions)
    if (one->whole_job == whole_job && one->topology == m.topology) return *(m.shared = one);
  if (p.decisions.size() == max_topologies) p.decisions.clear();
  m.shared = std::make_shared<shared_decisions>(shared_decisions{m.topology, whole_job, {}});
  p.decisions.push_back(m.shared);
  return *m.shared;
}

decision decide_for_topology(process& p, communicator_info& m, const call& c, const agreed_signature& s,
                             const agreed_signature& without_count) {
  const std::uint64_t end_in_memory = end_of_counts_in_memory(p, m, s);
  if (p.multithreaded || p.forces_choices) return decide_by_trees(p, m, c, s, end_in_memory);
  auto& all = decisions_of_topology(p, m).all;
  for (const auto& [end, one] : all)
    if (one.of == without_count && one.made.min_count <= s.count && s.count <= one.made.max_count &&
        end == end_in_memory)
      return one.made;
  const decision made = decide_by_trees(p, m, c, s, end_in_memory);
  if (all.size() == max_shared_decisions) all.clear();
  all.push_back({end_in_memory, {without_count, made}});
  return made;
}

}  // namespace

decision decide(process& p, communicator_info& m, const call& c) {
  const agreed_signature s = agreed_part(c, m.size);
  if (is_vector_form(c.what)) return decide_by_trees(p, m, c, s, end_of_counts_in_memory(p, m, s));
  auto& known = m.by_signature[static_cast<std::size_t>(c.what)];
  agreed_signature without_count = s;
  without_count.count = 0;
  for (const decision_of_signature& one : known)
    if (one.of == without_count && one.made.min_count <= s.count && s.count <= one.made.max_count)
      return one.made;
  const decision made = decide_for_topology(p, m, c, s, without_count);
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
