// SPDX-License-Identifier: Apache-2.0
//
// The record of data on one rank. The data registry creates it. Its parts belong to the classes
// that are named below; no other class writes them. The order of insertion determines all of it. So
// ranks that insert the same tasks have equal records without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_messages.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

class data_registry;
class receive_node;
struct partial;
struct collection;

/// One replica that one rank holds of data whose home is another rank. Both ranks have a record of
/// it, in a list of replicas that is the same on both.
struct replica {
  data_handle* data = nullptr;
  int peer = 0;  // the other rank
  replica *prev = nullptr, *next = nullptr;
  bool valid = false;  // up to date, and in a list
};

/// A rank collects the contributions of this rank to a reduction.
struct collect_request {
  int from = 0, home = 0;
  std::uint32_t token = 0;
  std::uint32_t index = 0, count = 0;
  std::vector<forwarding> forward_to;
};

/// The state of these data that concerns one other rank. Its address does not change.
struct peer_record {
  int rank = 0;
  std::uint32_t sent = 0, received = 0;       // transfers to and from there (transfer_table)
  std::uint32_t requested = 0, supplied = 0;  // contributions, from and for there (reductions)
  replica remote_replica;                     // which that rank holds (replica_directory)
};

struct data_handle {
  explicit data_handle(const data_registry& r) noexcept;
  ~data_handle();
  data_handle(const data_handle&) = delete;

  // --- data_registry
  const data_registry& registry;
  std::int64_t id = 0;  // below 0: -1 - tag
  extent spec;
  std::size_t bytes = 0;

  // --- replica_directory
  int owner = 0;
  /// The rank that has the contents: the owner, or the previous owner until they are sent.
  int home = 0;
  contents* local_version = nullptr;  // the contents on this rank; null: none
  bool in_place = false;              // writers write in place, and make no new version
  bool readable = false;              // the data have a value when the writer is complete
  node_ref writer;                    // of `local_version`
  std::vector<node_ref> readers;      // of `local_version`, if written in place
  node_ref pending_send;              // of `local_version`; more ranks may join until it begins
  replica local_replica;              // valid: `local_version` equals the contents of `home`

  // --- transfer_table
  std::vector<receive_node*> expected;               // receives whose message has not arrived
  std::vector<std::unique_ptr<arrival>> unexpected;  // messages whose receive is not inserted yet

  // --- reductions
  std::vector<std::unique_ptr<partial>> partials;  // contributions here for another home
  std::vector<collect_request> collect_requests;   // for these
  std::unique_ptr<collection> open_reduction;      // at home: a reduction that is not closed

  // --- transfer_table, reductions and replica_directory
  std::vector<std::unique_ptr<peer_record>> peers;
  peer_record& peer(int rank) {
    for (auto& p : peers)
      if (p->rank == rank) return *p;
    return add_peer(rank);
  }

 private:
  peer_record& add_peer(int rank);
};

/// The name of the data in reports.
std::string name_of(const data_handle& d);

}  // namespace tutti::tasks
