// SPDX-License-Identifier: Apache-2.0
//
// A collective call with its buffers and its expected result, which each rank computes alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi_program.hpp"
#include "transport/shm/shared_arena.hpp"
#include "tutti/call.hpp"
#include "tutti/element.hpp"

namespace tests {

using namespace tutti;
using word = std::uint64_t;
using triple = std::array<std::uint8_t, 3>;
using matrix = std::array<std::uint32_t, 4>;  // 2 x 2; the product does not commute

/// Takes memory that other processes can map, while `in_arena` is set.
template <class T>
struct test_allocator {
  using value_type = T;
  static inline bool in_arena = false;

  test_allocator() = default;
  template <class U>
  test_allocator(const test_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    if (in_arena) return static_cast<T*>(shm::shared_arena::allocate(n * sizeof(T), alignof(T)));
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) noexcept {
    if (!shm::shared_arena::deallocate(p)) std::allocator<T>().deallocate(p, n);
  }
  friend bool operator==(const test_allocator&, const test_allocator&) noexcept { return true; }
};

inline matrix product(const matrix& a, const matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

/// An operator with a state: a sum modulo the state.
inline word modulus = 1000003;

template <class T>
struct kind_of_element;
template <>
struct kind_of_element<word> {
  static word combine(word a, word b) { return (a + b) % modulus; }
  static constexpr void* state = &modulus;
};
template <>
struct kind_of_element<matrix> {
  static matrix combine(const matrix& a, const matrix& b) { return product(a, b); }
  static constexpr void* state = nullptr;
};

template <class T>
void combine_elements(const void* left, const void* right, void* result, std::size_t n, void* state) {
  if (state != kind_of_element<T>::state) throw std::runtime_error("the operator has a wrong state");
  for (std::size_t i = 0; i < n; ++i)
    static_cast<T*>(result)[i] =
        kind_of_element<T>::combine(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]);
}

template <class T>
class checked_call {
 public:
  using buffer = std::vector<T, test_allocator<T>>;
  /// `n`: elements of the operand or of a block; in an allgatherv, of the longest block.
  checked_call(collective what, std::size_t n, int root, unsigned salt, bool in_place) : salt_(salt) {
    made.what = what;
    made.root = root;
    made.type.size = sizeof(T);
    made.count = what == collective::barrier ? 0 : n;
    if constexpr (!std::is_same_v<T, triple>) {
      made.op.combine = combine_elements<T>;
      made.op.state = kind_of_element<T>::state;
    }
    fill(in_place);
    const bool scatters = what == collective::scatter || what == collective::scatterv;
    made.input = made.in_place && !scatters ? output_.data() : input_.data();
    made.output = output_.data();
    if (what == collective::bcast) made.input = output_.data();
    if (what == collective::allgatherv) {
      made.out_counts = {counts_.data(), counts_.size()};
      if (salt_ % 2 == 0) made.out_displs = {displs_.data(), displs_.size()};
    }
  }
  checked_call(const checked_call&) = delete;
  checked_call& operator=(const checked_call&) = delete;

  /// Keeps the result and overwrites the buffers, which other ranks must not read any more.
  void overwrite() {
    const auto fill = [](buffer& data) {
      if (!data.empty()) std::memset(static_cast<void*>(data.data()), 0x5a, data.size() * sizeof(T));
    };
    fill(input_);
    result_ = output_;
    fill(output_);
    is_overwritten_ = true;
  }
  void compare() const {
    const buffer& result = is_overwritten_ ? result_ : output_;
    const std::size_t n = made.what == collective::reduce_scatter_block ? made.count : result.size();
    for (std::size_t i = 0; i < n; ++i)
      if (result[i] != expected_[i])
        throw std::runtime_error(
            "rank " + std::to_string(me()) + " of " + std::to_string(here_is.size) + ": " +
            std::string(name_of(made.what)) + " of " + std::to_string(made.count) + " elements of " +
            std::to_string(sizeof(T)) + " bytes, root " + std::to_string(made.root) +
            (made.in_place ? ", in place" : "") + ": element " + std::to_string(i) + " is wrong");
  }

  call made;

 private:
  static int me() { return here_is.rank; }
  static std::size_t ranks() { return static_cast<std::size_t>(here_is.size); }

  T element(int rank, std::size_t i) const {
    T made_one;
    std::uint64_t x = (static_cast<std::uint64_t>(rank) * 1000003 + i) * 0x9e3779b97f4a7c15u + salt_;
    for (std::size_t k = 0; k < sizeof(T); ++k) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      reinterpret_cast<unsigned char*>(&made_one)[k] = static_cast<unsigned char>(x);
    }
    return made_one;
  }
  buffer elements(int rank, std::size_t from, std::size_t n) const {
    buffer all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = element(rank, from + i);
    return all;
  }
  // The combination of the elements of ranks 0 .. last, from `from` on.
  buffer combined(int last, std::size_t from, std::size_t n) const {
    buffer all = elements(0, from, n);
    if constexpr (!std::is_same_v<T, triple>)
      for (int r = 1; r <= last; ++r)
        for (std::size_t i = 0; i < n; ++i)
          all[i] = kind_of_element<T>::combine(all[i], element(r, from + i));
    return all;
  }
  // The output before the call.
  static buffer untouched(std::size_t n) {
    buffer all(n);
    if (n > 0) std::memset(all.data(), 0xee, n * sizeof(T));
    return all;
  }
  static void put(buffer& into, std::size_t at, const buffer& data) {
    std::copy(data.begin(), data.end(), into.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void fill(bool in_place) {
    const std::size_t n = made.count, p = ranks(), r = static_cast<std::size_t>(me());
    const bool root = me() == made.root;
    const auto in_output = [&](std::size_t at, const buffer& data) { put(output_, at, data); };
    switch (made.what) {
      case collective::bcast:
        output_ = root ? elements(made.root, 0, n) : untouched(n);
        expected_ = elements(made.root, 0, n);
        return;
      case collective::reduce:
        made.in_place = in_place && root;
        input_ = elements(me(), 0, n);
        if (!root) return;
        output_ = made.in_place ? input_ : untouched(n);
        expected_ = combined(here_is.size - 1, 0, n);
        return;
      case collective::allreduce:
      case collective::scan:
      case collective::exscan: {
        made.in_place = in_place;
        input_ = elements(me(), 0, n);
        output_ = in_place ? input_ : untouched(n);
        const int last = made.what == collective::allreduce ? here_is.size - 1
                         : made.what == collective::scan    ? me()
                                                            : me() - 1;
        expected_ = last < 0 ? output_ : combined(last, 0, n);
        return;
      }
      case collective::gather:
        made.in_place = in_place && root;
        input_ = elements(me(), 0, n);
        if (!root) return;
        output_ = untouched(n * p);
        if (made.in_place) in_output(r * n, input_);
        for (std::size_t i = 0; i < p; ++i) expected_.resize((i + 1) * n), put_block(i * n, i, 0, n);
        return;
      case collective::scatter:
        made.in_place = in_place && root;
        if (root) input_ = elements(made.root, 0, n * p);
        output_ = untouched(n);
        expected_ = made.in_place ? output_ : elements(made.root, r * n, n);
        return;
      case collective::allgather:
        made.in_place = in_place;
        input_ = elements(me(), 0, n);
        output_ = untouched(n * p);
        if (in_place) in_output(r * n, input_);
        expected_.resize(n * p);
        for (std::size_t i = 0; i < p; ++i) put_block(i * n, i, 0, n);
        return;
      case collective::allgatherv:
        return fill_allgatherv(in_place);
      case collective::gatherv:
        return fill_gatherv(in_place && root);
      case collective::scatterv:
        return fill_scatterv(in_place && root);
      case collective::alltoallv:
        return fill_alltoallv(in_place);
      case collective::alltoall:
        made.in_place = in_place;
        input_ = elements(me(), 0, n * p);
        output_ = in_place ? input_ : untouched(n * p);
        expected_.resize(n * p);
        for (std::size_t i = 0; i < p; ++i) put_block(i * n, i, r * n, n);
        return;
      case collective::reduce_scatter_block:
        made.in_place = in_place;
        input_ = elements(me(), 0, n * p);
        output_ = in_place ? input_ : untouched(n);
        expected_ = combined(here_is.size - 1, r * n, n);
        return;
      default:
        return;
    }
  }
  // Blocks of other lengths, some of them empty, in any order and with gaps.
  void fill_allgatherv(bool in_place) {
    made.in_place = in_place;
    const std::size_t p = ranks();
    for (std::size_t i = 0; i < p; ++i)
      counts_.push_back((i + salt_) % 3 == 0 ? 0 : static_cast<int>(made.count * (i + 1) / p));
    const std::size_t end = place(counts_, displs_);
    const auto r = static_cast<std::size_t>(me());
    made.count = static_cast<std::size_t>(counts_[r]);
    input_ = elements(me(), 0, made.count);
    output_ = expected_ = untouched(end);
    if (in_place) put(output_, static_cast<std::size_t>(displs_[r]), input_);
    for (std::size_t i = 0; i < p; ++i)
      put_block(static_cast<std::size_t>(displs_[i]), i, 0, static_cast<std::size_t>(counts_[i]));
  }
  // Sets the displacements of blocks: dense, or in another order and with gaps. Returns the length.
  std::size_t place(const std::vector<int>& counts, std::vector<int>& displs) const {
    std::size_t end = 0;
    const std::size_t p = counts.size();
    displs.resize(p);
    const bool dense = salt_ % 2 != 0;
    for (std::size_t k = 0; k < p; ++k) {
      const std::size_t i = dense ? k : p - 1 - k;
      displs[i] = static_cast<int>(end);
      end += static_cast<std::size_t>(counts[i]) + (dense ? 0 : 2);
    }
    return end;
  }
  // The length of the block of rank `from` for rank `to`. In place, both directions have the same.
  int length(std::size_t n, std::size_t from, std::size_t to, bool in_place) const {
    const std::size_t p = ranks();
    if ((from + to + salt_) % 3 == 0) return 0;
    return static_cast<int>(n * ((in_place ? from * to : from + 2 * to) % p + 1) / p);
  }
  std::vector<int> lengths(std::size_t n, bool sent, bool in_place) const {
    std::vector<int> all;
    const auto r = static_cast<std::size_t>(me());
    for (std::size_t i = 0; i < ranks(); ++i)
      all.push_back(sent ? length(n, r, i, in_place) : length(n, i, r, in_place));
    return all;
  }
  // Block `to` of rank `from` begins with its element 1000 * to.
  buffer varying_block(std::size_t from, std::size_t to, int n) const {
    return elements(static_cast<int>(from), 1000 * to, static_cast<std::size_t>(n));
  }
  void use_displacements() {
    made.in_counts = {in_counts_.data(), in_counts_.size()};
    made.out_counts = {counts_.data(), counts_.size()};
    if (salt_ % 4 == 1) return;  // dense, so they may be missing
    made.in_displs = {in_displs_.data(), in_displs_.size()};
    made.out_displs = {displs_.data(), displs_.size()};
  }
  void fill_gatherv(bool in_place) {
    made.in_place = in_place;
    const auto r = static_cast<std::size_t>(me()), root = static_cast<std::size_t>(made.root);
    const std::size_t n = made.count;
    made.count = static_cast<std::size_t>(length(n, r, root, false));
    input_ = varying_block(r, root, static_cast<int>(made.count));
    if (r != root) return;
    counts_ = lengths(n, false, false);
    output_ = expected_ = untouched(place(counts_, displs_));
    if (in_place) put(output_, static_cast<std::size_t>(displs_[r]), input_);
    for (std::size_t i = 0; i < ranks(); ++i)
      put(expected_, static_cast<std::size_t>(displs_[i]), varying_block(i, root, counts_[i]));
    use_displacements();
  }
  void fill_scatterv(bool in_place) {
    made.in_place = in_place;
    const auto r = static_cast<std::size_t>(me()), root = static_cast<std::size_t>(made.root);
    const std::size_t n = made.count;
    made.count = static_cast<std::size_t>(length(n, root, r, false));
    output_ = untouched(made.count);
    expected_ = in_place ? output_ : varying_block(root, r, static_cast<int>(made.count));
    if (r != root) return;
    in_counts_ = lengths(n, true, false);
    input_ = untouched(place(in_counts_, in_displs_));
    for (std::size_t i = 0; i < ranks(); ++i)
      put(input_, static_cast<std::size_t>(in_displs_[i]), varying_block(root, i, in_counts_[i]));
    use_displacements();
  }
  void fill_alltoallv(bool in_place) {
    made.in_place = in_place;
    const auto r = static_cast<std::size_t>(me());
    const std::size_t n = made.count;
    made.count = 0;
    counts_ = lengths(n, false, in_place);
    in_counts_ = lengths(n, true, in_place);
    output_ = expected_ = untouched(place(counts_, displs_));
    input_ = untouched(place(in_counts_, in_displs_));
    for (std::size_t i = 0; i < ranks(); ++i) {
      put(expected_, static_cast<std::size_t>(displs_[i]), varying_block(i, r, counts_[i]));
      put(in_place ? output_ : input_, static_cast<std::size_t>(in_displs_[i]),
          varying_block(r, i, in_counts_[i]));
    }
    use_displacements();
    if (in_place) made.in_counts = made.in_displs = {};
  }
  void put_block(std::size_t at, std::size_t rank, std::size_t from, std::size_t n) {
    put(expected_, at, elements(static_cast<int>(rank), from, n));
  }

  unsigned salt_;
  bool is_overwritten_ = false;
  buffer input_, output_, expected_, result_;
  std::vector<int> counts_, displs_, in_counts_, in_displs_;  // counts_, displs_: of the output
};

inline constexpr collective kinds_that_move[] = {
    collective::barrier,   collective::bcast,      collective::gather,   collective::scatter,
    collective::allgather, collective::allgatherv, collective::alltoall, collective::gatherv,
    collective::scatterv,  collective::alltoallv};
inline constexpr collective kinds_that_combine[] = {collective::reduce, collective::allreduce,
                                                    collective::scan, collective::exscan,
                                                    collective::reduce_scatter_block};

/// Whether the buffers of this rank in a call lie in its arena.
inline bool (*uses_arena)(unsigned salt) = [](unsigned) { return false; };

/// Calls run(call) for calls of all kinds and lengths, with each root, and compares the results.
template <class T, class Kinds, class Run>
void check_calls(const Kinds& kinds, std::initializer_list<std::size_t> lengths, Run&& run) {
  unsigned salt = 0;
  for (const std::size_t n : lengths)
    for (const collective what : kinds)
      for (int root = 0; root < (is_rooted(what) ? here_is.size : 1); ++root)
        for (const bool in_place : {false, true}) {
          for (int i = 0; i < (is_vector_form(what) && !is_rooted(what) ? 6 : 1); ++i) {
            test_allocator<T>::in_arena = uses_arena(salt);
            checked_call<T> one(what, n, root, salt++, in_place);
            run(one.made);
            one.overwrite();
            one.compare();
          }
        }
}

}  // namespace tests
