// SPDX-License-Identifier: Apache-2.0
#include "tuning/benchmark_fixture.hpp"

#include <utility>

#include "base/compute/kernels.hpp"
#include "base/environment_variables.hpp"
#include "communicator/rank_state.hpp"
#include "runtime/launch/make_ranks.hpp"
#include "tuning/measured_call.hpp"

namespace tutti::tuning {

outcome start(const engine_entry& engine, int ranks, int argc, char** argv, const rank_program& program) {
  launch how;
  how.ranks = ranks;
  how.workers = static_cast<int>(number_setting("TUTTI_WORKERS", 1, 4096, 0));
  return make_ranks(engine, how, argc, argv, nullptr, program);
}

benchmark_fixture::benchmark_fixture(endpoint& ep, std::shared_ptr<const document> trees)
    : ep_(ep), trees_(std::move(trees)), all_ranks_(group::range(0, 1, ep.size(), ep.rank())) {
  auto job = ep.open(all_ranks_, 1, nullptr);
  job_ = job.get();
  control_ = detail::make_over(state({trees_, {}}), std::move(job));
}

std::shared_ptr<detail::rank_state> benchmark_fixture::state(selection by) const {
  auto s = std::make_shared<detail::rank_state>();
  s->use(ep_);
  s->by = std::make_shared<const selection>(std::move(by));
  if (trees_) s->engine_conditions = engine_bits(*trees_, ep_.conditions());
  return s;
}

void benchmark_fixture::barrier() { detail::run_call(*control_, call{}); }

double benchmark_fixture::max(double mine) {
  call c;
  c.what = collective::allreduce;
  c.type = element_of<double>();
  c.count = 1;
  c.op = {compute::kernel(builtin_op::max, element_kind::f64), nullptr, builtin_op::max, true, {}};
  double all = mine;
  c.input = &mine;
  c.output = &all;
  detail::run_call(*control_, c);
  return all;
}

selection_context benchmark_fixture::selection_context_of(const call& c) const {
  return detail::selection_context_of(*control_, agreed_part(c, size()));
}

detail::communicator_handle benchmark_fixture::communicator(collective what, const std::string& algorithm,
                                                            const std::string& composition) {
  selection by{trees_, {}};
  by.forced[static_cast<std::size_t>(what)] = {algorithm, "", composition};
  auto s = state(std::move(by));
  detail::topology shape;
  if (is_neighborhood(what)) {
    shape.graph = true;
    shape.sources = shape.destinations = neighbors(rank(), size());
  }
  return detail::make_over(s, ep_.open(all_ranks_, next_id_++, job_), std::move(shape));
}

}  // namespace tutti::tuning
