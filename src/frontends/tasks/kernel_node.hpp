// SPDX-License-Identifier: Apache-2.0
//
// The nodes that any worker runs: a task of the program, and the combination of two contributions
// to a reduction. insert.cpp makes the first, reductions.cpp the second.
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
  contents* at = nullptr;
  contents* from = nullptr;     // the initial value of `at`, if the task makes a new version
  const reducer* by = nullptr;  // for a contribution: the initial value of `at` is neutral
  std::uint32_t count = 0, element = 0;
  bool reads = false, writes = false;

  std::size_t bytes() const noexcept { return std::size_t{count} * element; }
};

/// A task that this rank runs.
class kernel_node final : public node {
 public:
  kernel_node(const code& c, std::size_t arguments, const char* name, std::uint64_t id);
  ~kernel_node() override;
  void go(ready_queue& by) override;
  void let_go() noexcept override;
  std::string what() const override;

  argument& operator[](std::size_t i) noexcept { return arguments_[i]; }
  std::size_t size() const noexcept { return size_; }
  void* closure() const noexcept { return closure_; }
  const char* name() const noexcept { return name_; }

 private:
  const failure* first_poisoned() const noexcept;
  void end_closure() noexcept;

  const code* type_;
  argument* arguments_;
  void* closure_;
  std::byte* apart_ = nullptr;  // arguments and closure, if they do not fit into the node
  const char* name_;
  std::uint64_t id_;
  std::uint32_t size_;
  bool ended_ = false;  // the closure
  alignas(16) std::byte local_[272];
};
static_assert(sizeof(kernel_node) <= node_store::most);

/// Two contributions become one.
class combine_node final : public node {
 public:
  combine_node(contents& into, contents& part, const reducer& by, std::size_t n)
      : node(true), into_(into), part_(part), by_(by), n_(n) {
    into.keep();
    part.keep();
  }
  void go(ready_queue& by) override;
  void let_go() noexcept override {
    into_.drop();
    part_.drop();
  }

 private:
  contents &into_, &part_;
  const reducer& by_;
  std::size_t n_;
};

}  // namespace tutti::tasks
