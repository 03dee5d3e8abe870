// SPDX-License-Identifier: Apache-2.0
//
// Sparse all-to-all: each rank has messages for a few others, and nobody knows who has any for him. Not
// included by tutti.hpp.
//
// Every message is sent so that its sender learns of its receipt. A rank whose messages have all been
// received begins a barrier that it does not wait in; when that is over, nothing is under way any more. No
// rank looks at all p.
//
// Source: Hoefler, Siebert, Lumsdaine 2010 (NBX).
//
// ```cpp
// #include <map>
// #include <tutti/sparse.hpp>
// sparse_communicator sparse(world);  // made once
// std::map<int, std::vector<int>> out;
// out[(world.rank() + 1) % world.size()] = {world.rank(), 7};
// auto in = sparse.alltoallv(out);  // pairs of a source and its vector, by source
// assert(in.size() == 1 && in[0].first == in[0].second[0] && in[0].second[1] == 7);
// ```
#pragma once

#include <algorithm>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/communicator.hpp"

namespace tutti {
namespace detail {

struct sparse_message {
  int destination;
  const void* data;
  std::size_t bytes;
};

/// Takes what comes: gives the place for a message, and is told when it is there.
struct sparse_receiver {
  void* state;
  void* (*room)(void* state, int source, std::size_t bytes);
  void (*received)(void* state, int source);
};

/// Collective. `round`: how many of these calls there were on this communicator.
void exchange_sparse(const communicator& ranks, unsigned round, const sparse_message* messages, std::size_t n,
                     std::size_t element, const sparse_receiver& to);

}  // namespace detail

/// The ranks of a communicator, for sparse exchanges, whose messages meet no others.
class sparse_communicator {
 public:
  /// Collective. Costs what communicator::duplicate() does.
  explicit sparse_communicator(const communicator& ranks) : ranks_(ranks.duplicate()) {}
  // A copy would not know how many exchanges there were.
  sparse_communicator(sparse_communicator&&) noexcept = default;
  sparse_communicator& operator=(sparse_communicator&&) noexcept = default;

  /// Collective: sends each message, and calls `on_message(source, received)` for each that comes, with an
  /// int and a std::vector<T>, which it may move from.
  ///
  /// `messages` is a range of pairs of a rank and a contiguous container of T, as
  /// std::unordered_map<int, std::vector<T>> or std::vector<std::pair<int, std::span<const T>>>; they stay as
  /// they are. Several for one rank are several messages; an empty container is a message of no elements; one
  /// to the own rank comes like others. T: any type that travels but bool, the same on all ranks.
  ///
  /// Messages of one source come in the order in which it has them, those of different sources in any order.
  /// on_message may communicate, but not over this object. Where it throws, the rest of the messages is taken
  /// and dropped, and the call throws what it threw first.
  ///
  /// Costs: a synchronous message for each, and a barrier of ceil(log2 p) messages: O(m + log p), m the
  /// messages that the busiest rank sends and receives; each received one is allocated. Throws usage_error,
  /// before it sends anything, where a destination is no rank; the others wait until this rank ends then.
  template <class Messages, class OnMessage>
  void alltoallv(const Messages& messages, OnMessage&& on_message) {
    exchange(messages, [&](int source, auto&& received) { on_message(source, std::move(received)); });
  }

  /// The same, and returns what has come, as a std::vector<std::pair<int, std::vector<T>>> in the order of
  /// sources.
  template <class Messages>
  auto alltoallv(const Messages& messages) {
    std::vector<std::pair<int, std::vector<element_of<Messages>>>> all;
    exchange(messages, [&](int source, auto&& received) { all.emplace_back(source, std::move(received)); });
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
  }

 private:
  template <class Messages>
  using container_of = std::remove_cvref_t<decltype(std::get<1>(*std::declval<const Messages&>().begin()))>;
  template <class Messages>
  using element_of = detail::element_type<const container_of<Messages>>;

  // What the library calls back, with their types.
  template <class T, class Visit>
  struct receiver {
    Visit& visit;
    std::vector<T> received;
    std::exception_ptr failed;

    static void* room(void* state, int, std::size_t bytes) {
      auto& r = *static_cast<receiver*>(state);
      r.received = std::vector<T>(bytes / sizeof(T));
      return r.received.data();
    }
    static void arrived(void* state, int source) {
      auto& r = *static_cast<receiver*>(state);
      if (r.failed) return;
      try {
        r.visit(source, std::move(r.received));
      } catch (...) {
        r.failed = std::current_exception();
      }
    }
  };

  template <class Messages, class Visit>
  void exchange(const Messages& messages, Visit visit) {
    static_assert(detail::nature_of<const container_of<Messages>>() == detail::nature::contiguous,
                  "sparse_communicator: a message must be a contiguous container (data() and size())");
    using element = element_of<Messages>;
    static_assert(detail::travels<element> && !std::is_same_v<element, bool>,
                  "sparse_communicator: elements must be trivially copyable, and not bool");
    std::vector<detail::sparse_message> out;
    for (const auto& message : messages) {
      const auto& inside = std::get<1>(message);
      out.push_back({static_cast<int>(std::get<0>(message)), detail::data_of(inside),
                     detail::size_of(inside) * sizeof(element)});
    }
    using receiving = receiver<element, Visit>;
    receiving to{visit, {}, {}};
    detail::exchange_sparse(ranks_, round_++, out.data(), out.size(), sizeof(element),
                            {&to, &receiving::room, &receiving::arrived});
    if (to.failed) std::rethrow_exception(to.failed);
  }

  communicator ranks_;
  unsigned round_ = 0;
};

/// Collective: `sparse_communicator(ranks).alltoallv(messages, ...)`, once.
///
/// ```cpp
/// std::vector<std::pair<int, std::vector<char>>> out = {{0, {'a', 'b'}}};
/// int came = 0;
/// sparse_alltoallv(world, out, [&](int, std::vector<char> text) { came += text.size(); });
/// assert(came == (world.is_root() ? 2 * world.size() : 0));
/// ```
template <class Messages, class... OnMessage>
auto sparse_alltoallv(const communicator& ranks, const Messages& messages, OnMessage&&... on_message) {
  return sparse_communicator(ranks).alltoallv(messages, static_cast<OnMessage&&>(on_message)...);
}

}  // namespace tutti
