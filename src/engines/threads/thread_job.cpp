// SPDX-License-Identifier: Apache-2.0
#include "engines/threads/thread_job.hpp"

#include <numeric>
#include <vector>

#include "engines/embedded/embedded.hpp"
#include "engines/embedded/rank_main.hpp"
#include "engines/embedded/sleep.hpp"

namespace tutti::detail {
namespace {

class thread_waker final : public shm::waker {
 public:
  void ring(shm::wakeup_flag& wakeup) noexcept override { wake(wakeup); }
};

class thread_endpoint final : public embedded_endpoint {
 public:
  thread_endpoint(job& j, shm::node& n, int rank, wait_policy p)
      : embedded_endpoint(j, n, rank), policy_(p) {}

  std::string_view engine() const noexcept override { return "threads"; }
  shm::wakeup_flag& wakeup() noexcept override { return node_.worker_wakeup(rank_); }

  void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool,
            const shm::wait_site& site) override {
    const auto ready = [&] { return shm::reached(word.load(std::memory_order_acquire), value); };
    for (int i = 0; i < policy_.spins; ++i) {
      if (ready()) return;
      relax();
    }
    for (int i = 0; i < policy_.yields; ++i) {
      if (ready()) return;
      yield_core();
    }
    if (job_.failed()) job_.throw_failure(rank_, serves_peers(), site);
    report_wait(rank_record::waiting, &word, value, site);
    const wait_report end_of_wait{*this};
    while (!ready()) {
      sleep_unless(wakeup(), [&] { return ready() || job_.failed(); });
      if (job_.failed() && !ready()) job_.throw_failure(rank_, serves_peers(), site);
    }
  }

  void pause(const shm::wait_site& site) override {
    if (job_.failed()) job_.throw_failure(rank_, serves_peers(), site);
    report_poll(site);
    if (++pauses_ % 64 == 0) yield_core();
    relax();
  }
  void progressed() noexcept override { report_wait_end(); }

 private:
  wait_policy policy_;
  std::uint64_t pauses_ = 0;
};

std::vector<int> one_worker_each(int ranks) {
  std::vector<int> worker_of(static_cast<std::size_t>(ranks));
  std::iota(worker_of.begin(), worker_of.end(), 0);
  return worker_of;
}

}  // namespace

struct thread_job::parts {
  explicit parts(int ranks)
      : node(one_worker_each(ranks), waker), all(ranks), policy(wait_policy_for(ranks)) {
    all.on_failure([this, ranks] {
      for (int r = 0; r < ranks; ++r) wake(node.worker_wakeup(r));
    });
    all.start_deadlock_monitor();
  }

  thread_waker waker;
  shm::node node;
  job all;
  wait_policy policy;
};

thread_job::thread_job(int ranks) : parts_(std::make_unique<parts>(ranks)) {}
thread_job::~thread_job() = default;

void thread_job::run_rank(int rank, const rank_program& program) noexcept {
  const watched_stack watched;
  thread_endpoint ep(parts_->all, parts_->node, rank, parts_->policy);
  rank_main(parts_->all, ep, program);
}

void thread_job::fail(int rank, std::exception_ptr what, const std::string& text) {
  parts_->all.fail(rank, std::move(what), text);
}

bool thread_job::failed() const noexcept { return parts_->all.failed(); }

outcome thread_job::result() {
  parts_->all.stop_deadlock_monitor();
  return parts_->all.result();
}

}  // namespace tutti::detail
