// SPDX-License-Identifier: Apache-2.0
//
// Transfers that the program requests: sends and receives of data with a peer and a tag. On the
// ranks of the runtime they are messages of the task graph, and match by sender and tag in the
// order in which they begin. On another communicator they are messages of that communicator.
//
// task_graph makes their nodes, hands over arrivals, and polls. lost_transfers gives receives up
// whose senders have ended. Only the rank's own thread calls.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/follow_ups.hpp"
#include "frontends/tasks/replica_directory.hpp"
#include "frontends/tasks/transfer_services.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::detail {
class communicator_impl;
}

namespace tutti::tasks {

class explicit_transfers;

/// What the program knows about a transfer that it requested.
struct explicit_request {
  bool over = false;
  detail::envelope found;
  std::exception_ptr error;
};

/// Transfers with one follow-up.
struct explicit_group {
  std::size_t left = 0;
  follow_up then;
};

/// A transfer that the program requested.
class explicit_transfer_node final : public node, public send_listener, public receive_listener {
 public:
  explicit_transfer_node(explicit_transfers& of, const explicit_transfer& t, contents& at, bool sends);
  void go(ready_queue& by) override;
  void end() noexcept override;
  void let_go() noexcept override { at_.drop(); }
  std::string what() const override;

  std::shared_ptr<explicit_request> request;
  std::shared_ptr<explicit_group> group;

  bool matches(const arrival& a) const noexcept;
  bool receives_from(int r) const noexcept { return peer_ == rank::any || peer_ == r; }
  void arrived(std::unique_ptr<arrival> a);
  void sent() override { finish(); }
  void received() override;
  /// On another communicator: whether it is complete.
  bool poll();
  /// Its message will never arrive.
  void give_up(std::exception_ptr why) {
    fail_with(std::move(why));
    finish();
  }

 private:
  bool begin_elsewhere();
  void send();
  void finish();
  void fail_with(std::exception_ptr e);

  explicit_transfers& of_;
  const transfer_services& with_;
  contents& at_;
  std::size_t bytes_;
  int peer_, tag_;
  detail::communicator_impl* where_;
  bool sends_;
  task_trace::clock::time_point began_;
  std::unique_ptr<arrival> arrival_;
  block* truncated_ = nullptr;  // where a message goes that is too long
  detail::pending_call elsewhere_;
  detail::envelope found_;
  std::exception_ptr error_;
};

class explicit_transfers {
 public:
  /// `ranks`: the communicator of the runtime; null if no transfer is on another communicator.
  explicit_transfers(const transfer_services& with, replica_directory& replicas, follow_ups& then,
                     const detail::communicator_impl* ranks) noexcept
      : with_(with), replicas_(replicas), then_(then), ranks_(ranks) {}
  explicit_transfers(const explicit_transfers&) = delete;
  explicit_transfers& operator=(const explicit_transfers&) = delete;

  /// A node, not yet released. The contents of the data are at their home, and no reduction is
  /// open.
  explicit_transfer_node& make(const explicit_transfer& t, bool sends);
  /// Gives a message to the first receive that matches, or keeps it.
  void handle(std::unique_ptr<arrival> a);
  /// Progresses transfers on other communicators. Returns whether any is complete.
  bool poll() { return !elsewhere_.empty() && poll_all(); }
  /// Whether a receive waits, or a transfer on another communicator is under way.
  bool busy() const noexcept { return !posted_.empty() || !elsewhere_.empty(); }
  bool busy_elsewhere() const noexcept { return !elsewhere_.empty(); }
  /// This rank will begin no more receives: throws mismatch_error if the sender of a kept message
  /// waits for one, now or later.
  void close();

  /// Whether a posted receive could be from the rank.
  bool awaits(int rank) const noexcept;
  /// Gives up the receives all of whose senders have ended. `ended` is by rank.
  void give_up(const std::vector<bool>& ended);

  // --- for the nodes
  const transfer_services& services() const noexcept { return with_; }
  void post(explicit_transfer_node& one);
  void poll_later(explicit_transfer_node& one) { elsewhere_.push_back(&one); }
  /// Counts what is sent on another communicator, if the peer is a rank of the runtime.
  void count_elsewhere(detail::communicator_impl& where, int peer, std::size_t bytes) noexcept;
  void complete(explicit_group& g) {
    if (--g.left == 0) then_.add(std::move(g.then));
  }

 private:
  bool poll_all();
  void refuse_unexpected() const;

  const transfer_services& with_;
  replica_directory& replicas_;
  follow_ups& then_;
  const detail::communicator_impl* ranks_;
  std::vector<explicit_transfer_node*> posted_;       // receives that wait for their message
  std::vector<std::unique_ptr<arrival>> unexpected_;  // messages that wait for their receive
  std::vector<explicit_transfer_node*> elsewhere_;    // under way on other communicators
  bool closed_ = false;
};

}  // namespace tutti::tasks
