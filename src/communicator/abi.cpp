// SPDX-License-Identifier: Apache-2.0
//
// The functions of tutti/detail/abi.hpp: each passes its call on to a part of the communicator.
// Those that a cached call passes through are beside the part: run_call() in cached_calls.cpp,
// start_call() and prepare_call() in collective_operation.cpp, messages in p2p_calls.cpp and
// p2p_operation.cpp.
#include "tutti/detail/abi.hpp"

#include <new>

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

// --- collectives

void validate_call(communicator_impl& c, const call& what) { c.calls().validate_call(what); }
void count_call(communicator_impl& c) { c.calls().count_call(); }
const char* last_algorithm(const communicator_impl& c, collective what) noexcept {
  return c.calls().last_algorithm(what);
}
// A call on another thread is about to be rejected.
void* acquire_memory(communicator_impl& c, std::size_t bytes) {
  return c.state().usable() ? c.memory().acquire(bytes) : ::operator new(bytes);
}
void release_memory(communicator_impl& c, void* memory, std::size_t bytes) noexcept {
  if (c.state().usable())
    c.memory().release(memory, bytes);
  else
    ::operator delete(memory);
}

// --- groups

communicator_handle duplicate(communicator_impl& c) { return c.groups().duplicate(); }
communicator_handle with_graph(communicator_impl& c, std::span<const int> sources,
                               std::span<const int> destinations) {
  return c.groups().with_topology(
      {true, {sources.begin(), sources.end()}, {destinations.begin(), destinations.end()}, 0}, "graph");
}
communicator_handle between(communicator_impl& c, int first) {
  return c.groups().with_topology({false, {}, {}, first}, "between");
}
communicator_handle between_groups(communicator_impl& c, communicator_impl& local, int remote_leader) {
  return c.groups().between_groups(local.groups(), remote_leader);
}
communicator_handle split(communicator_impl& c, int color, int key) {
  return c.groups().split(color, key, "split");
}
communicator_handle split_bin(communicator_impl& c, int bins, int bin) {
  return c.groups().split(bin, 0, "split_bin", bins);
}
communicator_handle split_to_shared_memory(communicator_impl& c) {
  c.state().validate_usable_at_entry("split_to_shared_memory");
  endpoint& ep = c.state().ep();
  const int node = ep.topology().node_of(ep.rank(), ep.node_level());
  return c.groups().split(node, 0, "split_to_shared_memory");
}
communicator_handle range(communicator_impl& c, int first, int last, int stride) {
  return c.groups().range(first, last, stride);
}
communicator_handle list(communicator_impl& c, std::span<const int> ranks) { return c.groups().list(ranks); }
int translate(const communicator_impl& c, int rank, const communicator_impl& to) {
  return c.groups().translate(rank, to.state(), "translate");
}
distinct_number number_distinct(communicator_impl& c, std::string_view text) {
  return c.groups().number_distinct(text);
}
void release(communicator_impl& c) noexcept { c.release(); }

// --- what is known of a communicator

int rank_of(const communicator_impl& c) noexcept { return c.rank(); }
int size_of(const communicator_impl& c) noexcept { return c.size(); }
int first_group(const communicator_impl& c) noexcept { return c.state().graph().first_group; }
int send_block_count(const communicator_impl& c, collective what) noexcept {
  return c.state().send_block_count(what);
}
int recv_block_count(const communicator_impl& c, collective what) noexcept {
  return c.state().recv_block_count(what);
}
current_call* current_call_of(const communicator_impl& c) noexcept { return c.state().writable_current(); }
const std::source_location& place_of(const communicator_impl& c) noexcept { return c.state().place(); }
void reject(const communicator_impl& c, const char* operation, const char* parameter,
            std::string_view problem, const char* remedy) {
  c.state().validate_thread(operation);  // a wrong thread is reported first
  c.state().reject(operation, parameter, problem, remedy);
}

}  // namespace tutti::detail
