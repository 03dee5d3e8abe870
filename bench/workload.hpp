// SPDX-License-Identifier: Apache-2.0
//
// The data of a measured collective on one rank. It holds the sizes of the buffers, the words to
// touch before an operation and to read after it, and the expected results. All of it is the same
// for tutti and for the MPIs, and uses only doubles.
//
// The size of a case is n bytes of doubles. For bcast, reduce, allreduce, scan and exscan it is the
// vector of each rank. For gather, scatter, allgather, alltoall and reduce_scatter it is all p
// blocks together. A block then has n / p bytes, and at least one element. The root is rank 0.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/measure.hpp"

namespace bench {

enum class collective {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  scan,
  exscan,
  reduce_scatter,
  bcast_barrier,         // the cost of a bcast whose root may not run ahead
  reduce_scatter_block,  // only on request; the regular form of reduce_scatter
};

inline constexpr std::array<std::string_view, 13> collective_names{"barrier",
                                                                   "bcast",
                                                                   "reduce",
                                                                   "allreduce",
                                                                   "gather",
                                                                   "scatter",
                                                                   "allgather",
                                                                   "alltoall",
                                                                   "scan",
                                                                   "exscan",
                                                                   "reduce_scatter",
                                                                   "bcast_barrier",
                                                                   "reduce_scatter_block"};

constexpr std::string_view name(collective which) {
  return collective_names[static_cast<std::size_t>(which)];
}

inline std::optional<collective> collective_of(std::string_view requested_name) {
  const auto found = std::find(collective_names.begin(), collective_names.end(), requested_name);
  if (found == collective_names.end()) return std::nullopt;
  return static_cast<collective>(found - collective_names.begin());
}

inline std::vector<std::string> default_collectives() {
  return {collective_names.begin(), collective_names.end() - 1};
}

// The arguments of the operation on one rank. bcast uses only `in`, on every rank; barrier uses
// nothing.
struct buffers {
  std::size_t bytes = 0;  // as requested
  std::size_t count = 0;  // elements of a vector, or of all blocks together
  std::size_t block = 0;  // elements of a block
  double* in = nullptr;
  double* out = nullptr;
};

// The data of one case on one rank: fills, touches, reads and checks the buffers.
class workload {
 public:
  workload(collective which, std::size_t bytes, int rank, int ranks)
      : which_(which), rank_(static_cast<std::size_t>(rank)), ranks_(static_cast<std::size_t>(ranks)) {
    buffers_.bytes = bytes;
    if (which == collective::barrier) {
      buffers_.bytes = 0;
    } else if (blocks()) {
      buffers_.block = std::max<std::size_t>(1, bytes / sizeof(double) / ranks_);
      buffers_.count = buffers_.block * ranks_;
    } else {
      buffers_.count = std::max<std::size_t>(1, bytes / sizeof(double));
    }
  }

  workload(const workload&) = delete;  // spans may refer to dummy_
  workload& operator=(const workload&) = delete;
  ~workload() = default;

  // The numbers of elements that the two buffers must hold.
  [[nodiscard]] std::size_t in_elements() const { return std::max(sent(), is_bcast() ? received() : 0); }
  [[nodiscard]] std::size_t out_elements() const { return is_bcast() ? 0 : received(); }

  void set_buffers(double* in, double* out) {
    buffers_.in = in;
    buffers_.out = out;
    touched_ = sent() > 0 ? std::span(in, sent()) : std::span(dummy_);
    read_ = received() > 0 ? std::span(is_bcast() ? in : out, received()) : std::span(dummy_);
    touched_mask_ = std::bit_floor(touched_.size()) - 1;
    read_mask_ = std::bit_floor(read_.size()) - 1;
  }

  [[nodiscard]] const buffers& get() const { return buffers_; }

  void touch() {
    for (std::size_t i = 0; i < touched_.size(); i += line) touched_[i] += 1;
  }
  void read() const {
    double sum = 0;
    for (std::size_t i = 0; i < read_.size(); i += line) sum += read_[i];
    tutti::tuning::do_not_optimize(sum);
  }
  void touch(std::size_t round) { touched_[round * line & touched_mask_] += 1; }
  void read(std::size_t round) const { tutti::tuning::do_not_optimize(read_[round * line & read_mask_]); }

  // The time of a wrong result is worthless. So known values go in, and every step-th result is
  // checked. With step == line, this repairs what touch() has changed, and checks only those words.
  void prepare(std::size_t step) {
    for (std::size_t i = 0; i < received(); i += step) read_[i] = -1;
    for (std::size_t i = 0; i < sent(); i += step) touched_[i] = value(rank_, i);
  }
  [[nodiscard]] bool correct(std::size_t step) const {
    for (std::size_t i = 0; i < received(); i += step) {
      if (read_[i] != expected(i)) return false;
    }
    return true;
  }

  static constexpr std::size_t line = 64 / sizeof(double);

 private:
  // Whole numbers, so that sums are exact in any order; a different one for each rank and index.
  static double value(std::size_t rank, std::size_t i) {
    return static_cast<double>((rank + 1) * 16777259 + i);
  }
  static double sum(std::size_t ranks, std::size_t i) {  // of value() over the first ranks
    return static_cast<double>(ranks * (ranks + 1) / 2 * 16777259 + ranks * i);
  }

  [[nodiscard]] double expected(std::size_t i) const {
    const std::size_t block = std::max<std::size_t>(1, buffers_.block);
    switch (which_) {
      case collective::barrier:
        return 0;
      case collective::bcast:
      case collective::bcast_barrier:
        return value(0, i);
      case collective::reduce:
      case collective::allreduce:
        return sum(ranks_, i);
      case collective::scan:
        return sum(rank_ + 1, i);
      case collective::exscan:
        return sum(rank_, i);
      case collective::gather:
      case collective::allgather:
        return value(i / block, i % block);
      case collective::scatter:
        return value(0, rank_ * block + i);
      case collective::alltoall:
        return value(i / block, rank_ * block + i % block);
      case collective::reduce_scatter:
      case collective::reduce_scatter_block:
        return sum(ranks_, rank_ * block + i);
    }
    return 0;
  }

  [[nodiscard]] bool is_bcast() const {
    return which_ == collective::bcast || which_ == collective::bcast_barrier;
  }
  [[nodiscard]] bool blocks() const {
    switch (which_) {
      case collective::gather:
      case collective::scatter:
      case collective::allgather:
      case collective::alltoall:
      case collective::reduce_scatter:
      case collective::reduce_scatter_block:
        return true;
      default:
        return false;
    }
  }
  [[nodiscard]] std::size_t sent() const {  // elements that this rank sends
    switch (which_) {
      case collective::barrier:
        return 0;
      case collective::bcast:
      case collective::bcast_barrier:
      case collective::scatter:
        return rank_ == 0 ? buffers_.count : 0;
      case collective::gather:
      case collective::allgather:
        return buffers_.block;
      default:
        return buffers_.count;
    }
  }
  [[nodiscard]] std::size_t received() const {  // elements that hold a result on this rank
    switch (which_) {
      case collective::barrier:
        return 0;
      case collective::bcast:
      case collective::bcast_barrier:
        return rank_ == 0 ? 0 : buffers_.count;
      case collective::reduce:
      case collective::gather:
        return rank_ == 0 ? buffers_.count : 0;
      case collective::scatter:
      case collective::reduce_scatter:
      case collective::reduce_scatter_block:
        return buffers_.block;
      default:
        return buffers_.count;
    }
  }

  collective which_;
  std::size_t rank_;
  std::size_t ranks_;
  buffers buffers_;
  std::array<double, line> dummy_{};  // for a rank that sends or receives nothing
  std::span<double> touched_;
  std::span<double> read_;
  std::size_t touched_mask_ = 0;
  std::size_t read_mask_ = 0;
};

}  // namespace bench
