// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch/rank_startup.hpp"

#include <optional>

#include "communicator/internal_calls.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/communicator.hpp"

namespace tutti {

rank_startup::rank_startup() {
  try {
    set_ = detail::read_settings();
    forced_ = detail::read_forced();
  } catch (...) {
    if (!find_launcher().mpi) throw;
    wrong_ = std::current_exception();
  }
}

std::shared_ptr<const selection> rank_startup::trees_of(const endpoint& ep) {
  const std::lock_guard lock(loading_);
  if (!by_) by_ = std::make_shared<const selection>(selection{detail::load_trees(ep.engine()), forced_});
  return by_;
}

void rank_startup::run_rank(endpoint& ep, detail::program_view program, bool of_process) {
  if (wrong_) std::rethrow_exception(wrong_);
  auto shared = std::make_shared<detail::rank_state>();
  shared->use(ep);
  struct end_of_reading {
    endpoint& ep;
    ~end_of_reading() { ep.read_place(nullptr); }
  };
  const end_of_reading at_the_end{ep};
  shared->set = set_;
  shared->by = trees_of(ep);
  shared->self.rank = ep.rank();
  of_process = of_process || ep.node() == nullptr;
  shared->running_thread = of_process ? shm::set_current_process() : &shared->self;
  shared->any_thread = ep.any_thread();
  std::optional<shm::scoped_current_rank> here;
  if (!of_process) here.emplace(shared->self);
  struct end_of_rank {
    detail::rank_state& of;
    ~end_of_rank() { of.end(); }
  };
  const end_of_rank closing{*shared};
  shared->engine_conditions = detail::engine_conditions_of(*shared->by->trees, ep, ep.rank() == 0);
  shared->begin_trace();
  communicator world(detail::make_world(shared));
  if (ep.node() == nullptr) detail::compare_settings(detail::impl_of(world));
  program(world);
  shared->end_calls();
  if (ep.rank() == 0) detail::report_unused_overrides(*shared);
}

}  // namespace tutti
