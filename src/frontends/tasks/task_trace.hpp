// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TRACE=tasks:FILE: when kernels ran, data travelled, and the rank had nothing to do, as a trace that
// Chrome's viewer and Perfetto read. Each worker of a rank has a line of its own. What all ranks have seen is
// written by rank 0 when the runtime ends; a second runtime writes FILE.2, and so on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tasks {

class task_trace {
 public:
  using clock = std::chrono::steady_clock;
  enum class kind : std::uint8_t { task, send, receive, idle };

  explicit task_trace(int workers) : lines_(static_cast<std::size_t>(workers)) {}

  /// Each worker writes its own line.
  void add(int worker, kind what, const char* name, clock::time_point begin, clock::time_point end,
           int peer = -1, std::size_t bytes = 0) {
    lines_[static_cast<std::size_t>(worker)].push_back({what, name, begin, end, peer, bytes});
  }
  /// Of this rank, as elements of an array of JSON, each with a comma behind it.
  std::string events(int rank) const;

 private:
  struct event {
    kind what;
    const char* name;
    clock::time_point begin, end;
    int peer;
    std::size_t bytes;
  };
  std::vector<std::vector<event>> lines_;
};

}  // namespace tutti::tasks
