// SPDX-License-Identifier: Apache-2.0
//
// The threads engine: a rank is a thread. For as many ranks as cores.
#include "engines/engine.hpp"

#include <numeric>
#include <thread>
#include <vector>

#include "engines/embedded/embedded.hpp"
#include "engines/embedded/rank_main.hpp"
#include "engines/embedded/sleep.hpp"

namespace tutti {
namespace {

class thread_ringer final : public fabric::ringer {
 public:
  void ring(fabric::doorbell& bell) noexcept override { wake(bell); }
};

class thread_endpoint final : public embedded_endpoint {
 public:
  thread_endpoint(job& j, fabric::node& n, int rank, patience p)
      : embedded_endpoint(j, n, rank), patience_(p) {}

  std::string_view engine() const noexcept override { return "threads"; }
  fabric::doorbell& bell() noexcept override { return node_.worker_bell(rank_); }

  void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool,
            const fabric::wait_site& site) override {
    const auto ready = [&] { return fabric::reached(word.load(std::memory_order_acquire), value); };
    for (int i = 0; i < patience_.spins; ++i) {
      if (ready()) return;
      relax();
    }
    for (int i = 0; i < patience_.yields; ++i) {
      if (ready()) return;
      yield_core();
    }
    if (job_.failed()) job_.throw_failure(rank_, site);
    note(rank_record::waiting, &word, value, site);
    const noted on_the_way_out{*this};
    while (!ready()) {
      sleep_unless(bell(), [&] { return ready() || job_.failed(); });
      if (job_.failed() && !ready()) job_.throw_failure(rank_, site);
    }
  }

  void pause(const fabric::wait_site& site) override {
    if (job_.failed()) job_.throw_failure(rank_, site);
    note_pause(site);
    if (++pauses_ % 64 == 0) yield_core();
    relax();
  }
  void progressed() noexcept override { unnote(); }

 private:
  patience patience_;
  std::uint64_t pauses_ = 0;
};

outcome run(const launch& how, const rank_program& program) {
  std::vector<int> worker_of(static_cast<std::size_t>(how.ranks));
  std::iota(worker_of.begin(), worker_of.end(), 0);
  thread_ringer rings;
  fabric::node node(std::move(worker_of), rings);
  job all(how.ranks);
  all.on_failure([&] {
    for (int r = 0; r < how.ranks; ++r) wake(node.worker_bell(r));
  });
  const patience p = patience_for(how.ranks);
  const bool pin = pins(how.pin, how.ranks);
  all.start_watchman();
  const auto body = [&](int rank) {
    if (pin) pin_to_core(rank);
    thread_endpoint door(all, node, rank, p);
    rank_main(all, door, program);
  };
  std::vector<std::thread> threads;
  try {
    for (int r = 0; r < how.ranks; ++r) threads.emplace_back(body, r);
  } catch (const std::exception& e) {
    all.fail(static_cast<int>(threads.size()), std::current_exception(),
             "no thread could be made for this rank: " + std::string(e.what()));
  }
  for (auto& t : threads) t.join();
  all.stop_watchman();
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
