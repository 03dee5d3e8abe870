// SPDX-License-Identifier: Apache-2.0
//
// What one rank has measured: timers and counters, each inside of what ran when it began. The warm way, of
// a name that was seen before at this place, allocates nothing and hashes nothing.
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
    int found = none;  // the child that was asked for last
    int depth = -1;
    std::uint64_t calls = 0;       // 0: it stands here for other ranks alone
    std::int64_t nanoseconds = 0;  // of a timer
    double amount = 0;             // of a counter
    std::vector<double> each;      // seconds of the runs that were appended
    clock::time_point begun{};
  };
  static constexpr int none = -1, top = 0;

  measured_tree() : nodes_(1) {}

  void start(std::string_view name) {
    running_ = child(running_, true, name);
    node& n = nodes_[static_cast<std::size_t>(running_)];
    ++depth_;
    n.begun = clock::now();
  }
  // False where nothing runs.
  bool stop(bool append) {
    const auto now = clock::now();
    if (running_ == top) return false;
    node& n = nodes_[static_cast<std::size_t>(running_)];
    const std::chrono::nanoseconds took = now - n.begun;
    n.nanoseconds += took.count();
    ++n.calls;
    running_ = n.parent;
    --depth_;
    if (append) n.each.push_back(std::chrono::duration<double>(took).count());
    return true;
  }
  void count(std::string_view name, double amount) {
    node& n = nodes_[static_cast<std::size_t>(child(running_, false, name))];
    n.amount += amount;
    ++n.calls;
  }

  int depth() const noexcept { return depth_; }  // how many run
  const std::string& running() const noexcept { return at(running_).name; }

  const node& at(int i) const noexcept { return nodes_[static_cast<std::size_t>(i)]; }
  /// The child of that kind and name; none where there is none yet.
  int find(int parent, bool is_timer, std::string_view name) const noexcept;
  /// The same, made where there is none yet.
  int child(int parent, bool is_timer, std::string_view name);

  /// All nodes but the top, parents before children.
  std::vector<int> in_order() const;

  /// Names, kinds, depths and how many runs were appended: what ranks must have in common to add figures.
  std::vector<char> outline() const;
  /// Adds what an outline has and this tree has not; appended runs as many as the longer of both has.
  void absorb(const char* outline, std::size_t length);

 private:
  std::vector<node> nodes_;  // the first is the top
  int running_ = top, depth_ = 0;
};

}  // namespace tutti::detail
