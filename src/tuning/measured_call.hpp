// SPDX-License-Identifier: Apache-2.0
//
// One collective at one size on one rank: the call, its buffers, the expected result, and the
// accesses to its data around it (measure.hpp). Elements are doubles, the root is rank 0.
//
// A size of n bytes is the vector of each rank in bcast, reduce, allreduce, scan and exscan. In
// other collectives it is all p blocks together. The blocks of the vector forms are uneven: from
// half to one and a half times the average. The neighbors of a rank are the ranks before and after
// it in a ring; there n bytes are two blocks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuning/buffer_memory.hpp"
#include "tutti/call.hpp"

namespace tutti::tuning {

/// The ranks before and after, without duplicates.
std::vector<int> neighbors(int rank, int ranks);

class measured_call {
 public:
  measured_call(collective what, std::size_t bytes, int rank, int ranks, bool in_place);
  measured_call(const measured_call&) = delete;  // the call refers to it
  measured_call& operator=(const measured_call&) = delete;

  [[nodiscard]] const tutti::call& call() const { return call_; }

  // prepare() writes known values into the operands; correct() checks the result.
  void prepare();
  [[nodiscard]] bool correct() const;

  void touch() {
    for (std::size_t i = 0; i < touched_.size(); i += line) touched_[i] += 1;
  }
  void read() const;
  void touch(std::size_t round) {
    if (!touched_.empty()) touched_[round * line & touched_mask_] += 1;
  }
  void read(std::size_t round) const;

  static constexpr std::size_t line = 64 / sizeof(double);

 private:
  void set_counts();
  void set_buffers();
  template <class Visit>
  void each_result(const Visit& f) const;  // calls f(at, value) with the value required in `read_`
  [[nodiscard]] std::size_t uneven_count(int from, int to) const;
  [[nodiscard]] std::size_t offset_of(int rank) const;

  int rank_, ranks_;
  std::size_t n_ = 0, block_ = 0;  // elements
  tutti::call call_;
  std::vector<int> neighbors_;
  std::vector<std::size_t> in_counts_, out_counts_;
  std::size_t sent_ = 0, received_ = 0, local_offset_ = 0;
  buffer_memory in_memory_, out_memory_;
  std::span<double> in_, out_, touched_, read_;
  std::size_t touched_mask_ = 0, read_mask_ = 0;
};

}  // namespace tutti::tuning
