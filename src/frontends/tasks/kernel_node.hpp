// SPDX-License-Identifier: Apache-2.0
//
// The nodes that any worker runs: a task of the program, and the combination of two contributions
// to a reduction. insert.cpp makes the first, task_reductions.cpp the second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

/// One argument of a task.
struct argument {
  contents* target = nullptr;
  contents* initial = nullptr;  // the initial value of `target`, if the task makes a new version
  const reducer* op = nullptr;  // for a contribution: the initial value of `target` is neutral
  std::uint32_t count = 0, element = 0;
  bool reads = false, writes = false;

  std::size_t bytes() const noexcept { return std::size_t{count} * element; }
};

/// A task that this rank runs.
class kernel_node final : public node {
 public:
  kernel_node(const kernel_operations& k, std::size_t arguments, const char* name, std::uint64_t id);
  ~kernel_node() override;
  void start(ready_queue& queue) override;
  void release_resources() noexcept override;
  std::string description() const override;

  argument& operator[](std::size_t i) noexcept { return arguments_[i]; }
  std::size_t size() const noexcept { return size_; }
  void* closure() const noexcept { return closure_; }
  const char* name() const noexcept { return name_; }

 private:
  const failure* first_poisoned() const noexcept;
  void end_closure() noexcept;

  const kernel_operations* kernel_;
  argument* arguments_;
  void* closure_;
  std::byte* heap_ = nullptr;  // arguments and closure, if they do not fit into the node
  const char* name_;
  std::uint64_t id_;
  std::uint32_t size_;
  bool ended_ = false;  // the closure
  alignas(16) std::byte local_[272];
};
static_assert(sizeof(kernel_node) <= node_pool::max_node_bytes);

/// Two contributions become one.
class combine_node final : public node {
 public:
  combine_node(contents& into, contents& part, const reducer& op, std::size_t n)
      : node(true), into_(into), part_(part), op_(op), n_(n) {
    into.retain();
    part.retain();
  }
  void start(ready_queue& queue) override;
  void release_resources() noexcept override {
    into_.release();
    part_.release();
  }

 private:
  contents &into_, &part_;
  const reducer& op_;
  std::size_t n_;
};

}  // namespace tutti::tasks
