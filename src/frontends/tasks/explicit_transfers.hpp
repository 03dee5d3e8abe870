// SPDX-License-Identifier: Apache-2.0
//
// Transfers that the program requests: sends and receives of data with a peer and a tag. On the
// ranks of the runtime they are messages of the task graph. These match by sender and tag, in the
// order in which they begin. On another communicator they are messages of that communicator.
//
// task_graph makes their nodes, hands over arrivals, and polls. lost_transfers gives up receives
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

/// The state of a transfer that the program requested, as the program sees it.
struct explicit_request {
  bool complete = false;
  detail::envelope found;
  std::exception_ptr error;
};

/// Transfers with one common follow-up.
struct explicit_group {
  std::size_t remaining = 0;
  follow_up action;
};

/// A transfer that the program requested.
class explicit_transfer_node final : public node, public send_listener, public receive_listener {
 public:
  explicit_transfer_node(explicit_transfers& table, const explicit_transfer& t, contents& at, bool sends);
  void start(ready_queue& queue) override;
  void on_complete() noexcept override;
  void release_resources() noexcept override { contents_.release(); }
  std::string description() const override;

  std::shared_ptr<explicit_request> request;
  std::shared_ptr<explicit_group> group;

  bool matches(const arrival& a) const noexcept;
  bool receives_from(int r) const noexcept { return peer_ == rank::any || peer_ == r; }
  void arrived(std::unique_ptr<arrival> a);
  void sent() override { finish(); }
  void received() override;
  /// For a transfer on another communicator: returns whether it is complete.
  bool poll();
  /// Its message will never arrive.
  void give_up(std::exception_ptr why) {
    fail_with(std::move(why));
    finish();
  }

 private:
  bool start_on_other_communicator();
  void send();
  void finish();
  void fail_with(std::exception_ptr e);

  explicit_transfers& table_;
  const transfer_services& services_;
  contents& contents_;
  std::size_t bytes_;
  int peer_, tag_;
  detail::communicator_impl* communicator_;
  bool sends_;
  task_trace::clock::time_point began_;
  std::unique_ptr<arrival> arrival_;
  block* truncated_ = nullptr;  // receives a message that is too long
  detail::pending_call operation_;
  detail::envelope found_;
  std::exception_ptr error_;
};

class explicit_transfers {
 public:
  /// `ranks`: the communicator of the runtime; null if no transfer is on another communicator.
  explicit_transfers(const transfer_services& services, replica_directory& replicas, follow_ups& actions,
                     const detail::communicator_impl* ranks) noexcept
      : services_(services), replicas_(replicas), follow_ups_(actions), ranks_(ranks) {}
  explicit_transfers(const explicit_transfers&) = delete;
  explicit_transfers& operator=(const explicit_transfers&) = delete;

  /// A node, not yet released. The contents of the data are at their home, and no reduction is
  /// open.
  explicit_transfer_node& make(const explicit_transfer& t, bool sends);
  /// Gives a message to the first receive that matches, or stores it as unexpected.
  void handle(std::unique_ptr<arrival> a);
  /// Progresses transfers on other communicators. Returns whether any is complete.
  bool poll() { return !on_other_communicators_.empty() && poll_all(); }
  /// Whether a receive waits, or a transfer on another communicator is under way.
  bool busy() const noexcept { return !posted_.empty() || !on_other_communicators_.empty(); }
  bool busy_on_other_communicators() const noexcept { return !on_other_communicators_.empty(); }
  /// This rank will begin no more receives. Throws mismatch_error if the sender of an unexpected
  /// message waits for one, now or later.
  void close();

  /// Whether a posted receive could be from the rank.
  bool is_waiting_for(int rank) const noexcept;
  /// Gives up the receives all of whose senders have ended. `ended` is by rank.
  void give_up(const std::vector<bool>& ended);

  // --- for the nodes
  const transfer_services& services() const noexcept { return services_; }
  void post(explicit_transfer_node& one);
  void add_polled(explicit_transfer_node& one) { on_other_communicators_.push_back(&one); }
  /// Counts what is sent on another communicator, if the peer is a rank of the runtime.
  void count_on_other_communicator(detail::communicator_impl& where, int peer, std::size_t bytes) noexcept;
  void complete(explicit_group& g) {
    if (--g.remaining == 0) follow_ups_.add(std::move(g.action));
  }

 private:
  bool poll_all();
  void throw_if_unexpected() const;

  const transfer_services& services_;
  replica_directory& replicas_;
  follow_ups& follow_ups_;
  const detail::communicator_impl* ranks_;
  std::vector<explicit_transfer_node*> posted_;       // receives that wait for their message
  std::vector<std::unique_ptr<arrival>> unexpected_;  // messages that wait for their receive
  std::vector<explicit_transfer_node*> on_other_communicators_;
  bool closed_ = false;
};

}  // namespace tutti::tasks
