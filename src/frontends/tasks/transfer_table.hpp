// SPDX-License-Identifier: Apache-2.0
//
// The transfers of data that tasks and fetch() cause. It inserts the sends and receives that the
// replica directory requires, and matches messages with receives. A message names its
// origin, the data, and the sequence number of the transfer between these two ranks. So its path
// and order do not matter.
//
// task_graph requests transfers while it inserts, and hands over arrivals. lost_transfers queries
// receives whose message is missing. Only the rank's own thread calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "frontends/tasks/data_registry.hpp"
#include "frontends/tasks/replica_directory.hpp"
#include "frontends/tasks/transfer_nodes.hpp"

namespace tutti::tasks {

class transfer_table {
 public:
  transfer_table(const transfer_services& services, data_registry& data, replica_directory& replicas) noexcept
      : services_(services), data_(data), replicas_(replicas) {}
  transfer_table(const transfer_table&) = delete;
  transfer_table& operator=(const transfer_table&) = delete;

  // --- insertion, on all ranks that the data concern
  /// Called before `rank` reads. Transfers the contents from their home, unless `rank` has them.
  void to_reader(data_handle& d, int rank) {
    const transfer_action action = replicas_.read_at(d, rank);
    if (action != transfer_action::none) insert(action, d, rank, d.home);
  }
  /// Called when a task of `rank` writes. Transfers the result to the home.
  void from_writer(data_handle& d, int rank) {
    const transfer_action action = replicas_.written_at(d, rank);
    if (action != transfer_action::none) insert(action, d, d.home, rank);
  }
  /// Transfers the contents from the home to `rank`, and records no replica.
  void to_rank(data_handle& d, int rank) {
    if (services_.rank == d.home) send(d, rank);
    if (services_.rank == rank) receive(d, d.home);
  }

  // --- arrivals
  /// The receive that matches a message, or null.
  receive_node* find_receive(const arrival& a) const noexcept;
  /// Gives a complete message to its receive, or stores it. Forwards it to other ranks first.
  void handle_contents(std::unique_ptr<arrival> a);
  /// Gives a message to this receive, which waits no longer.
  void deliver(receive_node& to, std::unique_ptr<arrival> a);

  // --- receives whose message has not arrived
  const std::vector<receive_node*>& expected() const noexcept { return expected_; }
  void remove_expected(receive_node& one);

 private:
  void insert(transfer_action action, data_handle& d, int to, int from) {
    if (action == transfer_action::send)
      send(d, to);
    else
      receive(d, from);
  }
  void send(data_handle& d, int to);
  void receive(data_handle& d, int from);
  void add_expected(receive_node& one);
  void forward(arrival& a);

  const transfer_services& services_;
  data_registry& data_;
  replica_directory& replicas_;
  std::vector<receive_node*> expected_;
};

}  // namespace tutti::tasks
