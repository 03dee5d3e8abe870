// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch/rank_startup.hpp"

#include <optional>

#include "communicator/make_communicators.hpp"
#include "communicator/rank_state.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

rank_startup::rank_startup() {
  try {
    set_ = detail::read_settings();
    forced_choices_ = detail::read_forced();
  } catch (...) {
    if (!find_launcher().mpi) throw;
    settings_error_ = std::current_exception();
  }
}

std::shared_ptr<const selection> rank_startup::trees_of(const endpoint& ep) {
  const std::lock_guard lock(selection_mutex_);
  if (!selection_)
    selection_ =
        std::make_shared<const selection>(selection{detail::load_trees(ep.trees()), forced_choices_});
  return selection_;
}

void rank_startup::run_rank(endpoint& ep, detail::program_view program, bool of_process) {
  if (settings_error_) std::rethrow_exception(settings_error_);
  auto shared = std::make_shared<detail::rank_state>();
  shared->use(ep);
  struct current_call_guard {
    endpoint& ep;
    ~current_call_guard() { ep.set_current_call(nullptr); }
  };
  const current_call_guard guard{ep};
  shared->config = set_;
  shared->by = trees_of(ep);
  shared->self.rank = ep.rank();
  of_process = of_process || ep.node() == nullptr;
  shared->any_thread = ep.any_thread();
  shared->begin(of_process ? shm::adopt_process_rank() : &shared->self);
  std::optional<shm::scoped_current_rank> rank_scope;
  if (!of_process) rank_scope.emplace(shared->self);
  struct rank_end_guard {
    detail::rank_state& of;
    ~rank_end_guard() { of.end(); }
  };
  const rank_end_guard end_guard{*shared};
  shared->engine_conditions = detail::engine_conditions_of(*shared->by->trees, ep, ep.rank() == 0);
  shared->begin_trace();
  communicator world(detail::make_world(shared));
  if (ep.node() == nullptr) detail::compare_settings(detail::impl_of(world));
  program(world);
  shared->end_calls();
  if (ep.rank() == 0) detail::report_unused_overrides(*shared);
}

}  // namespace tutti::detail
