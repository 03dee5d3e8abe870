// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a transfer of data between two ranks: transfer_table makes a send_node on one and a
// receive_node on the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/data_handle.hpp"
#include "frontends/tasks/transfer_services.hpp"

namespace tutti::tasks {

/// Sends contents to other ranks; more ranks may join until it begins.
class send_node final : public node, public send_listener {
 public:
  send_node(const transfer_services& with, const data_handle& d, contents& from)
      : node(false), with_(with), from_(from), id_(d.id), bytes_(d.bytes) {
    from.keep();
  }
  void add(int to, std::uint32_t sequence) { to_.push_back({to, sequence, 0}); }
  /// Whether a rank may join: it is not a target yet, and the send has not begun.
  bool takes(int to) const noexcept {
    for (const forwarding& one : to_)
      if (one.rank == to) return false;
    return !begun_;
  }
  void go(ready_queue& by) override;
  void let_go() noexcept override { from_.drop(); }
  void sent() override;
  std::string what() const override { return "a send"; }

 private:
  void finish();

  const transfer_services& with_;
  contents& from_;
  std::int64_t id_;
  std::size_t bytes_;
  std::size_t left_ = 0;
  bool begun_ = false;
  task_trace::clock::time_point began_;
  std::vector<forwarding> to_;
};

/// Receives contents from another rank. It is complete when it has begun and its message is here.
class receive_node final : public node, public receive_listener {
 public:
  receive_node(const transfer_services& with, data_handle& d, contents& into, int origin,
               std::uint32_t sequence)
      : node(false),
        with_(with),
        of_(d),
        into_(into),
        bytes_(d.bytes),
        in_place_(d.fixed),
        origin_(origin),
        sequence_(sequence) {
    into.keep();
  }
  void go(ready_queue& by) override;
  void let_go() noexcept override { into_.drop(); }
  std::string what() const override { return "data from rank " + std::to_string(origin_); }

  data_handle& of() const noexcept { return of_; }
  int origin() const noexcept { return origin_; }
  std::uint32_t sequence() const noexcept { return sequence_; }
  bool inquired = false;  // lost_transfers has asked the other rank
  std::size_t index = 0;  // in the table's list
  /// Whether long contents may go straight to where they belong.
  bool waits_in_place() const noexcept { return begun_ && in_place_; }
  void arrived(std::unique_ptr<arrival> a);
  void received() override;
  /// The message will never arrive.
  void give_up(const failure* why);

 private:
  void proceed();
  void poison(const failure* why);
  void finish();

  const transfer_services& with_;
  data_handle& of_;
  contents& into_;
  std::size_t bytes_;
  bool in_place_, begun_ = false;
  int origin_;
  std::uint32_t sequence_;
  const failure* lost_ = nullptr;
  task_trace::clock::time_point began_;
  std::unique_ptr<arrival> arrival_;
};

}  // namespace tutti::tasks
