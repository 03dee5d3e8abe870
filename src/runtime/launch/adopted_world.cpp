// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch/adopted_world.hpp"

#include <cstdio>
#include <string>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "communicator/make_communicators.hpp"
#include "communicator/rank_state.hpp"
#include "engines/engine_table.hpp"
#include "runtime/settings/active_trees.hpp"
#include "runtime/settings/settings.hpp"

namespace tutti::detail {

communicator_handle make_adopted_world(bool concurrent_callers, const endpoint_maker& make) {
  auto shared = std::make_shared<rank_state>();
  shared->config = read_settings();
  if (!concurrent_callers) shared->other_jobs.join(*shared);
  shared->owned = make(shared->config.check, *shared);
  shared->use(*shared->owned);
  shared->by = std::make_shared<const selection>(selection{load_trees(shared->ep->trees()), read_forced()});
  endpoint& ep = *shared->ep;
  shared->self.rank = ep.rank();
  shared->any_thread = ep.any_thread();
  shared->begin(shared->any_thread ? nullptr : shm::adopt_process_rank());
  if (ep.rank() == 0)
    for (const std::string& name : unknown_settings(all_variables()))
      std::fprintf(stderr, "tutti: %s is set, but there is no such variable (tutti info lists them)\n",
                   echoed(name).c_str());
  shared->engine_conditions = engine_conditions_of(*shared->by->trees, ep, ep.rank() == 0);
  shared->begin_trace();
  communicator_handle world = make_world(shared);
  compare_settings(*world);
  return world;
}

shm::arena_state& arena_of_library() noexcept { return shm::shared_arena::current(); }

}  // namespace tutti::detail
