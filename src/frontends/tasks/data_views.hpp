// SPDX-License-Identifier: Apache-2.0
//
// The program's own use of data, at its place among the tasks. task_graph::acquire() makes a
// hold_node, and release_view() completes it.
#pragma once

#include <cstddef>
#include <string>

#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_node.hpp"

namespace tutti::tasks {

class hold_node final : public node {
 public:
  hold_node() noexcept : node(false) {}
  /// The version that is held. `before`: its initial value, with a use that the node drops, or
  /// null.
  void set(contents& at, contents* before, std::size_t bytes) noexcept {
    at_ = &at;
    before_ = before;
    bytes_ = bytes;
    at.keep();
  }
  void go(ready_queue& by) override;
  /// Completes the node as soon as it begins, because nobody will release it.
  void give_up() noexcept { given_up_ = true; }
  void let_go() noexcept override {
    at_->drop();
    if (before_ != nullptr) before_->drop();
  }
  std::string what() const override { return "a view that acquire() returned and that still exists"; }
  bool held() const noexcept { return held_; }
  contents& at() noexcept { return *at_; }

 private:
  contents *at_ = nullptr, *before_ = nullptr;
  std::size_t bytes_ = 0;
  bool held_ = false, given_up_ = false;
};

}  // namespace tutti::tasks
