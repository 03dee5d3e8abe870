// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/follow_ups.hpp"

#include <atomic>

namespace tutti::tasks {

void follow_ups::wait_for(node& n, std::uint64_t tag) {
  task_tag& t = tags_[tag];
  if (t.unlocked) return;
  n.pending_dependencies.fetch_add(1, std::memory_order_relaxed);
  t.waiting.push_back(&n);
}

void follow_ups::unlock(std::uint64_t tag) {
  task_tag& t = tags_[tag];
  t.unlocked = true;
  for (node* n : std::exchange(t.waiting, {})) ready_.release(*n);
}

bool follow_ups::run_all() {
  if (running_) return false;
  running_ = true;
  struct reset_guard {
    bool& running;
    ~reset_guard() { running = false; }
  };
  const reset_guard guard{running_};
  while (!callbacks_.empty())
    for (std::function<void()>& call : std::exchange(callbacks_, {})) call();
  return true;
}

std::string follow_ups::waiting() const {
  std::string what;
  for (const auto& [tag, t] : tags_)
    if (!t.waiting.empty())
      what += (what.empty() ? "a task waits for tag " : ", and one for tag ") + std::to_string(tag);
  return what;
}

}  // namespace tutti::tasks
