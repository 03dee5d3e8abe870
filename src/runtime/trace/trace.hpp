// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TRACE=calls: what ran. One line for each communicator and kind of call: how many, by which algorithm,
// how many bytes, how long. Kept by rank 0 alone, told when its last communicator ends.
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

/// What is alike in all calls of one line.
struct call_kind {
  std::uint64_t communicator = 1;  ///< 1 is the job, others are numbered as they are made
  int ranks = 1;
  collective what = collective::barrier;
  bool nonblocking = false;  ///< or persistent
  bool inter = false;
  bool in_place = false;
  bool at_root = false;  ///< of rooted collectives: the rank that tells is the root
  element_kind type = element_kind::opaque;
  builtin_op op = builtin_op::user;
  bool commutative = true;
  std::uint64_t count = 0;    ///< elements of a block; 0 in vector forms, whose counts vary from call to call
  std::uint64_t element = 1;  ///< bytes
  const composed_algorithm* composed = nullptr;
  const pure_algorithm* pure = nullptr;           ///< null: the engine's own, where it is not composed
  algorithm_parameter_values parameter_values{};  ///< of the one that ran

  friend auto operator<=>(const call_kind&, const call_kind&) = default;
};

/// The kind of a blocking call that ran so.
call_kind kind_of(const call& c, const composed_choice& composed, const choice& pure,
                  std::uint64_t communicator, int rank, int ranks, bool inter);

/// Calls that a composed one makes, one or several alike.
struct inner_call {
  collective what = collective::barrier;
  int ranks = 1;
  std::uint64_t count = 0;
  bool in_place = false;
  choice chosen;
  std::uint64_t times = 1;
};

/// The bytes of the call's vector or of all its blocks, on the rank that asks: of what it gives or of what it
/// takes, whichever is more. `blocks`: how many blocks a regular call has.
std::uint64_t bytes_of(const call& c, int blocks) noexcept;

/// TUTTI_TRACE, as read.
struct trace_options {
  bool calls = false;
  std::string file;        ///< for JSON; empty: a table on standard error
  std::string tasks_file;  ///< for what tasks do (src/frontends/tasks); empty: not wished
};
/// "calls" or "calls:json=FILE", "tasks:FILE", or two with a comma between; throws usage_error in the name of
/// TUTTI_TRACE for any other text.
trace_options read_trace(const std::string& text);

class call_trace {
 public:
  using duration = std::chrono::nanoseconds;
  /// Kinds beyond this are told together.
  static constexpr std::size_t max_kinds = 1000;

  call_trace(std::string file, std::string engine, int ranks);
  /// Tells.
  ~call_trace();
  call_trace(const call_trace&) = delete;
  call_trace& operator=(const call_trace&) = delete;

  void add(const call_kind& kind, std::uint64_t bytes, duration took);
  /// What calls of a composed kind consist of on this rank, of which alike ones are told together. Of vector
  /// forms the last one is told, since their counts vary.
  void consists_of(const call_kind& kind, const std::vector<inner_call>& calls);

  std::string table() const;
  std::string json() const;

 private:
  struct line {
    call_kind kind;
    std::uint64_t calls = 0, bytes = 0;
    duration took{0};
    std::vector<inner_call> inside;
  };
  line& line_of(const call_kind& kind);

  std::string file_, engine_;
  int ranks_;
  std::map<call_kind, std::size_t> places_;  // in lines_
  std::vector<line> lines_;                  // by first use; lines_[0] is that of the others
};

}  // namespace tutti::detail
