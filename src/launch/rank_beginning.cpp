// SPDX-License-Identifier: Apache-2.0
#include "launch/rank_beginning.hpp"

#include <optional>

#include "face/core.hpp"
#include "launch/modules.hpp"
#include "tutti/communicator.hpp"

namespace tutti {

rank_beginning::rank_beginning() {
  try {
    set_ = detail::read_settings();
    forced_ = detail::read_forced();
  } catch (...) {
    if (!find_launcher().mpi) throw;
    wrong_ = std::current_exception();
  }
}

std::shared_ptr<const selection> rank_beginning::trees_of(const endpoint& door) {
  const std::lock_guard lock(loading_);
  if (!by_) by_ = std::make_shared<const selection>(selection{detail::load_trees(door.engine()), forced_});
  return by_;
}

void rank_beginning::run_rank(endpoint& door, detail::program_view program, bool of_process) {
  if (wrong_) std::rethrow_exception(wrong_);
  auto shared = std::make_shared<detail::rank_state>();
  shared->use(door);
  struct end_of_reading {
    endpoint& door;
    ~end_of_reading() { door.read_place(nullptr); }
  };
  const end_of_reading at_the_end{door};
  shared->set = set_;
  shared->by = trees_of(door);
  shared->self.rank = door.rank();
  of_process = of_process || door.node() == nullptr;
  shared->carrier = of_process ? fabric::carry_process() : &shared->self;
  shared->any_thread = door.any_thread();
  std::optional<fabric::carries> here;
  if (!of_process) here.emplace(shared->self);
  struct end_of_rank {
    detail::rank_state& of;
    ~end_of_rank() { of.end(); }
  };
  const end_of_rank closing{*shared};
  shared->engine_conditions = detail::engine_conditions_of(*shared->by->trees, door, door.rank() == 0);
  shared->begin_trace();
  communicator world(detail::core_handle(
      new detail::core(shared, door.open(group::range(0, 1, door.size(), door.rank()), 1, nullptr))));
  if (door.node() == nullptr) world.native().compare_trees();
  program(world);
  shared->end_calls();
  if (door.rank() == 0) detail::say_unused_overrides(*shared);
}

}  // namespace tutti
