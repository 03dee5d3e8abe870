// SPDX-License-Identifier: Apache-2.0
//
// The data of a measured collective on one rank: how large its buffers are, what is touched before an
// operation and read after it, and what must come out. The same for tutti and for the MPIs, on nothing but
// doubles.
//
// The size of a case, n bytes of doubles: the vector of each rank for bcast, reduce, allreduce, scan and
// exscan; all p blocks together for gather, scatter, allgather, alltoall and reduce_scatter, so that a block
// has n / p bytes, and one element at least. Roots are rank 0.
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
  bcast_barrier,         // bcast, then barrier: what a bcast costs when its root may not run ahead
  reduce_scatter_block,  // measured on demand; compares with reduce_scatter, of which it is the regular form
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

inline std::optional<collective> collective_of(std::string_view wanted) {
  const auto found = std::find(collective_names.begin(), collective_names.end(), wanted);
  if (found == collective_names.end()) return std::nullopt;
  return static_cast<collective>(found - collective_names.begin());
}

inline std::vector<std::string> default_collectives() {
  return {collective_names.begin(), collective_names.end() - 1};
}

// What one rank hands to the operation. bcast works on `in` alone, on every rank; barrier on nothing.
struct buffers {
  std::size_t bytes = 0;  // as asked for
  std::size_t count = 0;  // elements of a vector; of all blocks together where there are blocks
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

  // How many elements the two buffers must hold.
  [[nodiscard]] std::size_t in_elements() const { return std::max(sent(), is_bcast() ? received() : 0); }
  [[nodiscard]] std::size_t out_elements() const { return is_bcast() ? 0 : received(); }

  void place(double* in, double* out) {
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
    tutti::tuning::keep(sum);
  }
  void touch(std::size_t round) { touched_[round * line & touched_mask_] += 1; }
  void read(std::size_t round) const { tutti::tuning::keep(read_[round * line & read_mask_]); }

  // A figure for a wrong result is worth nothing: known values go in, every step-th one is checked when it
  // comes out. With step == line this mends what touch() has changed, and looks at those words alone.
  void prepare(std::size_t step) {
    for (std::size_t i = 0; i < received(); i += step) read_[i] = -1;
    for (std::size_t i = 0; i < sent(); i += step) touched_[i] = value(rank_, i);
  }
  [[nodiscard]] bool correct(std::size_t step) const {
    if (which_ == collective::exscan && rank_ == 0) return true;  // what stands there is not defined
    for (std::size_t i = 0; i < received(); i += step) {
      if (read_[i] != expected(i)) return false;
    }
    return true;
  }

  static constexpr std::size_t line = 64 / sizeof(double);

 private:
  // Whole numbers, so that sums are exact in any order; another one for each rank and place.
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
  std::array<double, line> dummy_{};  // touched and read by a rank that sends or receives nothing
  std::span<double> touched_;
  std::span<double> read_;
  std::size_t touched_mask_ = 0;
  std::size_t read_mask_ = 0;
};

}  // namespace bench
