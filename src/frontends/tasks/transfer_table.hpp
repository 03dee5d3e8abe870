// SPDX-License-Identifier: Apache-2.0
//
// The transfers of data that tasks and fetch() cause. It inserts the sends and receives that the
// replica directory requires, and brings messages and receives together. A message names its
// origin, the data, and the sequence number of the transfer between these two ranks. So its path
// and order do not matter.
//
// task_graph asks for transfers while it inserts, and hands over arrivals. lost_transfers asks for
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
  transfer_table(const transfer_services& with, data_registry& data, replica_directory& replicas) noexcept
      : with_(with), data_(data), replicas_(replicas) {}
  transfer_table(const transfer_table&) = delete;
  transfer_table& operator=(const transfer_table&) = delete;

  // --- insertion, on all ranks that the data concern
  /// `rank` is about to read: transfers the contents from their home, unless `rank` has them.
  void to_reader(data_handle& d, int rank) {
    const transfer_action action = replicas_.read_at(d, rank);
    if (action != transfer_action::none) insert(action, d, rank, d.home);
  }
  /// A task of `rank` writes: transfers the result to the home.
  void from_writer(data_handle& d, int rank) {
    const transfer_action action = replicas_.written_at(d, rank);
    if (action != transfer_action::none) insert(action, d, d.home, rank);
  }
  /// Transfers the contents from the home to `rank`, and records no replica.
  void to_rank(data_handle& d, int rank) {
    if (with_.rank == d.home) send(d, rank);
    if (with_.rank == rank) receive(d, d.home);
  }

  // --- arrivals
  /// The receive for which a message is, or null.
  receive_node* receive_for(const arrival& a) const noexcept;
  /// Gives a complete message to its receive, or keeps it. Forwards it to other ranks first.
  void handle_contents(std::unique_ptr<arrival> a);
  /// Gives a message to this receive, which waits no longer.
  void deliver(receive_node& to, std::unique_ptr<arrival> a);

  // --- receives whose message has not arrived
  const std::vector<receive_node*>& expected() const noexcept { return expected_; }
  void forget(receive_node& one);

 private:
  void insert(transfer_action action, data_handle& d, int to, int from) {
    if (action == transfer_action::send)
      send(d, to);
    else
      receive(d, from);
  }
  void send(data_handle& d, int to);
  void receive(data_handle& d, int from);
  void expect(receive_node& one);
  void forward(arrival& a);

  const transfer_services& with_;
  data_registry& data_;
  replica_directory& replicas_;
  std::vector<receive_node*> expected_;
};

}  // namespace tutti::tasks
