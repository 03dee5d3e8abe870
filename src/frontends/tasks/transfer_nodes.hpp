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
  send_node(const transfer_services& services, const data_handle& d, contents& from)
      : node(false), services_(services), from_(from), id_(d.id), bytes_(d.bytes) {
    from.retain();
  }
  void add(int to, std::uint32_t sequence) { to_.push_back({to, sequence, 0}); }
  /// Whether a rank may join: it is not a target yet, and the send has not begun.
  bool can_add(int to) const noexcept {
    for (const forwarding& one : to_)
      if (one.rank == to) return false;
    return !begun_;
  }
  void start(ready_queue& queue) override;
  void release_resources() noexcept override { from_.release(); }
  void sent() override;
  std::string description() const override { return "a send"; }

 private:
  void finish();

  const transfer_services& services_;
  contents& from_;
  std::int64_t id_;
  std::size_t bytes_;
  std::size_t remaining_ = 0;
  bool begun_ = false;
  task_trace::clock::time_point began_;
  std::vector<forwarding> to_;
};

/// Receives contents from another rank. It is complete when it has begun and its message is here.
class receive_node final : public node, public receive_listener {
 public:
  receive_node(const transfer_services& services, data_handle& d, contents& into, int origin,
               std::uint32_t sequence)
      : node(false),
        services_(services),
        data_(d),
        into_(into),
        bytes_(d.bytes),
        in_place_(d.in_place),
        origin_(origin),
        sequence_(sequence) {
    into.retain();
  }
  void start(ready_queue& queue) override;
  void release_resources() noexcept override { into_.release(); }
  std::string description() const override { return "data from rank " + std::to_string(origin_); }

  data_handle& data() const noexcept { return data_; }
  int origin() const noexcept { return origin_; }
  std::uint32_t sequence() const noexcept { return sequence_; }
  bool inquired = false;  // lost_transfers has sent an inquiry
  std::size_t index = 0;  // in the table's list
  /// Whether long contents may be received directly at their destination.
  bool can_receive_directly() const noexcept { return begun_ && in_place_; }
  void arrived(std::unique_ptr<arrival> a);
  void received() override;
  /// The message will never arrive.
  void give_up(const failure* why);

 private:
  void proceed();
  void poison(const failure* why);
  void finish();

  const transfer_services& services_;
  data_handle& data_;
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
