// SPDX-License-Identifier: Apache-2.0
//
// KaMPIng's plugins, as bases for `Communicator<std::vector, plugin::SortPlugin, ...>`. Their calls
// are tutti's own (sort.hpp, sparse.hpp, grid.hpp, reproducible.hpp). A program's own plugins
// derive from plugin::PluginBase.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "tutti/detail/deferred_rejections.hpp"
#include "tutti/grid.hpp"
#include "tutti/kamping/communicator.hpp"
#include "tutti/reproducible.hpp"
#include "tutti/sort.hpp"
#include "tutti/sparse.hpp"

namespace kamping::plugin {

/// The base of each plugin.
template <class Comm, template <class...> class Container,
          template <class, template <class...> class> class Plugin>
class PluginBase {
 public:
  template <class T>
  using default_container_type = Container<T>;

  Comm& to_communicator() noexcept { return static_cast<Comm&>(*this); }
  const Comm& to_communicator() const noexcept { return static_cast<const Comm&>(*this); }

 protected:
  const tutti::communicator& ranks() const { return to_communicator().tutti_communicator(); }
};

/// `comm.sort(v)` sorts the elements of all ranks' vectors (tutti::sort_globally).
template <class Comm, template <class...> class Container>
class SampleSort : public PluginBase<Comm, Container, SampleSort> {
 public:
  template <class T, class Allocator, class Less = std::less<>>
  void sort(std::vector<T, Allocator>& data, const Less& less = {},
            std::source_location at = std::source_location::current()) const {
    internal::translating([&] { tutti::sort_globally(this->ranks(), data, less, at); });
  }
  /// The same for a range, with the result in `out`, which may receive more or fewer elements than
  /// the range has.
  template <std::random_access_iterator In, class Out, class Less = std::less<>>
  void sort(In begin, In end, Out out, const Less& less = {},
            std::source_location at = std::source_location::current()) const {
    std::vector<std::iter_value_t<In>> data(begin, end);
    sort(data, less, at);
    for (const auto& each : data) *out++ = each;
  }
};
/// The same, by its other name.
template <class Comm, template <class...> class Container>
using SortPlugin = SampleSort<Comm, Container>;

namespace sparse_alltoall {

template <class Messages>
struct sparse_send_buf_t {
  const Messages& data;
  std::source_location at;
};
template <class F>
struct on_message_t {
  F function;
};
/// Pairs of a rank and its data, for example std::unordered_map<int, std::vector<T>>.
template <class Messages>
auto sparse_send_buf(const Messages& messages, std::source_location at = std::source_location::current()) {
  return sparse_send_buf_t<Messages>{messages, at};
}
/// A function that is called with a ProbedMessage for each received message.
template <class F>
auto on_message(F&& function) {
  return on_message_t<F>{static_cast<F&&>(function)};
}

/// A received message; recv() returns its elements.
template <class T>
class ProbedMessage {
 public:
  ProbedMessage(int source, std::vector<T>&& elements) : source_(source), elements_(std::move(elements)) {}

  int source_signed() const noexcept { return source_; }
  std::size_t source() const noexcept { return static_cast<std::size_t>(source_); }
  std::size_t recv_count() const noexcept { return elements_.size(); }
  int recv_count_signed() const noexcept { return static_cast<int>(elements_.size()); }
  /// Returns the elements, or with recv_buf(v) moves them into v. It can be called once.
  std::vector<T> recv() { return std::move(elements_); }
  template <class Buffer>
  auto recv(Buffer&& into) {
    using bare = std::remove_cvref_t<Buffer>;
    if constexpr (internal::is_open_recv_buf<bare>) {
      return recv();
    } else {
      if (!tutti::detail::fit<bare::policy>(into.data, elements_.size()))
        throw MpiErrorException("alltoallv_sparse: recv_buf: the container is too small", MPI_ERR_BUFFER);
      auto* to = tutti::detail::data_of(into.data);
      for (const T& each : elements_) *to++ = each;
      if constexpr (bare::owning) return std::move(into.data);
    }
  }

 private:
  int source_;
  std::vector<T> elements_;
};

}  // namespace sparse_alltoall

/// `comm.alltoallv_sparse(sparse_send_buf(messages), on_message(f))` (tutti::sparse_communicator).
/// It accepts a tag but does not need one: these messages match no others.
template <class Comm, template <class...> class Container>
class SparseAlltoall : public PluginBase<Comm, Container, SparseAlltoall> {
 public:
  template <class Messages, class F, class... Tag>
  void alltoallv_sparse(sparse_alltoall::sparse_send_buf_t<Messages> messages,
                        sparse_alltoall::on_message_t<F> handler, const Tag&...) const {
    internal::translating([&] {
      const tutti::detail::enclosing_call scope(tutti::detail::impl_of(this->ranks()), "alltoallv_sparse",
                                                messages.at);
      if (!sparse_) sparse_ = std::make_shared<tutti::sparse_communicator>(this->ranks(), messages.at);
      const auto on_message = [&](int source, auto received) {
        sparse_alltoall::ProbedMessage<typename decltype(received)::value_type> message(source,
                                                                                        std::move(received));
        handler.function(message);
      };
      sparse_->alltoallv(messages.data, on_message, messages.at);
    });
  }
  template <class Messages, class F, class... Tag>
  void alltoallv_sparse(sparse_alltoall::on_message_t<F> handler,
                        sparse_alltoall::sparse_send_buf_t<Messages> messages, const Tag&... tag) const {
    alltoallv_sparse(messages, std::move(handler), tag...);
  }

 private:
  mutable std::shared_ptr<tutti::sparse_communicator> sparse_;  // made by the first exchange
};

namespace grid {

/// The envelope of a message of alltoallv_with_envelope().
enum class MessageEnvelopeLevel { no_envelope, source, source_and_destination };

/// An element with its source and destination, as ranks of the whole communicator.
template <class T>
class MessageEnvelope {
 public:
  MessageEnvelope() = default;
  MessageEnvelope(const T& payload, int source, int destination)
      : payload_(payload), source_(source), destination_(destination) {}

  const T& get_payload() const noexcept { return payload_; }
  T& get_payload() noexcept { return payload_; }
  int get_source_signed() const noexcept { return source_; }
  std::size_t get_source() const noexcept { return static_cast<std::size_t>(source_); }
  int get_destination_signed() const noexcept { return destination_; }
  std::size_t get_destination() const noexcept { return static_cast<std::size_t>(destination_); }

 private:
  T payload_;
  int source_, destination_;
};

/// alltoallv in two hops over a grid of the ranks (tutti::grid_communicator). Container is the type
/// of receive buffers that it makes.
template <template <class...> class Container = std::vector>
class GridCommunicator {
 public:
  explicit GridCommunicator(const tutti::communicator& ranks,
                            std::source_location at = std::source_location::current())
      : grid_(ranks, at) {}
  /// Collective.
  template <template <class, template <class...> class> class... Plugins>
  explicit GridCommunicator(const Communicator<Container, Plugins...>& comm,
                            std::source_location at = std::source_location::current())
      : grid_(comm.tutti_communicator(), at) {}

  std::size_t rank() const { return static_cast<std::size_t>(grid_.rank()); }
  std::size_t size() const { return static_cast<std::size_t>(grid_.size()); }
  int rank_signed() const { return grid_.rank(); }
  int size_signed() const { return grid_.size(); }
  template <class... Args>
  auto alltoallv(Args&&... args) const {
    return internal::make_receiving_call<Container, void>(
        [&](auto&&... a) { return grid_.alltoallv(static_cast<decltype(a)&&>(a)...); },
        static_cast<Args&&>(args)...);
  }
  /// alltoallv() of `send_buf(v), send_counts(c)`, and optional send_displs(d). Returns a container
  /// of the elements, in the order of their sources. Unless Level is no_envelope, each element has
  /// its source, and its destination if requested.
  template <MessageEnvelopeLevel Level = MessageEnvelopeLevel::no_envelope, class... Args>
  auto alltoallv_with_envelope(Args&&... args) const {
    if constexpr (Level == MessageEnvelopeLevel::no_envelope) {
      return alltoallv(static_cast<Args&&>(args)...);
    } else {
      return internal::translating([&] {
        using element = tutti::detail::element_of_call<void, std::remove_cvref_t<Args>...>;
        tutti::detail::argument_set<Args&...> given{{args}...};
        return exchange<element>(given);
      });
    }
  }
  template <class... Args>
  auto allgather(Args&&... args) const {
    return internal::make_receiving_call<Container, void>(
        [&](auto&&... a) { return grid_.allgather(static_cast<decltype(a)&&>(a)...); },
        static_cast<Args&&>(args)...);
  }

 private:
  template <class T, class Given>
  auto exchange(Given& given) const {
    using tutti::parameter;
    auto& buffer = tutti::detail::get<parameter::send_buf>(given).data;
    const auto& counts = tutti::detail::get<parameter::send_counts>(given).data;
    if (tutti::detail::size_of(counts) != size())
      throw MpiErrorException("alltoallv_with_envelope: send_counts: pass one for each rank", MPI_ERR_COUNT);
    Container<MessageEnvelope<T>> out;
    std::size_t next = 0;
    for (std::size_t to = 0; to < size(); ++to) {
      if constexpr (requires { tutti::detail::get<parameter::send_displs>(given); })
        next = static_cast<std::size_t>(
            tutti::detail::data_of(tutti::detail::get<parameter::send_displs>(given).data)[to]);
      const auto n = static_cast<std::size_t>(tutti::detail::data_of(counts)[to]);
      if (next + n > tutti::detail::size_of(buffer))
        throw MpiErrorException("alltoallv_with_envelope: send_counts: more than send_buf holds",
                                MPI_ERR_COUNT);
      for (std::size_t i = 0; i < n; ++i)
        out.push_back({tutti::detail::data_of(buffer)[next++], rank_signed(), static_cast<int>(to)});
    }
    return grid_.alltoallv(tutti::send_buf(out), tutti::send_counts(counts),
                           tutti::recv_buf<Container<MessageEnvelope<T>>>());
  }

  tutti::grid_communicator grid_;
};
template <template <class...> class Container, template <class, template <class...> class> class... Plugins>
GridCommunicator(const Communicator<Container, Plugins...>&) -> GridCommunicator<Container>;

}  // namespace grid

template <class Comm, template <class...> class Container>
class GridCommunicator : public PluginBase<Comm, Container, GridCommunicator> {
 public:
  /// Collective.
  grid::GridCommunicator<Container> make_grid_communicator(
      std::source_location at = std::source_location::current()) const {
    return internal::translating([&] { return grid::GridCommunicator<Container>(this->ranks(), at); });
  }
};

namespace dispatch_alltoall {

/// Accepted and ignored: tutti's decision trees select the algorithm.
template <class Number>
auto comm_volume_threshold(Number) {
  return internal::unwanted{};
}

/// alltoallv with the selected algorithm.
template <class Comm, template <class...> class Container>
class DispatchAlltoall : public PluginBase<Comm, Container, DispatchAlltoall> {
 public:
  template <class... Args>
  auto alltoallv_dispatch(Args&&... args) const {
    return this->to_communicator().alltoallv(static_cast<Args&&>(args)...);
  }
};

}  // namespace dispatch_alltoall
using dispatch_alltoall::DispatchAlltoall;

/// Reductions with the same bits for any number of ranks (tutti::reproducible).
template <class T>
class ReproducibleCommunicator {
 public:
  ReproducibleCommunicator(tutti::communicator in_order, std::size_t count)
      : array_(in_order, count), size_(in_order.size()) {}
  template <class... Args>
  T reproducible_reduce(Args&&... args) const {
    return internal::make_call(
        [&](auto&&... a) { return array_.allreduce(static_cast<decltype(a)&&>(a)...); },
        static_cast<Args&&>(args)...);
  }

 private:
  tutti::reproducible array_;
  int size_;
};

template <class Comm, template <class...> class Container>
class ReproducibleReducePlugin : public PluginBase<Comm, Container, ReproducibleReducePlugin> {
 public:
  /// Collective: rank i has send_counts[i] elements of an array, from recv_displs[i] on.
  template <class T, class Counts, class Displs>
  ReproducibleCommunicator<T> make_reproducible_comm(Counts&& counts, Displs&& displs) const {
    using tutti::parameter;
    if constexpr (tutti::detail::parameter_of<std::remove_cvref_t<Counts>> == parameter::recv_displs) {
      return make_reproducible_comm<T>(static_cast<Displs&&>(displs), static_cast<Counts&&>(counts));
    } else {
      return internal::translating([&] {
        const auto& ranks = this->ranks();
        const tutti::detail::enclosing_call scope(tutti::detail::impl_of(ranks), "make_reproducible_comm",
                                                  tutti::detail::first_location(counts, displs));
        const auto me = static_cast<std::size_t>(ranks.rank());
        const auto place = static_cast<int>(tutti::detail::data_of(displs.data)[me]);
        const auto count = static_cast<std::size_t>(tutti::detail::data_of(counts.data)[me]);
        const tutti::communicator in_order = *ranks.split(0, place);
        const tutti::detail::deferred_rejections steps(
            tutti::detail::count_of_deferrals(tutti::detail::impl_of(ranks)));
        return ReproducibleCommunicator<T>(in_order, count);
      });
    }
  }
};

}  // namespace kamping::plugin
