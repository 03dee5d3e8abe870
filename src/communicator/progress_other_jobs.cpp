// SPDX-License-Identifier: Apache-2.0
//
// A thread may adopt several communicators of MPI. The library treats each as a job, and a wait in
// one progresses the operations of the others. This takes no lock, because only communicators join
// whose MPI is called by one thread at a time. For the same reason a new thread
// may have the id of a thread that has ended.
#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "communicator/rank_state.hpp"

namespace tutti::detail {
namespace {

std::mutex adopted_mutex;
// Never destroyed, because a program may keep its communicators until it exits.
std::vector<std::pair<std::thread::id, rank_state*>>& adopted() {
  static auto& all = *new std::vector<std::pair<std::thread::id, rank_state*>>;
  return all;
}

}  // namespace

void progress_other_jobs::join(rank_state& self) {
  const std::lock_guard<std::mutex> lock(adopted_mutex);
  for (const auto& [thread, other] : adopted())
    if (thread == std::this_thread::get_id()) {
      others_.push_back(other);
      other->other_jobs.others_.push_back(&self);
      if (!other->active.empty() && self.active.empty()) self.active.push_back(this);
    }
  adopted().emplace_back(std::this_thread::get_id(), &self);
}

void progress_other_jobs::leave(rank_state& self) noexcept {
  const std::lock_guard<std::mutex> lock(adopted_mutex);
  std::erase_if(adopted(), [&](const auto& one) { return one.second == &self; });
  for (rank_state* other : others_) std::erase(other->other_jobs.others_, &self);
  others_.clear();
}

void progress_other_jobs::add_to_others() {
  for (rank_state* other : others_) {
    progressable* const progress = &other->other_jobs;
    if (std::find(other->active.begin(), other->active.end(), progress) == other->active.end())
      other->active.push_back(progress);
  }
}

bool progress_other_jobs::advance(bool) {
  bool all_over = true;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    rank_state& other = *others_[i];
    const auto steps = [&] {
      std::uint64_t sum = 0;
      for (const progressable* one : other.active)
        sum += one == &other.other_jobs ? 0 : one->progress_count() + 1;
      return sum;
    };
    const std::uint64_t before = steps();
    other.progress_others(&other.other_jobs, false);
    if (steps() != before) ++progress_count_;
    for (const progressable* one : other.active) all_over = all_over && one == &other.other_jobs;
  }
  return all_over;
}

void progress_other_jobs::work() {
  for (std::size_t i = 0; i < others_.size(); ++i) {
    rank_state& other = *others_[i];
    for (std::size_t k = 0; k < other.active.size(); ++k)
      if (other.active[k] != &other.other_jobs) other.active[k]->work();
  }
}

}  // namespace tutti::detail
