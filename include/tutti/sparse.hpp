// SPDX-License-Identifier: Apache-2.0
//
// Sparse all-to-all: each rank sends to a few others, and no rank knows from which ranks it
// receives. tutti.hpp does not include this header.
//
// Every message is a synchronous send, so its sender learns when it has been received. A rank whose
// messages have all been received begins a nonblocking barrier. When that is complete, no message
// is under way any more. No rank does work for all p ranks.
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
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

struct sparse_message {
  int destination;
  const void* data;
  std::size_t bytes;
};

/// Callbacks for received messages: one returns the memory for a message, another takes the
/// complete message.
struct sparse_receiver {
  void* state;
  void* (*allocate)(void* state, int source, std::size_t bytes);
  void (*received)(void* state, int source);
};

/// Collective. `round` is the number of earlier calls on this communicator.
void exchange_sparse(const communicator& ranks, unsigned round, const sparse_message* messages, std::size_t n,
                     std::size_t element, const sparse_receiver& to);

}  // namespace detail

/// The ranks of a communicator, for sparse exchanges with separate traffic.
class sparse_communicator {
 public:
  /// Collective. Costs the same as communicator::duplicate().
  explicit sparse_communicator(const communicator& ranks,
                               std::source_location at = std::source_location::current())
      : ranks_(duplicate_of(ranks, at)) {}
  // It cannot be copied, since a copy would not know the number of exchanges.
  sparse_communicator(sparse_communicator&&) noexcept = default;
  sparse_communicator& operator=(sparse_communicator&&) noexcept = default;

  /// Collective: sends each message, and calls `on_message(source, received)` for each received
  /// one, with an int and a std::vector<T> that it may move from.
  ///
  /// `messages` is a range of pairs of a rank and a contiguous container of T, such as
  /// std::unordered_map<int, std::vector<T>> or std::vector<std::pair<int, std::span<const T>>>.
  /// The call does not change them. Several for one rank are several messages. An empty container
  /// is a message of no elements. A message to the caller's own rank arrives like others. T is any
  /// type that calls can send except bool, the same on all ranks.
  ///
  /// Messages of one source arrive in the order of its range; those of different sources arrive in
  /// any order. on_message may communicate, but not over this object. If it throws, the call
  /// receives and discards the remaining messages, and then throws the first exception.
  ///
  /// Costs: one synchronous message for each, and a barrier of ceil(log2 p) messages: O(m + log p).
  /// m is the number of messages that the busiest rank sends and receives. Each received message is
  /// allocated. Throws usage_error, before it sends anything, if a destination is not a rank; the
  /// other ranks then block until this rank exits.
  template <class Messages, class OnMessage>
  void alltoallv(const Messages& messages, OnMessage&& on_message,
                 std::source_location at = std::source_location::current()) {
    const detail::enclosing_call scope(detail::impl_of(ranks_), "sparse_communicator::alltoallv", at);
    exchange(messages, [&](int source, auto&& received) { on_message(source, std::move(received)); });
  }

  /// The same, but returns the received messages, as a std::vector<std::pair<int, std::vector<T>>>
  /// in the order of sources.
  template <class Messages>
  auto alltoallv(const Messages& messages, std::source_location at = std::source_location::current()) {
    const detail::enclosing_call scope(detail::impl_of(ranks_), "sparse_communicator::alltoallv", at);
    std::vector<std::pair<int, std::vector<element_of<Messages>>>> all;
    exchange(messages, [&](int source, auto&& received) { all.emplace_back(source, std::move(received)); });
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
  }

 private:
  static communicator duplicate_of(const communicator& ranks, const std::source_location& at) {
    const detail::enclosing_call scope(detail::impl_of(ranks), "sparse_communicator", at);
    return ranks.duplicate(at);
  }

  template <class Messages>
  using container_of = std::remove_cvref_t<decltype(std::get<1>(*std::declval<const Messages&>().begin()))>;
  template <class Messages>
  using element_of = detail::element_type<const container_of<Messages>>;

  // The typed callbacks of the library.
  template <class T, class Visit>
  struct receiver {
    Visit& visit;
    std::vector<T> received;
    std::exception_ptr failed;

    static void* allocate(void* state, int, std::size_t bytes) {
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
    static_assert(
        detail::argument_shape_of<const container_of<Messages>>() == detail::argument_shape::contiguous,
        "sparse_communicator: a message must be a contiguous container (data() and size())");
    using element = element_of<Messages>;
    static_assert(detail::is_sendable<element> && !std::is_same_v<element, bool>,
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
                            {&to, &receiving::allocate, &receiving::arrived});
    if (to.failed) std::rethrow_exception(to.failed);
  }

  communicator ranks_;
  unsigned round_ = 0;
};

/// Collective: `sparse_communicator(ranks).alltoallv(messages, ...)`, for a single exchange.
///
/// ```cpp
/// std::vector<std::pair<int, std::vector<char>>> out = {{0, {'a', 'b'}}};
/// int came = 0;
/// sparse_alltoallv(world, out, [&](int, std::vector<char> text) { came += text.size(); });
/// assert(came == (world.is_root() ? 2 * world.size() : 0));
/// ```
template <class Messages, class OnMessage>
void sparse_alltoallv(const communicator& ranks, const Messages& messages, OnMessage&& on_message,
                      std::source_location at = std::source_location::current()) {
  const detail::enclosing_call scope(detail::impl_of(ranks), "sparse_alltoallv", at);
  sparse_communicator(ranks).alltoallv(messages, static_cast<OnMessage&&>(on_message));
}
/// The same, but returns the received messages as sparse_communicator::alltoallv does.
template <class Messages>
auto sparse_alltoallv(const communicator& ranks, const Messages& messages,
                      std::source_location at = std::source_location::current()) {
  const detail::enclosing_call scope(detail::impl_of(ranks), "sparse_alltoallv", at);
  return sparse_communicator(ranks).alltoallv(messages);
}

}  // namespace tutti
TUTTI_API_END
