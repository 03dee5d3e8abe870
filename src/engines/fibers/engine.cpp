// SPDX-License-Identifier: Apache-2.0
//
// The fibers engine: ranks are fibers, and each worker runs a contiguous block of them. It serves
// jobs with more ranks than cores, and schedules that can be repeated. With a seed there is one
// worker, and the seed determines every interleaving.
#include <algorithm>
#include <thread>
#include <vector>

#include "engines/embedded/embedded.hpp"
#include "engines/embedded/rank_main.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "engines/fibers/worker.hpp"

namespace tutti::detail {
namespace {

class fiber_endpoint final : public embedded_endpoint {
 public:
  fiber_endpoint(job& j, shm::node& n, int rank, worker& w) : embedded_endpoint(j, n, rank), worker_(w) {}

  std::string_view engine() const noexcept override { return "fibers"; }
  shm::wakeup_flag& wakeup() noexcept override { return node_.rank_wakeup(rank_); }

  void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool local,
            const shm::wait_site& site) override {
    const auto ready = [&] { return shm::reached(word.load(std::memory_order_acquire), value); };
    if (!local) {
      // The other worker will probably write soon, so poll briefly before switching to another
      // fiber.
      for (int i = 0; i < 32; ++i) {
        if (ready()) return;
        relax();
      }
    }
    report_wait(rank_record::waiting, &word, value, site);
    const wait_report end_of_wait{*this};
    while (!ready()) {
      if (job_.failed()) job_.throw_failure(rank_, serves_peers(), site);
      worker_.wait(word, value, local);
    }
  }

  void pause(const shm::wait_site& site) override {
    if (job_.failed()) job_.throw_failure(rank_, serves_peers(), site);
    report_poll(site);
    worker_.yield();
  }
  void progressed() noexcept override { report_wait_end(); }

  bool interleaves() const noexcept override { return worker_.deterministic(); }
  void preempt() override {
    if (worker_.random_number() % 4 == 0) worker_.yield();
  }

 private:
  worker& worker_;
};

class fiber_waker final : public shm::waker {
 public:
  explicit fiber_waker(int ranks) : ranks_(ranks) {}
  void serve(shm::node& n, std::vector<worker*> workers) {
    node_ = &n;
    workers_ = std::move(workers);
  }
  // The flag of a rank is rung only on the thread of its worker. Other threads ring the worker's
  // flag.
  void ring(shm::wakeup_flag& wakeup) noexcept override {
    const auto rank = &wakeup - &node_->rank_wakeup(0);
    if (rank >= 0 && rank < ranks_) {
      wakeup.armed.store(0, std::memory_order_relaxed);
      workers_[static_cast<std::size_t>(node_->worker_of(static_cast<int>(rank)))]->ready(
          static_cast<int>(rank));
    } else {
      wake(wakeup);
    }
  }

 private:
  int ranks_;
  shm::node* node_ = nullptr;
  std::vector<worker*> workers_;
};

outcome run(const launch& how, const rank_program& program) {
  int count = how.seed != 0 ? 1 : how.workers > 0 ? how.workers : usable_cores();
  count = std::min(count, how.ranks);
  std::vector<int> worker_of(static_cast<std::size_t>(how.ranks));
  const auto first_of = [&](int w) {
    return static_cast<int>(static_cast<std::int64_t>(how.ranks) * w / count);
  };
  for (int w = 0; w < count; ++w)
    for (int r = first_of(w); r < first_of(w + 1); ++r) worker_of[static_cast<std::size_t>(r)] = w;

  fiber_waker waker(how.ranks);
  shm::node node(std::move(worker_of), waker);
  job all(how.ranks);
  const stacks memory(how.ranks, how.stack_bytes != 0 ? how.stack_bytes : default_fiber_stack);
  const wait_policy p = wait_policy_for(count);
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<worker*> worker_list;
  for (int w = 0; w < count; ++w) {
    workers.push_back(std::make_unique<worker>(all, node, w, p, how.seed));
    for (int r = first_of(w); r < first_of(w + 1); ++r)
      workers.back()->add(r, memory.top(r), memory.bottom(r), memory.usable(r));
    worker_list.push_back(workers.back().get());
  }
  waker.serve(node, worker_list);
  all.on_failure([&] {
    for (int w = 0; w < count; ++w) wake(node.worker_wakeup(w));
  });
  all.start_deadlock_monitor();

  const bool pin = should_pin(how.pin, count);
  const auto body = [&](int w) {
    if (pin) pin_to_core(w);
    const watched_stack watched(memory.begin(), memory.end());
    worker& mine = *worker_list[static_cast<std::size_t>(w)];
    mine.run([&](int rank) {
      fiber_endpoint ep(all, node, rank, mine);
      rank_main(all, ep, program);
    });
  };
  std::vector<std::thread> threads;
  for (int w = 0; w < count; ++w) threads.emplace_back(body, w);
  for (auto& t : threads) t.join();
  all.stop_deadlock_monitor();
  return all.result();
}

constexpr variable variables_of_fibers[] = {
    {"TUTTI_WORKERS", "1 to 4096", "the cores this process may use", "number of threads that run the fibers"},
    {"TUTTI_SEED", "a number; 0 is off", "0",
     "fibers: use one worker, and derive a reproducible interleaving from the seed"},
    stack_variable,
};

}  // namespace

extern const engine_entry engine_fibers;
constinit const engine_entry engine_fibers = {
    .name = "fibers",
    .meaning = "a rank is a fiber, on as many threads as cores",
    .by_default =
        [](const start_conditions& o) noexcept { return !o.launched && (o.seed != 0 || o.ranks > o.cores); },
    .when = "for more ranks than cores, and with a seed",
    .run = run,
    .shared_memory = true,
    .ranks_to_tune = 8,
    .conditions = embedded_conditions,
    .offers = embedded_offers,
    .variables = variables_of_fibers,
};

}  // namespace tutti::detail
