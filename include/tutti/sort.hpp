// SPDX-License-Identifier: Apache-2.0
//
// Sorts elements that are distributed over all ranks. tutti.hpp does not include this header.
//
// The algorithm is sample sort. Each rank sorts its own elements, and all ranks gather samples at
// regular distances. The sorted samples give p - 1 splitters. Every element goes to the rank
// between whose splitters it lies, and that rank merges what it receives. Equal elements are
// distinguished by their origin (rank, then index), so that a single frequent value is also
// distributed.
//
// Sources: Shi, Schaeffer 1992 and Blelloch, Leiserson, Maggs, Plaxton, Smith, Zagha 1991
// (sampling); Axtmann, Sanders 2017 (equal keys).
#pragma once

#include <algorithm>
#include <functional>
#include <source_location>
#include <type_traits>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/deferred_rejections.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// An element of the sample, and its origin, so that no two samples are equal.
template <class T>
struct sorting_sample {
  T value;
  std::uint32_t rank;
  std::uint64_t place;
};

/// The sampled elements of a rank: those at first, first + distance, ...
struct sampling {
  std::size_t distance, first;
};
/// Collective: about 8192 samples of all ranks together, limited to 32 .. 128 per rank. They have
/// equal distances in the whole, and different offsets on each rank. If the elements of the ranks
/// are alike, the samples of all are thus evenly distributed too.
sampling sampling_of(const communicator& ranks, std::size_t count);

/// Merges adjacent sorted runs; equal elements keep the order of runs. `bounds` holds the begin of
/// each run, and the end.
template <class T, class Less, class Allocator>
void merge_runs(std::vector<T, Allocator>& v, std::vector<std::size_t> bounds, const Less& less) {
  std::vector<T, Allocator> other(bounds.size() > 2 ? v.size() : 0, v.get_allocator());
  while (bounds.size() > 2) {
    const auto at = [&](std::size_t k) { return v.begin() + static_cast<std::ptrdiff_t>(bounds[k]); };
    std::vector<std::size_t> merged{0};
    auto to = other.begin();
    std::size_t i = 2;
    for (; i < bounds.size(); i += 2) {
      to = std::merge(at(i - 2), at(i - 1), at(i - 1), at(i), to, less);
      merged.push_back(bounds[i]);
    }
    if (i == bounds.size()) {  // one run is left over
      std::copy(at(i - 2), at(i - 1), to);
      merged.push_back(bounds.back());
    }
    v.swap(other);
    bounds.swap(merged);
  }
}

/// The number of this rank's sorted elements that go to each rank.
template <class T, class Less, class Allocator>
std::vector<std::size_t> cut_at_splitters(const std::vector<T, Allocator>& v,
                                          std::vector<sorting_sample<T>>& samples, std::size_t p,
                                          std::size_t rank, const Less& less) {
  std::sort(samples.begin(), samples.end(), [&](const sorting_sample<T>& a, const sorting_sample<T>& b) {
    if (less(a.value, b.value)) return true;
    if (less(b.value, a.value)) return false;
    return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
  });
  std::vector<std::size_t> counts(p);
  std::size_t done = 0;
  for (std::size_t k = 1; k <= p; ++k) {
    std::size_t cut = v.size();
    if (k < p && !samples.empty()) {
      const sorting_sample<T>& splitter = samples[k * samples.size() / p];
      if (splitter.rank == rank)
        cut = static_cast<std::size_t>(splitter.place);
      else if (splitter.rank > rank)  // this rank's equal elements come before it
        cut =
            static_cast<std::size_t>(std::upper_bound(v.begin(), v.end(), splitter.value, less) - v.begin());
      else
        cut =
            static_cast<std::size_t>(std::lower_bound(v.begin(), v.end(), splitter.value, less) - v.begin());
    }
    counts[k - 1] = cut - done;
    done = cut;
  }
  return counts;
}

template <class T>
inline constexpr bool is_sortable =
    is_sendable<T>&& std::is_default_constructible_v<T> && !std::is_same_v<T, bool>;
/// Emits the compile error for a T that cannot be sorted; the rest of the function is then omitted,
/// so that no other error follows.
template <class T>
consteval bool validate_sortable() {
  static_assert(!std::is_same_v<T, bool>, "sort: std::vector<bool> packs bits, it has no bools");
  static_assert(!is_copied_bytewise<T> || !holds_address<T>(),
                "sort: elements hold addresses (pointers, views, iterators), which mean nothing elsewhere");
  static_assert(std::is_same_v<T, bool> || is_sortable<T> || (is_copied_bytewise<T> && !is_sendable<T>),
                "sort: elements must be trivially copyable and default constructible");
  return is_sortable<T>;
}

/// Redistributes the sorted vectors of the ranks so that the whole is sorted.
template <class T, class Less, class Allocator>
void exchange_sorted(const communicator& ranks, std::vector<T, Allocator>& v, const Less& less) {
  if (ranks.size() == 1) return;
  const sampling every = sampling_of(ranks, v.size());
  const deferred_rejections steps(count_of_deferrals(impl_of(ranks)));
  std::vector<sorting_sample<T>> samples;
  for (std::size_t i = every.first; i < v.size(); i += every.distance)
    samples.push_back({v[i], static_cast<std::uint32_t>(ranks.rank()), i});
  samples = ranks.allgatherv(send_buf(samples));
  const auto p = static_cast<std::size_t>(ranks.size());
  const std::vector<std::size_t> counts =
      cut_at_splitters(v, samples, p, static_cast<std::size_t>(ranks.rank()), less);
  auto [received, of_each] = ranks.alltoallv(
      send_buf(v), send_counts(counts), recv_buf<resize_to_fit>(std::vector<T, Allocator>(v.get_allocator())),
      recv_counts_out<std::vector<std::size_t>>());
  v = std::move(received);
  std::vector<std::size_t> bounds{0};
  for (const std::size_t n : of_each) bounds.push_back(bounds.back() + n);
  merge_runs(v, std::move(bounds), less);
}

/// The last element of a rank and the ranks before it.
template <class T>
struct sorted_end {
  T last{};
  bool any = false;
};

}  // namespace detail

/// Collective: sorts the elements of all ranks' vectors. Afterwards each vector is sorted, and no
/// element of a rank is less than one of a lower rank. Ranks may have any number of elements, also
/// none.
///
/// T is trivially copyable and default constructible, but not bool. `less` is a strict weak order,
/// the same on all ranks. It may have state, and is not copied. The sort is not stable;
/// stable_sort_globally is.
///
/// The samples determine how many elements a rank has afterwards. For any input it is at most n/p +
/// (p + 2) d. Here n is the number of elements of all ranks. d = max(1, n / (a p)) is the distance
/// of samples, with a = min(max(8192/p, 32), 128). Typically it is about sqrt(p) d more than n/p.
/// Equal elements are distributed like others.
///
/// Costs: the sort of about n/p elements, and log2(p) passes of merging. The communication is an
/// allreduce of 8 bytes, an allgatherv of the samples and an alltoallv of all elements, with their
/// exchanges of counts. A sample has a T and 16 bytes, and each rank sorts all samples. It
/// allocates twice the size of the received elements, with the allocator of v. Throws the errors of
/// these collectives, and what `less` and the allocator throw; the contents of v are then
/// unspecified.
///
/// ```cpp
/// #include <tutti/sort.hpp>
/// std::vector<int> v;
/// for (int i = 0; i < 100; ++i) v.push_back((i * 37 + world.rank() * 11) % 101);
/// tutti::sort_globally(world, v);
/// assert(is_globally_sorted(world, v));
/// tutti::sort_globally(world, v, std::greater<>{});
/// assert(is_globally_sorted(world, v, std::greater<>{}));
/// ```
template <class T, class Less = std::less<>, class Allocator>
void sort_globally(const communicator& ranks, std::vector<T, Allocator>& v, const Less& less = {},
                   std::source_location at = std::source_location::current()) {
  if constexpr (detail::validate_sortable<T>()) {
    const detail::enclosing_call scope(detail::impl_of(ranks), "sort_globally", at);
    const auto by = [&less](const T& a, const T& b) { return static_cast<bool>(less(a, b)); };
    std::sort(v.begin(), v.end(), by);
    detail::exchange_sorted(ranks, v, by);
  }
}

/// The same, but equal elements keep their order: by rank, then by index.
template <class T, class Less = std::less<>, class Allocator>
void stable_sort_globally(const communicator& ranks, std::vector<T, Allocator>& v, const Less& less = {},
                          std::source_location at = std::source_location::current()) {
  if constexpr (detail::validate_sortable<T>()) {
    const detail::enclosing_call scope(detail::impl_of(ranks), "stable_sort_globally", at);
    const auto by = [&less](const T& a, const T& b) { return static_cast<bool>(less(a, b)); };
    std::stable_sort(v.begin(), v.end(), by);
    detail::exchange_sorted(ranks, v, by);
  }
}

/// Collective: whether the concatenation of the ranks' vectors is sorted. Returns the same answer
/// on all ranks. Costs one pass over the elements, an exscan of a T and a bool, and an allreduce of
/// a bool. Throws the errors of these collectives, and what `less` throws.
template <class T, class Less = std::less<>, class Allocator>
bool is_globally_sorted(const communicator& ranks, const std::vector<T, Allocator>& v, const Less& less = {},
                        std::source_location at = std::source_location::current()) {
  if constexpr (detail::validate_sortable<T>()) {
    const detail::enclosing_call scope(detail::impl_of(ranks), "is_globally_sorted", at);
    using end = detail::sorted_end<T>;
    const end mine = v.empty() ? end{} : end{v.back(), true};
    const auto later = [](const end& a, const end& b) { return b.any ? b : a; };
    const end before = ranks.exscan_single(send_buf(mine), op(later), values_on_rank_0(end{}));
    const detail::deferred_rejections steps(detail::count_of_deferrals(detail::impl_of(ranks)));
    const auto by = [&less](const T& a, const T& b) { return static_cast<bool>(less(a, b)); };
    const bool sorted =
        std::is_sorted(v.begin(), v.end(), by) && (v.empty() || !before.any || !by(v.front(), before.last));
    return ranks.allreduce_single(send_buf(sorted), op(std::logical_and<>{}));
  }
}

}  // namespace tutti
TUTTI_API_END
