// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TRACE=calls: a report of the calls that ran. One line for each communicator and kind of
// call: number of calls, algorithm, bytes, time. Only rank 0 collects it, and reports when its last
// communicator ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "selection/choose.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

/// The properties that all calls of one line share.
struct call_kind {
  /// 1 is the job; others are counted in the order in which they are made.
  std::uint64_t communicator = 1;
  int ranks = 1;
  collective what = collective::barrier;
  bool nonblocking = false;  ///< or persistent
  bool inter = false;
  bool in_place = false;
  bool at_root = false;  ///< of rooted collectives: the reporting rank is the root
  element_kind type = element_kind::opaque;
  builtin_op op = builtin_op::user;
  bool commutative = true;
  /// Elements of a block; 0 in vector forms, whose counts vary from call to call.
  std::uint64_t count = 0;
  std::uint64_t element = 1;  ///< bytes
  const composed_algorithm* composed = nullptr;
  /// null: the native collective, unless the call is composed.
  const pure_algorithm* pure = nullptr;
  algorithm_parameter_values parameter_values{};  ///< of the algorithm or composition that ran

  friend auto operator<=>(const call_kind&, const call_kind&) = default;
};

/// The kind of a blocking call with this choice.
call_kind kind_of(const call& c, const composed_choice& composed, const choice& pure,
                  std::uint64_t communicator, int rank, int ranks, bool inter);

/// Inner calls of a composed call: one, or several equal ones.
struct inner_call {
  collective what = collective::barrier;
  int ranks = 1;
  std::uint64_t count = 0;
  bool in_place = false;
  choice chosen;
  std::uint64_t times = 1;
};

/// The bytes of the call's vector, or of all its blocks, on this rank. The maximum of what it sends
/// and what it receives. `blocks`: the number of blocks of a regular call.
std::uint64_t bytes_of(const call& c, int blocks) noexcept;

/// The parsed value of TUTTI_TRACE.
struct trace_options {
  bool calls = false;
  std::string file;        ///< for JSON; empty: a table on standard error
  std::string tasks_file;  ///< for the trace of tasks (src/frontends/tasks); empty: none
};
/// Parses "calls" or "calls:json=FILE", "tasks:FILE", or two of them separated by a comma. For any
/// other text throws a usage_error that names TUTTI_TRACE.
trace_options read_trace(const std::string& text);

class call_trace {
 public:
  using duration = std::chrono::nanoseconds;
  /// Kinds beyond this number share one line.
  static constexpr std::size_t max_kinds = 1000;

  call_trace(std::string file, std::string engine, int ranks);
  /// Writes the report.
  ~call_trace();
  call_trace(const call_trace&) = delete;
  call_trace& operator=(const call_trace&) = delete;

  void add(const call_kind& kind, std::uint64_t bytes, duration elapsed);
  /// Records the inner calls of a composed kind on this rank. Equal ones are merged. For vector
  /// forms the last record counts, because their counts vary.
  void set_inner_calls(const call_kind& kind, const std::vector<inner_call>& calls);

  std::string table() const;
  std::string json() const;

 private:
  struct line {
    call_kind kind;
    std::uint64_t calls = 0, bytes = 0;
    duration elapsed{0};
    std::vector<inner_call> inside;
  };
  line& line_of(const call_kind& kind);

  std::string file_, engine_;
  int ranks_;
  std::map<call_kind, std::size_t> line_index_;  // indices into lines_
  std::vector<line> lines_;                      // by first use; lines_[0] is the shared line
};

}  // namespace tutti::detail
