// SPDX-License-Identifier: Apache-2.0
//
// The data of one rank's runtime: creation, removal, and the names by which ranks identify them. A
// name is a tag, or the index in the order of creation. Messages may arrive before their data are
// created here; the registry stores them.
//
// task_graph creates and removes data for the program. The tables that handle messages look names
// up. Only the rank's own thread calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "frontends/tasks/data_handle.hpp"

namespace tutti::tasks {

class data_registry {
 public:
  data_registry() = default;
  data_registry(const data_registry&) = delete;
  data_registry& operator=(const data_registry&) = delete;

  /// Null if other data have the tag. O(1). Contents exist if the program gives memory.
  data_handle* add(const extent& e, std::size_t bytes);
  /// Destroys data that nothing uses. Their unexpected messages wait for the next data of their
  /// name.
  void remove(data_handle& d);
  /// Renames data. Returns false if other data have the tag.
  bool set_tag(data_handle& d, long tag);
  /// Null if this rank has no data of the name.
  data_handle* find(std::int64_t id) const noexcept;
  bool has(const data_handle& d) const noexcept { return &d.registry == this; }

  /// Stores a message that names data that do not exist here.
  void store_unmatched(std::unique_ptr<arrival> a) { unmatched_.push_back(std::move(a)); }
  /// Removes and returns the stored messages that name these data, oldest first.
  std::vector<std::unique_ptr<arrival>> take_unmatched(const data_handle& d);

  auto begin() const noexcept { return data_.begin(); }
  auto end() const noexcept { return data_.end(); }

 private:
  bool assign_tag(data_handle& d, long tag);

  std::vector<std::unique_ptr<data_handle>> data_;
  std::vector<data_handle*> by_index_;  // null: removed, or renamed
  std::unordered_map<std::int64_t, data_handle*> by_tag_;
  /// Ranks count the transfers of a tag, whichever data have it.
  struct counts_of_tag {
    std::vector<std::unique_ptr<peer_record>> peers;
    std::vector<collect_request> collect_requests;
  };
  std::unordered_map<std::int64_t, counts_of_tag> unused_tags_;
  std::vector<std::unique_ptr<arrival>> unmatched_;
};

}  // namespace tutti::tasks
