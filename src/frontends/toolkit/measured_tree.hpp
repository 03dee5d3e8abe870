// SPDX-License-Identifier: Apache-2.0
//
// The measurements of one rank: a tree of timers and counters. Each is a child of the timer that
// ran when it began. A name that was used before at this place costs no allocation and no hash.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::detail {

class measured_tree {
 public:
  using clock = std::chrono::steady_clock;

  struct node {
    std::string name;
    bool is_timer = true;
    int parent = none, first_child = none, next = none;
    int last_found = none;  // the child found last
    int depth = -1;
    std::uint64_t calls = 0;       // 0: it exists only for other ranks
    std::int64_t nanoseconds = 0;  // of a timer
    double amount = 0;             // of a counter
    std::vector<double> each;      // seconds of the appended runs
    clock::time_point started_at{};
  };
  static constexpr int none = -1, top = 0;

  measured_tree() : nodes_(1) {}

  void start(std::string_view name) {
    running_ = child(running_, true, name);
    node& n = nodes_[static_cast<std::size_t>(running_)];
    ++depth_;
    n.started_at = clock::now();
  }
  // Returns false if no timer runs.
  bool stop(bool append) {
    const auto now = clock::now();
    if (running_ == top) return false;
    node& n = nodes_[static_cast<std::size_t>(running_)];
    const std::chrono::nanoseconds elapsed = now - n.started_at;
    n.nanoseconds += elapsed.count();
    ++n.calls;
    running_ = n.parent;
    --depth_;
    if (append) n.each.push_back(std::chrono::duration<double>(elapsed).count());
    return true;
  }
  void count(std::string_view name, double amount) {
    node& n = nodes_[static_cast<std::size_t>(child(running_, false, name))];
    n.amount += amount;
    ++n.calls;
  }

  int depth() const noexcept { return depth_; }  // number of running timers
  const std::string& running() const noexcept { return at(running_).name; }

  const node& at(int i) const noexcept { return nodes_[static_cast<std::size_t>(i)]; }
  /// The child of that kind and name; `none` if there is none.
  int find(int parent, bool is_timer, std::string_view name) const noexcept;
  /// The same, but makes the child if there is none.
  int child(int parent, bool is_timer, std::string_view name);

  /// All nodes except the root, parents before children.
  std::vector<int> in_order() const;

  /// Names, kinds, depths and numbers of appended runs. Ranks need a common outline to combine
  /// measurements.
  std::vector<char> outline() const;
  /// Adds the nodes of an outline that this tree lacks. The number of appended runs becomes the
  /// maximum of both.
  void merge(const char* outline, std::size_t length);

 private:
  std::vector<node> nodes_;  // the first is the root
  int running_ = top, depth_ = 0;
};

}  // namespace tutti::detail
