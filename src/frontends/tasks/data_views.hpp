// SPDX-License-Identifier: Apache-2.0
//
// The program's own use of data, at its place among the tasks. task_graph::acquire() makes a
// view_node, and release_view() completes it.
#pragma once

#include <cstddef>
#include <string>

#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_node.hpp"

namespace tutti::tasks {

class view_node final : public node {
 public:
  view_node() noexcept : node(false) {}
  /// Sets the version that the view shows. `before`: its initial value, with a use that the node
  /// releases, or null.
  void set(contents& at, contents* before, std::size_t bytes) noexcept {
    contents_ = &at;
    initial_ = before;
    bytes_ = bytes;
    at.retain();
  }
  void start(ready_queue& queue) override;
  /// Completes the node as soon as it begins, because nobody will release it.
  void give_up() noexcept { given_up_ = true; }
  void release_resources() noexcept override {
    contents_->release();
    if (initial_ != nullptr) initial_->release();
  }
  std::string description() const override { return "a view that acquire() returned and that still exists"; }
  bool held() const noexcept { return held_; }
  contents& at() noexcept { return *contents_; }

 private:
  contents *contents_ = nullptr, *initial_ = nullptr;
  std::size_t bytes_ = 0;
  bool held_ = false, given_up_ = false;
};

}  // namespace tutti::tasks
