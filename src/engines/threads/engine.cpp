// SPDX-License-Identifier: Apache-2.0
//
// The threads engine: a rank is a thread. For jobs with no more ranks than cores.
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <pthread.h>

#include "engines/embedded/embedded_offers.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "engines/threads/thread_job.hpp"

namespace tutti::detail {
namespace {

// The guard of a stack is as long as a large array; the default guard is one page.
constexpr std::size_t guard_bytes = 1 << 20;

// A thread like std::thread, with a stack of `bytes`; 0: the system's default.
class rank_thread {
 public:
  rank_thread(std::size_t bytes, std::function<void()> body)
      : body_(std::make_unique<std::function<void()>>(std::move(body))) {
    pthread_attr_t how;
    pthread_attr_init(&how);
    if (bytes != 0) pthread_attr_setstacksize(&how, bytes);  // without the guard
    pthread_attr_setguardsize(&how, guard_bytes);
    const auto begin = [](void* body) -> void* {
      (*static_cast<std::function<void()>*>(body))();
      return nullptr;
    };
    const int fault = pthread_create(&thread_, &how, begin, body_.get());
    pthread_attr_destroy(&how);
    if (fault != 0) throw std::system_error(fault, std::generic_category());
  }
  void join() { pthread_join(thread_, nullptr); }

 private:
  std::unique_ptr<std::function<void()>> body_;
  pthread_t thread_;
};

outcome run(const launch& how, const rank_program& program) {
  thread_job all(how.ranks);
  const bool pin = should_pin(how.pin, how.ranks);
  const auto body = [&](int rank) {
    if (pin) pin_to_core(rank);
    all.run_rank(rank, program);
  };
  std::vector<rank_thread> threads;
  threads.reserve(static_cast<std::size_t>(how.ranks));
  try {
    for (int r = 0; r < how.ranks; ++r) threads.emplace_back(how.stack_bytes, [&body, r] { body(r); });
  } catch (const std::exception& e) {
    all.fail(static_cast<int>(threads.size()), std::current_exception(),
             "cannot create a thread for this rank: " + std::string(e.what()));
  }
  for (auto& t : threads) t.join();
  return all.result();
}

constexpr variable variables_of_threads[] = {stack_variable};

}  // namespace

extern const engine_entry engine_threads;
constinit const engine_entry engine_threads = {
    .name = "threads",
    .meaning = "a rank is a thread",
    .by_default =
        [](const start_conditions& o) noexcept { return !o.launched && o.seed == 0 && o.ranks <= o.cores; },
    .when = "up to as many ranks as cores",
    .run = run,
    .shared_memory = true,
    .max_ranks = 4096,
    .limit = "use TUTTI_ENGINE=fibers",
    .conditions = embedded_conditions,
    .offers = embedded_offers,
    .variables = variables_of_threads,
};

}  // namespace tutti::detail
