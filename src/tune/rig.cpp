// SPDX-License-Identifier: Apache-2.0
#include "tune/rig.hpp"

#include <utility>

#include "compute/kernels.hpp"
#include "core/environment.hpp"
#include "launch/make_ranks.hpp"
#include "tune/job.hpp"

namespace tutti::tune {

outcome start(const engine_entry& engine, int ranks, int argc, char** argv, const rank_program& program) {
  launch how;
  how.ranks = ranks;
  how.workers = static_cast<int>(number_setting("TUTTI_WORKERS", 1, 4096, 0));
  return make_ranks(engine, how, argc, argv, nullptr, program);
}

rig::rig(endpoint& door, std::shared_ptr<const document> trees)
    : door_(door), trees_(std::move(trees)), everybody_(group::range(0, 1, door.size(), door.rank())) {
  auto where = door.open(everybody_, 1, nullptr);
  job_ = where.get();
  control_ = std::make_unique<detail::core>(state({trees_, {}}), std::move(where));
}

std::shared_ptr<detail::rank_state> rig::state(selection by) const {
  auto s = std::make_shared<detail::rank_state>();
  s->use(door_);
  s->by = std::make_shared<const selection>(std::move(by));
  if (trees_) s->engine_conditions = engine_bits(*trees_, door_.conditions());
  return s;
}

void rig::barrier() { control_->run_blocking(call{}); }

double rig::max(double mine) {
  call c;
  c.what = collective::allreduce;
  c.type = element_of<double>();
  c.count = 1;
  c.op = {compute::kernel(builtin_op::max, element_kind::f64), nullptr, builtin_op::max, true, {}};
  double all = mine;
  c.input = &mine;
  c.output = &all;
  control_->run_blocking(c);
  return all;
}

situation rig::situation_of(const call& c) const { return control_->situation_of(agreed_part(c, size())); }

std::unique_ptr<detail::core> rig::communicator(collective what, const std::string& algorithm,
                                                const std::string& composition) {
  selection by{trees_, {}};
  by.forced[static_cast<std::size_t>(what)] = {algorithm, "", composition};
  auto s = state(std::move(by));
  detail::topology shape;
  if (is_neighborly(what)) {
    shape.graph = true;
    shape.sources = shape.destinations = neighbours(rank(), size());
  }
  return std::make_unique<detail::core>(std::move(s), door_.open(everybody_, next_id_++, job_),
                                        std::move(shape));
}

}  // namespace tutti::tune
