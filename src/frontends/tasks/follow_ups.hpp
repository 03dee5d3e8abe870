// SPDX-License-Identifier: Apache-2.0
//
// The follow-ups of explicit transfers: callbacks of the program, and tags that tasks wait for.
// explicit_transfers adds follow-ups of complete transfers; task_graph runs the callbacks, and lets
// tasks wait for tags. Only the rank's own thread calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/tasks/ready_queue.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

class follow_ups {
 public:
  explicit follow_ups(ready_queue& ready) noexcept : ready_(ready) {}
  follow_ups(const follow_ups&) = delete;
  follow_ups& operator=(const follow_ups&) = delete;

  /// `n` waits for the tag, unless it is unlocked. Call it before `n` is released.
  void wait_for(node& n, std::uint64_t tag);
  /// Releases the nodes that wait for the tag. Later ones do not wait, until it is locked.
  void unlock(std::uint64_t tag);
  void lock(std::uint64_t tag) { tags_[tag].unlocked = false; }

  /// Called when the transfers are complete. Unlocks the tag, and stores the callback.
  void add(follow_up&& one) {
    if (one.unlocks) unlock(one.tag);
    if (one.call) callbacks_.push_back(std::move(one.call));
  }
  /// Whether a callback has not run.
  bool pending() const noexcept { return !callbacks_.empty(); }
  /// Runs callbacks, and those that they add. Returns false if there are none, or if a callback
  /// calls this.
  bool run_callbacks() { return pending() && run_all(); }

  /// "a task waits for tag 1, and one for tag 2"; empty if no task waits.
  std::string waiting() const;

 private:
  bool run_all();

  struct task_tag {
    bool unlocked = false;
    std::vector<node*> waiting;
  };
  ready_queue& ready_;
  std::unordered_map<std::uint64_t, task_tag> tags_;
  std::vector<std::function<void()>> callbacks_;
  bool running_ = false;
};

}  // namespace tutti::tasks
