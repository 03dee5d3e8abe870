// SPDX-License-Identifier: Apache-2.0
#include "communicator/call_selection.hpp"

#include <cstdio>
#include <string>

#include "base/report_text.hpp"
#include "selection/flat_tree.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

native_offer offers_native(const communicator_state& where, const agreed_signature& s) noexcept {
  return !s.inter && where.knows_all() ? where.engine_context().offers(s) : native_offer::none;
}

selection_context selection_context_of(const communicator_state& where, const agreed_signature& s) {
  selection_context all{.call = s, .shared_memory = where.ep().node() != nullptr};
  all.offer(offers_native(where, s));
  all.set_topology(where.nodes());
  all.whole_job = where.size() == where.ep().size();
  all.reaches = where.members().known_members();
  all.engine = where.this_rank().engine_conditions;
  return all;
}

resolution select(const communicator_state& where, const call& c, const agreed_signature& s) {
  resolution r;
  try {
    r = resolve(*where.this_rank().by, selection_context_of(where, s), {c.algorithm, c.composition},
                where.rank());
  } catch (error& e) {  // an unknown name
    e.locate(where.place());
    throw;
  }
  count_overrides(where, c.what, r, s.inter);
  if (!r.served)
    where.reject(name_of(c.what).data(), "",
                 "no algorithm serves this " + std::string(name_of(c.what)) + " on this engine",
                 "tutti list shows what each algorithm requires");
  return r;
}

namespace {

// A name that cannot serve this call: TUTTI_COLL_FALLBACK decides what follows.
void fall_back(const communicator_state& where, collective what, const resolution::rejected_name& u) {
  rank_state& rank = where.this_rank();
  auto& use = rank.use_of(what, u.what);
  ++use.unfit;
  const std::string parameter = u.given_by == chosen_by::environment   ? override_variable(what, u.what)
                                : u.what == override_kind::composition ? "composition"
                                                                       : "algorithm";
  const std::string problem = "\"" + echoed(u.name) + "\" does not serve this call: " + u.reason;
  if (rank.config.when_unfit == fallback::error)
    where.reject(name_of(what).data(), parameter.c_str(), problem,
                 "name another (see tutti list), or set TUTTI_COLL_FALLBACK=warn");
  if (rank.config.when_unfit == fallback::warn && where.rank() == 0 && !use.reported) {
    use.reported = true;
    std::fprintf(stderr,
                 "tutti: %s: %s %s; another one is used (TUTTI_COLL_FALLBACK=error makes this an error)\n",
                 name_of(what).data(), parameter.c_str(), problem.c_str());
  }
}

}  // namespace

void count_overrides(const communicator_state& where, collective what, const resolution& r, bool inter) {
  rank_state& rank = where.this_rank();
  if (r.used_forced_algorithm)
    ++rank.use_of(what, inter ? override_kind::inter_algorithm : override_kind::algorithm).obeyed;
  if (r.used_forced_composition) ++rank.use_of(what, override_kind::composition).obeyed;
  for (const resolution::rejected_name& u : r.rejected_names) fall_back(where, what, u);
}

std::vector<std::uint64_t> count_bounds(const communicator_state& where, const call& c) {
  const agreed_signature sample = agreed_part(c, where.size(), where.inter());
  const auto ranks = static_cast<std::uint64_t>(where.size());
  // The native collectives of MPI count blocks, or all of them, by an int. Those in the memory of a
  // node serve any length, or what fits in a line or slot (engines/mpi/memory_pieces.hpp).
  constexpr std::uint64_t max_int = 0x7fffffff;
  const std::uint64_t element = c.type.size;
  const std::uint64_t native_bounds[] = {48 / element, 48 / element / ranks, 4096 / element / ranks,
                                         max_int / ranks, max_int};
  const auto native = [&](std::uint64_t count) {
    agreed_signature s = sample;
    s.count = count;
    return offers_native(where, s);
  };
  // Those of empty calls and of the condition count_ge_ranks.
  std::vector<std::uint64_t> bounds{0, ranks - 1};
  bounds.insert(bounds.end(), std::begin(native_bounds), std::end(native_bounds));
  const selection_context here = selection_context_of(where, sample);
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (const flat_step& s :
         flat_tree(*where.this_rank().by->trees, here, half, native, native_bounds).steps())
      bounds.push_back(s.upper_bound_of_count);
  if (combines(c.what)) bounds.push_back((min_kernel_bytes - 1) / element);
  bounds.push_back(shm::channel::cell_bytes / element);  // the longest block of a simple schedule
  // Validation rejects more bytes than an address can count.
  bounds.push_back(static_cast<std::uint64_t>(PTRDIFF_MAX) / element / ranks);
  bounds.push_back(tree_step::open);
  return bounds;
}

}  // namespace tutti::detail
