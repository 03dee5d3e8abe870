// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TRACE=tasks:FILE: records when kernels ran, when data traveled, and when the rank had
// nothing to do. The file is JSON for the viewers of Chrome and Perfetto, with one line for each
// worker of a rank. When the runtime ends, rank 0 writes the records of all ranks. A second runtime
// writes FILE.2, and so on.
//
// ready_queue records kernels, the nodes of transfers record transfers, and task_graph records idle
// times.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::detail {
class communicator_impl;
}

namespace tutti::tasks {

class task_trace {
 public:
  using clock = std::chrono::steady_clock;
  enum class kind : std::uint8_t { task, send, receive, idle };

  explicit task_trace(int workers) : lines_(static_cast<std::size_t>(workers)) {}

  /// A worker adds to its own line only.
  void add(int worker, kind what, const char* name, clock::time_point begin, clock::time_point end,
           int peer = -1, std::size_t bytes = 0) {
    lines_[static_cast<std::size_t>(worker)].push_back({what, name, begin, end, peer, bytes});
  }
  /// The records as elements of a JSON array, each with a comma behind it.
  std::string events(int rank) const;

 private:
  struct event {
    kind what;
    const char* name;
    clock::time_point begin, end;
    int peer;
    std::size_t bytes;
  };
  std::vector<std::vector<event>> lines_;  // by worker
};

/// Collective over the ranks: rank 0 writes the file.
void write_trace(const task_trace& mine, detail::communicator_impl& ranks);

}  // namespace tutti::tasks
