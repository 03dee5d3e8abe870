// SPDX-License-Identifier: Apache-2.0
//
// The calls that work within one group only, as member functions of communicator with named
// parameters: scans, and calls of exactly one element. communicator.hpp states what all collectives
// share, and collectives.hpp defines the notation of these comments.
#pragma once

#include <source_location>

#include "tutti/detail/diagnostic.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/invoke.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// A base of communicator. No other class derives from it.
///
/// ```cpp
/// int sum = world.allreduce_single(send_buf(1), op(std::plus<>{}));
/// assert(sum == world.size());
/// ```
template <class Self>
class within_group {
 public:
  /// bcast() of exactly one element: no exchange of counts, and a T in place of a container.
  template <class T = void, class... Args>
  auto bcast_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::blocking, true}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto bcast_single(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::bcast, detail::mode::blocking, true}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto ibcast_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::nonblocking, true}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto ibcast_single(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::bcast, detail::mode::nonblocking, true}, T>(self(),
                                                                                                     at);
  }
  template <class T = void, class... Args>
  auto bcast_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::persistent, true}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto bcast_single_init(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::bcast, detail::mode::persistent, true}, T>(self(),
                                                                                                    at);
  }

  /// reduce() of one element: returns a std::optional<T>, which is empty except at the root.
  template <class... Args>
  auto reduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::blocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ireduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::nonblocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto reduce_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::persistent, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// allreduce() of one element into one.
  template <class... Args>
  auto allreduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::blocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iallreduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::nonblocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto allreduce_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::persistent, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// scatter() of one element to each rank: no exchange of counts, and a T in place of a container.
  template <class T = void, class... Args>
  auto scatter_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::blocking, true}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto scatter_single(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatter, detail::mode::blocking, true}, T>(self(),
                                                                                                    at);
  }
  template <class T = void, class... Args>
  auto iscatter_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::nonblocking, true}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto iscatter_single(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatter, detail::mode::nonblocking, true}, T>(self(),
                                                                                                       at);
  }
  template <class T = void, class... Args>
  auto scatter_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::persistent, true}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto scatter_single_init(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatter, detail::mode::persistent, true}, T>(self(),
                                                                                                      at);
  }

  /// Gives each rank the combination of ranks 0 .. rank.
  ///
  /// `scan(send_buf(v), op(f), [recv_buf], [send_recv_count(_out)])`, in place `send_recv_buf(v)`
  ///
  /// Each rank passes and receives n elements. scan_single combines one element into one.
  ///
  /// Exchange of counts: none.
  ///
  /// ```cpp
  /// std::vector<int> v = {1, 10};
  /// auto prefix = world.scan(send_buf(v), op(std::plus<>{}));
  /// assert(prefix[1] == 10 * (world.rank() + 1));
  /// ```
  template <class... Args>
  auto scan(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iscan(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto scan_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto scan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::blocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iscan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::nonblocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto scan_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::persistent, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// Gives each rank the combination of ranks 0 .. rank - 1.
  ///
  /// `exscan(send_buf(v), op(f), [values_on_rank_0], [recv_buf], [send_recv_count(_out)])`, in
  /// place `send_recv_buf(v)`
  ///
  /// Each rank passes and receives n elements. Rank 0 receives values_on_rank_0 (one for all
  /// elements, or one each), which does not enter the results of other ranks. Without it rank 0
  /// receives the identity of an operator known by name (ops.hpp), else the previous contents of a
  /// passed recv_buf or send_recv_buf. exscan_single combines one element into one.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error on every rank that gives none of these three, and the errors of the class
  /// communicator.
  ///
  /// ```cpp
  /// int mine = world.rank() + 1;  // as many elements as this rank has
  /// int before = world.exscan_single(send_buf(mine), op(std::plus<>{}));
  /// assert(before == world.rank() * mine / 2);
  /// ```
  template <class... Args>
  auto exscan(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iexscan(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto exscan_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto exscan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::blocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iexscan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::nonblocking, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto exscan_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::persistent, true}, void>(
        self(), static_cast<Args&&>(args)...);
  }

 protected:
  within_group() = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti
TUTTI_API_END
