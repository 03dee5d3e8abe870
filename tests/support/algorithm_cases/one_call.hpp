// SPDX-License-Identifier: Apache-2.0
//
// Makes one call on one rank below the C++ API and checks it element by element against plain
// loops, including gaps and bounds.
#pragma once

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "support/algorithm_cases/case_operators.hpp"

namespace tests {

/// The collective and its form.
struct call_case {
  std::string name;  // of the algorithm or composition
  collective what;
  kind op = kind::commuting;
  bool in_place = false, nonblocking = false;
  int root = 0;
  std::size_t count = 0;
  bool composed = false;  // `name` is a composition
};

template <class T>
class one_call {
 public:
  one_call(detail::communicator_impl& comm, const call_case& expected)
      : impl_(comm),
        case_(expected),
        size_(detail::size_of(comm)),
        rank_(detail::rank_of(comm)),
        ranks_(static_cast<std::size_t>(size_)),
        me_(static_cast<std::size_t>(rank_)),
        n_(expected.count),
        in_counts_(ranks_),
        in_displs_(ranks_),
        out_counts_(ranks_),
        out_displs_(ranks_) {
    c_.what = case_.what;
    c_.root = case_.root;
    c_.type = element_of<T>();
    c_.count = n_;
    (case_.composed ? c_.composition : c_.algorithm) = case_.name.c_str();
    if (combines(case_.what)) c_.op = operator_of<T>(case_.op);
  }

  /// Throws if any element is wrong.
  void check() {
    switch (case_.what) {
      case collective::barrier:
        return execute();
      case collective::bcast:
        return bcast();
      case collective::reduce:
      case collective::allreduce:
      case collective::scan:
      case collective::exscan:
        return reduction();
      case collective::reduce_scatter:
        return reduce_scatter();
      case collective::reduce_scatter_block:
        return reduce_scatter_block();
      case collective::gather:
      case collective::allgather:
        return gather();
      case collective::scatter:
        return scatter();
      case collective::alltoall:
        return alltoall();
      case collective::gatherv:
      case collective::allgatherv:
        return gatherv();
      case collective::scatterv:
        return scatterv();
      case collective::alltoallv:
      case collective::alltoallw:
        return alltoallv();
      default:
        throw std::logic_error("no oracle for " + case_.name);
    }
  }

 private:
  using sizes = std::vector<std::size_t>;

  // --- calls

  void execute() {
    if (!case_.nonblocking) {
      detail::run_call(impl_, c_);
      return;
    }
    auto under_way = detail::start_call(impl_, c_);
    while (!under_way->test()) {
    }
  }
  // The output is followed by one element that must not change.
  void call_with_buffers() {
    c_.input = in_.empty() ? &canary<T> : in_.data();
    out_.push_back(canary<T>);
    c_.output = out_.data();
    execute();
    expect_untouched(out_.size() - 1);
    out_.pop_back();
  }
  void fill_input(std::size_t length) {
    in_.resize(length);
    for (std::size_t i = 0; i < length; ++i) in_[i] = value<T>(rank_, i);
  }
  void operand_is_in_output() {
    out_ = in_;
    c_.in_place = true;
  }

  // --- results

  [[noreturn]] static void fail(std::size_t at, const T& got, const T& expected, const char* why) {
    std::ostringstream text;  // `+` prints a byte as a number
    text << "element " << at << " is ";
    if constexpr (requires { +got; })
      text << +got << ", should be " << +expected;
    else
      text << got << ", should be " << expected;
    throw std::runtime_error(text.str() + why);
  }
  void expect(std::size_t at, const T& expected) const {
    if (!(out_[at] == expected)) fail(at, out_[at], expected, "");
  }
  void expect_untouched(std::size_t at) const {
    if (!(out_[at] == canary<T>)) fail(at, out_[at], canary<T>, ": nothing belongs there");
  }
  T reduced(std::size_t i, int rank_count) const {
    T all = value<T>(0, i);
    for (int r = 1; r < rank_count; ++r) all = combined(all, value<T>(r, i), case_.op);
    return all;
  }

  // Uneven counts with zeros, for vector forms.
  std::size_t count_of(std::size_t from, std::size_t to) const {
    return n_ == 0 ? 0 : (1 + from * 3 + to * 5) % (n_ + 1);
  }
  // Blocks in order or in reverse, with a gap of one before each. Returns the end of the last one.
  std::size_t spread(const sizes& counts, sizes& displs, bool backwards) const {
    std::size_t end = 0;
    for (std::size_t i = 0; i < ranks_; ++i) {
      const std::size_t r = backwards ? ranks_ - 1 - i : i;
      displs[r] = end + 1;
      end = displs[r] + counts[r];
    }
    return end;
  }

  // --- collectives

  void bcast() {
    fill_input(n_);
    if (rank_ == case_.root) {
      out_ = in_;
      call_with_buffers();
    } else {
      in_.clear();
      out_.assign(n_, canary<T>);
      call_with_buffers();
    }
    for (std::size_t i = 0; i < n_; ++i) expect(i, value<T>(case_.root, i));
  }

  void reduction() {
    fill_input(n_);
    out_.assign(n_, canary<T>);
    if (case_.in_place && (case_.what != collective::reduce || rank_ == case_.root)) {
      operand_is_in_output();
      in_.clear();
    }
    call_with_buffers();
    if (case_.what == collective::reduce && rank_ != case_.root) return;
    if (case_.what == collective::exscan && rank_ == 0) return;
    const int rank_count = case_.what == collective::scan     ? rank_ + 1
                           : case_.what == collective::exscan ? rank_
                                                              : size_;
    for (std::size_t i = 0; i < n_; ++i) expect(i, reduced(i, rank_count));
  }

  void reduce_scatter() {
    std::size_t before = 0, total = 0;
    for (std::size_t r = 0; r < ranks_; ++r) {
      out_counts_[r] = count_of(r, 2);
      if (r < me_) before += out_counts_[r];
      total += out_counts_[r];
    }
    fill_input(total);
    out_.assign(out_counts_[me_], canary<T>);
    if (case_.in_place) operand_is_in_output();
    c_.out_counts = {out_counts_.data(), ranks_};
    call_with_buffers();
    for (std::size_t i = 0; i < out_counts_[me_]; ++i) expect(i, reduced(before + i, size_));
  }

  void reduce_scatter_block() {
    fill_input(ranks_ * n_);
    out_.assign(n_, canary<T>);
    if (case_.in_place) operand_is_in_output();
    call_with_buffers();
    for (std::size_t i = 0; i < n_; ++i) expect(i, reduced(me_ * n_ + i, size_));
  }

  void gather() {
    fill_input(n_);
    const bool receives = case_.what == collective::allgather || rank_ == case_.root;
    out_.assign(receives ? ranks_ * n_ : 0, canary<T>);
    if (case_.in_place && receives) {
      std::copy(in_.begin(), in_.end(), out_.begin() + static_cast<std::ptrdiff_t>(me_ * n_));
      in_.clear();
      c_.in_place = true;
    }
    call_with_buffers();
    if (!receives) return;
    for (std::size_t r = 0; r < ranks_; ++r)
      for (std::size_t i = 0; i < n_; ++i) expect(r * n_ + i, value<T>(static_cast<int>(r), i));
  }

  void scatter() {
    if (rank_ == case_.root) fill_input(ranks_ * n_);
    out_.assign(n_, canary<T>);
    c_.in_place = case_.in_place && rank_ == case_.root;
    call_with_buffers();
    if (!c_.in_place)
      for (std::size_t i = 0; i < n_; ++i) expect(i, value<T>(case_.root, me_ * n_ + i));
  }

  void alltoall() {
    fill_input(ranks_ * n_);
    out_.assign(ranks_ * n_, canary<T>);
    if (case_.in_place) operand_is_in_output();
    call_with_buffers();
    for (std::size_t r = 0; r < ranks_; ++r)
      for (std::size_t i = 0; i < n_; ++i) expect(r * n_ + i, value<T>(static_cast<int>(r), me_ * n_ + i));
  }

  void gatherv() {
    const bool receives = case_.what == collective::allgatherv || rank_ == case_.root;
    for (std::size_t r = 0; r < ranks_; ++r) out_counts_[r] = count_of(r, 0);
    const std::size_t end = spread(out_counts_, out_displs_, true);
    c_.count = out_counts_[me_];
    fill_input(c_.count);
    out_.assign(receives ? end + 1 : 0, canary<T>);
    if (receives) {
      c_.out_counts = {out_counts_.data(), ranks_};
      c_.out_displs = {out_displs_.data(), ranks_};
    }
    if (case_.in_place && receives) {
      std::copy(in_.begin(), in_.end(), out_.begin() + static_cast<std::ptrdiff_t>(out_displs_[me_]));
      in_.clear();
      c_.in_place = true;
    }
    call_with_buffers();
    if (!receives) return;
    for (std::size_t r = 0; r < ranks_; ++r) {
      expect_untouched(out_displs_[r] - 1);
      for (std::size_t i = 0; i < out_counts_[r]; ++i)
        expect(out_displs_[r] + i, value<T>(static_cast<int>(r), i));
    }
  }

  void scatterv() {
    for (std::size_t r = 0; r < ranks_; ++r) in_counts_[r] = count_of(r, 1);
    const std::size_t end = spread(in_counts_, in_displs_, false);
    c_.count = in_counts_[me_];
    if (rank_ == case_.root) {
      fill_input(end + 1);
      c_.in_counts = {in_counts_.data(), ranks_};
      c_.in_displs = {in_displs_.data(), ranks_};
      c_.in_place = case_.in_place;
    }
    out_.assign(in_counts_[me_], canary<T>);
    call_with_buffers();
    if (!c_.in_place)
      for (std::size_t i = 0; i < in_counts_[me_]; ++i) expect(i, value<T>(case_.root, in_displs_[me_] + i));
  }

  // Every pair of ranks has different values.
  T value_for(std::size_t from, std::size_t to, std::size_t i) const {
    return value<T>(static_cast<int>(from * ranks_ + to), i);
  }

  void alltoallv() {
    for (std::size_t r = 0; r < ranks_; ++r) {
      in_counts_[r] = case_.in_place ? count_of(std::min(r, me_), std::max(r, me_)) : count_of(me_, r);
      out_counts_[r] = case_.in_place ? in_counts_[r] : count_of(r, me_);
    }
    out_.assign(spread(out_counts_, out_displs_, false) + 1, canary<T>);
    if (case_.in_place) {
      for (std::size_t r = 0; r < ranks_; ++r)
        for (std::size_t i = 0; i < out_counts_[r]; ++i) out_[out_displs_[r] + i] = value_for(me_, r, i);
      c_.in_place = true;
    } else {  // dense: the library computes the displacements
      for (std::size_t r = 0; r < ranks_; ++r)
        for (std::size_t i = 0; i < in_counts_[r]; ++i) in_.push_back(value_for(me_, r, i));
    }
    sizes sent = in_counts_, received = out_counts_, places = out_displs_;
    if (case_.what == collective::alltoallw) {
      for (auto* list : {&sent, &received, &places})
        for (std::size_t& x : *list) x *= sizeof(T);
      c_.type = element_of<std::byte>();
    }
    if (!case_.in_place) c_.in_counts = {sent.data(), ranks_};
    c_.out_counts = {received.data(), ranks_};
    c_.out_displs = {places.data(), ranks_};
    call_with_buffers();
    for (std::size_t r = 0; r < ranks_; ++r) {
      expect_untouched(out_displs_[r] - 1);
      for (std::size_t i = 0; i < out_counts_[r]; ++i) expect(out_displs_[r] + i, value_for(r, me_, i));
    }
  }

  detail::communicator_impl& impl_;
  const call_case& case_;
  const int size_, rank_;
  const std::size_t ranks_, me_, n_;
  call c_;
  std::vector<T> in_, out_;
  sizes in_counts_, in_displs_, out_counts_, out_displs_;
};

}  // namespace tests
