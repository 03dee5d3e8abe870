// SPDX-License-Identifier: Apache-2.0
//
// The communicator: a group of ranks, and every collective on it. Most of them stand in collectives.hpp.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>

#include "tutti/collectives.hpp"
#include "tutti/core/port.hpp"
#include "tutti/parameters.hpp"

namespace tutti {

class graph_communicator;
class intercommunicator;

/// A group of ranks that communicate. Copies are cheap, local, and mean the same group.
///
/// All collectives have three forms: `name(...)` returns when this rank's part is done, `iname(...)` returns
/// a request at once (request.hpp), `name_init(...)` a plan that can be started many times. What is inferred
/// by communication is inferred before the i... and the ..._init form return. All ranks of the communicator
/// call the same collectives in the same order.
///
/// Parameters are named (parameters.hpp), in any order. `algorithm("name")` and `composition("name")` are
/// taken by every collective. Elements are of any trivially copyable type T: that of send_buf, else of
/// send_recv_buf, else of recv_buf; or given, as in `bcast<T>(...)`. A single value passed as a buffer is one
/// element.
///
/// Results: the receive buffer, where the caller did not pass an lvalue for it, and every other owning out
/// parameter; see result.hpp. By default the receive buffer is a std::vector<T> (dynamic_array<bool> for
/// bool). In place, with send_recv_buf(v), v holds what is sent and then what is received: an lvalue is
/// changed, a moved container comes back with the same storage.
///
/// Errors, in all: usage_error before anything is sent where the arguments can be seen to be wrong (a
/// container too small for what it is to receive, counts beyond the buffer, negative, or not one for each
/// rank, a root that does not exist). Where counts are exchanged, a rank that refuses tells the others, and
/// they throw peer_error; a call that all ranks refuse leaves the communicator usable. While under way:
/// mismatch_error, peer_error, deadlock_error. A call that is written wrongly does not compile, and one
/// sentence says why.
///
/// p is the number of ranks, n the number of elements in one block. Costs are those beyond the algorithm that
/// is selected, which runs over n elements without a copy of them; containers that the library makes cost
/// their allocation.
class communicator : public collectives<communicator> {
 public:
  /// From the library: run() makes the first one.
  explicit communicator(std::shared_ptr<detail::core> core)
      : core_(std::move(core)), rank_(detail::rank_of(*core_)), size_(detail::size_of(*core_)) {}

  int rank() const noexcept { return rank_; }  ///< of the caller, 0 .. size() - 1
  int size() const noexcept { return size_; }  ///< number of ranks
  bool is_root(int root = 0) const noexcept { return rank_ == root; }

  /// Collective: the same ranks, with traffic of its own. Costs a barrier at most.
  communicator duplicate() const { return communicator(detail::duplicate(*core_)); }

  /// Collective: these ranks, each with neighbours: `sources` that it receives from, `destinations` that it
  /// sends to, as contiguous containers of int. A rank may be named several times, also the own one. The
  /// neighbour collectives are members of what is returned (graph.hpp). Costs two barriers at most. Throws
  /// usage_error where a neighbour is no rank of this communicator.
  template <class Sources, class Destinations>
  graph_communicator graph(const Sources& sources, const Destinations& destinations) const;
  graph_communicator graph(std::initializer_list<int> sources, std::initializer_list<int> destinations) const;

  /// Collective: two groups, ranks [0, first) and the others. The collectives of what is returned go between
  /// them (intercommunicator.hpp). Throws usage_error where a group would be empty.
  intercommunicator between(int first) const;

  /// Ends the use of this communicator, and of its copies: later calls throw usage_error. Local.
  void free() noexcept { detail::release(*core_); }

  /// The algorithm that the last call of `what` ran on this rank, as "allreduce/ring"; empty: none yet.
  const char* last_algorithm(collective what) const noexcept { return detail::last_algorithm(*core_, what); }

  /// The library's side of this communicator, for front ends.
  detail::core& native() const noexcept { return *core_; }
  const std::shared_ptr<detail::core>& shared() const noexcept { return core_; }

  /// For front ends: what a call of form f says of itself.
  detail::call_site site(detail::form f) const noexcept {
    return {{*core_, f}, rank_, size_, size_, size_, 0};
  }

  /// One element: see bcast().
  template <class T = void, class... Args>
  auto bcast_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::blocking, true}, T>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto ibcast_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::nonblocking, true}, T>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto bcast_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::persistent, true}, T>(
        *this, static_cast<Args&&>(args)...);
  }

  /// One element: see reduce().
  template <class... Args>
  auto reduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::blocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ireduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::nonblocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto reduce_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::persistent, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }

  /// One element: see allreduce().
  template <class... Args>
  auto allreduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::blocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iallreduce_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::nonblocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto allreduce_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::persistent, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }

  /// One element: see scatter().
  template <class T = void, class... Args>
  auto scatter_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::blocking, true}, T>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto iscatter_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::nonblocking, true}, T>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto scatter_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::persistent, true}, T>(
        *this, static_cast<Args&&>(args)...);
  }

  /// Combines the elements of ranks 0 .. rank: scan(send_buf(v), op(f), [recv_buf], [send_recv_count(_out)]).
  ///
  /// n elements in and out. In place: send_recv_buf(v). scan_single combines one value.
  ///
  ///     auto prefix = comm.scan(send_buf(v), op(std::plus<>{}));
  template <class... Args>
  auto scan(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan}, void>(*this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iscan(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::nonblocking}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto scan_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::persistent}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto scan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::blocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iscan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::nonblocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto scan_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scan, detail::mode::persistent, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }

  /// Combines the elements of ranks 0 .. rank-1: exscan(send_buf(v), op(f), [values_on_rank_0], [recv_buf],
  /// [send_recv_count(_out)]).
  ///
  /// On rank 0 the result is values_on_rank_0 (one for all elements, or one each), which takes no part in
  /// other ranks' results; without it the identity of a standard functor. For any other operator rank 0
  /// passes values_on_rank_0, or a recv_buf (or send_recv_buf) whose elements stay as they are; else
  /// usage_error there, which ends the job unless the program catches it and leaves. exscan_single combines
  /// one value.
  ///
  ///     int before = comm.exscan_single(send_buf(static_cast<int>(v.size())), op(std::plus<>{}));
  template <class... Args>
  auto exscan(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan}, void>(*this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iexscan(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::nonblocking}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto exscan_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::persistent}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto exscan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::blocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iexscan_single(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::nonblocking, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto exscan_single_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::exscan, detail::mode::persistent, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }

 private:
  std::shared_ptr<detail::core> core_;
  int rank_, size_;
};

}  // namespace tutti
