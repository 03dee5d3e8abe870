// SPDX-License-Identifier: Apache-2.0
//
// The threads engine: a rank is a thread. For as many ranks as cores.
#include "engines/engine.hpp"

#include <thread>
#include <vector>

#include "engines/embedded/offers.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/threads/thread_job.hpp"

namespace tutti {
namespace {

outcome run(const launch& how, const rank_program& program) {
  thread_job all(how.ranks);
  const bool pin = pins(how.pin, how.ranks);
  const auto body = [&](int rank) {
    if (pin) pin_to_core(rank);
    all.run_rank(rank, program);
  };
  std::vector<std::thread> threads;
  try {
    for (int r = 0; r < how.ranks; ++r) threads.emplace_back(body, r);
  } catch (const std::exception& e) {
    all.fail(static_cast<int>(threads.size()), std::current_exception(),
             "no thread could be made for this rank: " + std::string(e.what()));
  }
  for (auto& t : threads) t.join();
  return all.result();
}

}  // namespace

extern const engine_entry engine_threads;
constinit const engine_entry engine_threads = {
    .name = "threads",
    .meaning = "a rank is a thread",
    .by_default = [](const occasion& o) noexcept { return !o.launched && o.seed == 0 && o.ranks <= o.cores; },
    .when = "up to as many ranks as cores",
    .run = run,
    .shared_memory = true,
    .most_ranks = 4096,
    .limit = "use TUTTI_ENGINE=fibers",
    .conditions = embedded_conditions,
    .offers = embedded_offers,
};

}  // namespace tutti
