// SPDX-License-Identifier: Apache-2.0
//
// Longer than a screen: inputs and outputs have one case for each collective.
#include "tuning/measured_call.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/compute/kernels.hpp"
#include "tuning/measure.hpp"

namespace tutti::tuning {
namespace {

// Whole numbers, so that sums are exact in any order. Each rank and index has a different value.
double value(int rank, std::size_t i) { return (rank + 1) * 16777259.0 + static_cast<double>(i); }
double sum(int ranks, std::size_t i) {  // of value() over the first ranks
  return ranks * (ranks + 1) / 2 * 16777259.0 + static_cast<double>(ranks) * static_cast<double>(i);
}

std::size_t total(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

std::vector<int> neighbors(int rank, int ranks) {
  std::vector<int> near;
  for (const int r : {(rank + ranks - 1) % ranks, (rank + 1) % ranks})
    if (r != rank && std::find(near.begin(), near.end(), r) == near.end()) near.push_back(r);
  return near;
}

measured_call::measured_call(collective what, std::size_t bytes, int rank, int ranks, bool in_place)
    : rank_(rank), ranks_(ranks), neighbors_(neighbors(rank, ranks)) {
  n_ = std::max<std::size_t>(1, bytes / sizeof(double));
  block_ = std::max<std::size_t>(1, n_ / (is_neighborhood(what) ? 2 : static_cast<std::size_t>(ranks)));
  call_.what = what;
  call_.type = element_of<double>();
  call_.in_place = in_place;
  if (combines(what))
    call_.op = {compute::kernel(builtin_op::sum, element_kind::f64), nullptr, builtin_op::sum, true, {}};
  set_counts();
  set_buffers();
}

std::size_t measured_call::uneven_count(int from, int to) const {
  // the counts of a pair of ranks must be equal
  if (call_.in_place && from > to) std::swap(from, to);
  return (block_ * static_cast<std::size_t>(2 + (from + 3 * to) % 5) + 3) / 4;
}

// The offset of a rank's block if all uneven blocks form one vector.
std::size_t measured_call::offset_of(int rank) const {
  std::size_t sum = 0;
  for (int r = 0; r < rank; ++r) sum += uneven_count(r, 0);
  return sum;
}

// Computes the sizes of input and output: `sent_`, `received_`, the counts and the call's own
// count.
void measured_call::set_counts() {
  const bool root = rank_ == 0;
  const std::size_t all = block_ * static_cast<std::size_t>(ranks_);
  call_.count = block_;
  switch (call_.what) {
    case collective::barrier:
      call_.count = 0;
      return;
    case collective::bcast:
      call_.count = n_;
      (root ? sent_ : received_) = n_;
      return;
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan:
      call_.count = sent_ = n_;
      received_ = call_.what == collective::reduce && !root ? 0 : n_;
      return;
    case collective::gather:
      sent_ = block_;
      received_ = root ? all : 0;
      return;
    case collective::scatter:
      sent_ = root ? all : 0;
      received_ = block_;
      return;
    case collective::allgather:
      sent_ = block_;
      received_ = all;
      local_offset_ = static_cast<std::size_t>(rank_) * block_;
      return;
    case collective::alltoall:
      sent_ = received_ = all;
      return;
    case collective::reduce_scatter_block:
      sent_ = all;
      received_ = block_;
      return;
    case collective::gatherv:
    case collective::allgatherv:
      call_.count = sent_ = uneven_count(rank_, 0);
      local_offset_ = offset_of(rank_);
      if (call_.what == collective::gatherv && !root) return;
      for (int r = 0; r < ranks_; ++r) out_counts_.push_back(uneven_count(r, 0));
      received_ = total(out_counts_);
      break;
    case collective::scatterv:
      call_.count = received_ = uneven_count(rank_, 0);
      if (!root) return;
      for (int r = 0; r < ranks_; ++r) in_counts_.push_back(uneven_count(r, 0));
      sent_ = total(in_counts_);
      break;
    case collective::reduce_scatter:
      for (int r = 0; r < ranks_; ++r) out_counts_.push_back(uneven_count(r, 0));
      sent_ = total(out_counts_);
      received_ = uneven_count(rank_, 0);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
      for (int r = 0; r < ranks_; ++r) in_counts_.push_back(uneven_count(rank_, r));
      for (int r = 0; r < ranks_; ++r) out_counts_.push_back(uneven_count(r, rank_));
      sent_ = total(in_counts_);
      received_ = total(out_counts_);
      break;
    case collective::neighbor_allgatherv:
      call_.count = sent_ = uneven_count(rank_, 0);
      for (const int r : neighbors_) out_counts_.push_back(uneven_count(r, 0));
      received_ = total(out_counts_);
      break;
    case collective::neighbor_alltoallv:
      for (const int r : neighbors_) in_counts_.push_back(uneven_count(rank_, r));
      for (const int r : neighbors_) out_counts_.push_back(uneven_count(r, rank_));
      sent_ = total(in_counts_);
      received_ = total(out_counts_);
      break;
  }
  if (call_.what == collective::alltoallw) {  // its counts are in bytes
    call_.type = element_of<std::byte>();
    for (auto* counts : {&in_counts_, &out_counts_})
      for (std::size_t& c : *counts) c *= sizeof(double);
  }
  if (!in_counts_.empty() && !call_.in_place) call_.in_counts = {in_counts_.data(), in_counts_.size()};
  if (!out_counts_.empty()) call_.out_counts = {out_counts_.data(), out_counts_.size()};
}

void measured_call::set_buffers() {
  // In place, the operand lies in the output buffer. So does the vector of a bcast, on every rank.
  const bool one = call_.in_place || call_.what == collective::bcast;
  const std::size_t end = one ? std::max(received_, local_offset_ + sent_) : received_;
  // never empty: even an unused buffer has an address
  const auto make = [](buffer_memory& memory, std::size_t elements) {
    memory = allocate(elements);
    return std::span(memory.get(), elements);
  };
  out_ = make(out_memory_, std::max<std::size_t>(1, end));
  in_ = make(in_memory_, one ? 1 : std::max<std::size_t>(1, sent_));
  touched_ = (one ? out_ : in_).subspan(call_.in_place ? local_offset_ : 0, sent_);
  read_ = out_.first(received_);
  call_.output = out_.data();
  call_.input = call_.what == collective::bcast ? call_.output : in_.data();
  touched_mask_ = touched_.empty() ? 0 : std::bit_floor(touched_.size()) - 1;
  read_mask_ = read_.empty() ? 0 : std::bit_floor(read_.size()) - 1;
}

template <class Visit>
void measured_call::each_result(const Visit& f) const {
  const auto block_of = [&](std::size_t& at, int from, std::size_t first, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) f(at++, value(from, first + i));
  };
  std::size_t at = 0;
  switch (call_.what) {
    case collective::barrier:
      return;
    case collective::bcast:
    case collective::scatter:
      return block_of(at, 0, call_.what == collective::bcast ? 0 : static_cast<std::size_t>(rank_) * block_,
                      received_);
    case collective::scatterv:
      return block_of(at, 0, offset_of(rank_), received_);
    case collective::reduce:
    case collective::allreduce:
      for (; at < received_; ++at) f(at, sum(ranks_, at));
      return;
    case collective::scan:
      for (; at < received_; ++at) f(at, sum(rank_ + 1, at));
      return;
    case collective::exscan:  // the result of rank 0 is not defined
      for (; at < received_ && rank_ > 0; ++at) f(at, sum(rank_, at));
      return;
    case collective::reduce_scatter_block:
    case collective::reduce_scatter: {
      const bool uneven = call_.what == collective::reduce_scatter;
      const std::size_t first = uneven ? offset_of(rank_) : static_cast<std::size_t>(rank_) * block_;
      for (; at < received_; ++at) f(at, sum(ranks_, first + at));
      return;
    }
    case collective::gather:
    case collective::allgather:
      for (int r = 0; r < ranks_ && at < received_; ++r) block_of(at, r, 0, block_);
      return;
    case collective::gatherv:
    case collective::allgatherv:
      for (int r = 0; r < ranks_ && at < received_; ++r) block_of(at, r, 0, uneven_count(r, 0));
      return;
    case collective::neighbor_allgatherv:
      for (const int r : neighbors_) block_of(at, r, 0, uneven_count(r, 0));
      return;
    case collective::alltoall:
      for (int r = 0; r < ranks_; ++r) block_of(at, r, static_cast<std::size_t>(rank_) * block_, block_);
      return;
    case collective::alltoallv:
    case collective::alltoallw:
      for (int r = 0; r < ranks_; ++r) {
        std::size_t first = 0;
        for (int to = 0; to < rank_; ++to) first += uneven_count(r, to);
        block_of(at, r, first, uneven_count(r, rank_));
      }
      return;
    case collective::neighbor_alltoallv:
      for (const int r : neighbors_) {
        std::size_t first = 0;
        for (const int to : neighbors(r, ranks_)) {
          if (to == rank_) break;
          first += uneven_count(r, to);
        }
        block_of(at, r, first, uneven_count(r, rank_));
      }
      return;
  }
}

void measured_call::prepare() {
  std::fill(out_.begin(), out_.end(), -1.0);
  for (std::size_t i = 0; i < touched_.size(); ++i) touched_[i] = value(rank_, i);
}

bool measured_call::correct() const {
  bool all_equal = true;
  each_result([&](std::size_t at, double v) { all_equal = all_equal && read_[at] == v; });
  return all_equal;
}

void measured_call::read() const {
  double sum = 0;
  for (std::size_t i = 0; i < read_.size(); i += line) sum += read_[i];
  do_not_optimize(sum);
}

void measured_call::read(std::size_t round) const {
  if (!read_.empty()) do_not_optimize(read_[round * line & read_mask_]);
}

}  // namespace tutti::tuning
