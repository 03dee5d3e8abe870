// SPDX-License-Identifier: Apache-2.0
#include "tutti/detail/substitute_buffers.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "communicator/call_dispatcher.hpp"
#include "communicator/call_validation.hpp"
#include "communicator/internal_calls.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct free_deleter {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// An argument may state any length. Beyond this many bytes the other ranks are not served.
constexpr std::size_t max_stated_bytes = std::size_t{1} << 28;
constexpr std::size_t max_memory = std::size_t{1} << 40;  // no rank expects a longer block

bool sum_of(const counts_view& counts, std::size_t& sum) noexcept {
  sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (__builtin_add_overflow(sum, counts[i], &sum)) return false;
  return true;
}

bool is_valid(const counts_view& counts, int blocks) noexcept {
  if (!counts.given() || counts.size() != static_cast<std::size_t>(blocks)) return false;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts.negative(i)) return false;
  return true;
}

// Only the root has this list, so it can only guess what the others expect. It keeps the valid
// entries, and replaces the others by the length of its own block. Returns whether the list was
// wrong.
bool repair(counts_view& counts, int blocks, std::size_t default_value, std::vector<std::size_t>& into) {
  into.assign(static_cast<std::size_t>(blocks), default_value);
  if (counts.given())
    for (std::size_t i = 0; i < std::min(counts.size(), into.size()); ++i)
      if (!counts.negative(i)) into[i] = counts[i];
  const bool wrong = !is_valid(counts, blocks);
  counts = {into.data(), into.size()};
  return wrong;
}

std::span<const layout> types_of(const layout* types, const counts_view& counts) noexcept {
  return {types, counts.size()};
}

// Sets lists and lengths to what the other ranks expect. Returns false if this rank cannot know
// that. `only_here`: the arguments of the others are valid, and the lists of this rank have been
// checked.
bool complete_arguments(const collective_caller& s, call& c, std::size_t given, bool exchanged,
                        bool only_here, std::vector<std::size_t>& list, bool& changes_sent_data) {
  const bool rooted = is_rooted(c.what);
  if (rooted && (c.root < 0 || c.root >= s.size)) return false;
  const bool at_root = rooted && s.rank == c.root, one_group = s.first_group == 0;
  const auto me = static_cast<std::size_t>(one_group ? s.rank : s.local_rank());
  const bool length_known = c.count != 0 || given != rejected_count;
  if (c.count == 0 && given != rejected_count) c.count = given;
  switch (c.what) {
    case collective::gatherv:
      if (!at_root) return length_known || s.takes_no_part(c.root);
      repair(c.out_counts, s.recv_blocks, c.count, list);
      if (!one_group || c.in_place) return true;
      if (c.input != nullptr)
        list[me] = c.count;
      else
        c.count = list[me];
      return true;
    case collective::scatterv:
      if (!at_root) return length_known || s.takes_no_part(c.root);
      changes_sent_data = repair(c.in_counts, s.send_blocks, c.count, list);
      c.count = one_group ? list[me] : 0;
      return true;
    case collective::allgatherv:
    case collective::alltoallv:
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      return (exchanged || only_here) && c.out_counts.given();
    case collective::alltoallw:
      return only_here && c.out_counts.given() && c.out_types != nullptr;
    case collective::reduce_scatter:
      if (!is_valid(c.out_counts, s.send_blocks)) return false;
      c.in_counts = c.out_counts;
      c.count = c.out_counts[me];
      return only_here || s.name.how == mode::blocking;
    case collective::barrier:
      return false;
    default: {
      // The others may all be wrong in the same way. Then nothing is begun.
      if (!length_known || (!rooted && !only_here && s.name.how != mode::blocking)) return false;
      std::size_t bytes = 0;
      const auto blocks = static_cast<std::size_t>(std::max(s.send_blocks, s.recv_blocks));
      return given == rejected_count ||
             (!__builtin_mul_overflow(c.count, c.type.size, &bytes) &&
              !__builtin_mul_overflow(bytes, blocks, &bytes) && bytes <= max_stated_bytes);
    }
  }
}

// Computes the number of elements of the two buffers.
bool lengths(const collective_caller& s, const call& c, std::size_t& in, std::size_t& out) {
  const bool at_root = !is_rooted(c.what) || s.rank == c.root;
  const auto times = [&](int blocks, std::size_t& n) {
    return !__builtin_mul_overflow(c.count, static_cast<std::size_t>(blocks), &n);
  };
  in = out = c.count;
  switch (c.what) {
    case collective::gatherv:
    case collective::allgatherv:
    case collective::neighbor_allgatherv:
      return !at_root || sum_of(c.out_counts, out);
    case collective::scatterv:
      return !at_root || sum_of(c.in_counts, in);
    case collective::alltoallv:
    case collective::neighbor_alltoallv:
      return sum_of(c.in_counts, in) && sum_of(c.out_counts, out);
    case collective::alltoallw:
      in = c.in_types == nullptr ? 0
                                 : extent_of_types(s, parameter::send_counts, c.in_counts,
                                                   parameter::send_displs, c.in_displs, c.in_displs.given(),
                                                   parameter::send_types, types_of(c.in_types, c.in_counts));
      out = extent_of_types(s, parameter::recv_counts, c.out_counts, parameter::recv_displs, c.out_displs,
                            c.out_displs.given(), parameter::recv_types, types_of(c.out_types, c.out_counts));
      return true;
    case collective::reduce_scatter:
      return sum_of(c.out_counts, in);
    case collective::scatter:
    case collective::reduce_scatter_block:
      return times(s.send_blocks, in);
    case collective::gather:
    case collective::allgather:
      return times(s.recv_blocks, out);
    case collective::alltoall:
      return times(s.send_blocks, in) && times(s.recv_blocks, out);
    default:
      return true;
  }
}

}  // namespace

struct substitute_buffers::state {
  std::exception_ptr fault;
  bool peers_informed = false, peers_continue = false;
  bool sends_zeros = false;  // to other ranks, in place of data of this rank
  std::string text;          // of the fault
  std::vector<std::size_t> list;
  std::unique_ptr<void, free_deleter> input, output;  // zeros; pages not used take no memory

  bool allocate_buffers(const collective_caller& s, call& c) {
    std::size_t in = 0, out = 0;
    if (!lengths(s, c, in, out)) return false;
    const bool both = c.in_place && (c.input == nullptr || c.output == nullptr);
    if (both) in = out = std::max(in, out);
    const auto zeros = [&](std::unique_ptr<void, free_deleter>& memory, std::size_t n) {
      std::size_t bytes = 0;
      if (__builtin_mul_overflow(n, c.type.size, &bytes) || bytes > max_memory) return memory.get();
      memory.reset(std::calloc(std::max<std::size_t>(bytes, 1), 1));
      return memory.get();
    };
    sends_zeros = in != 0 && (sends_zeros || both || c.input == nullptr);
    // Blocks of alltoallw may reach beyond their extent.
    const bool packed = c.what != collective::alltoallw;
    if (both || c.output == nullptr) {
      if ((c.output = zeros(output, out)) == nullptr) return false;
      if (packed) c.out_displs = {};
    }
    if (both) {
      c.input = c.output;
      if (packed) c.in_displs = {};
    } else if (c.input == nullptr) {
      if ((c.input = zeros(input, in)) == nullptr) return false;
      if (packed) c.in_displs = {};
    }
    if (c.what == collective::bcast) c.output = const_cast<void*>(c.input);  // one buffer
    return true;
  }
};

void substitute_buffers::prepare(const collective_caller& s, call& c, std::size_t given, bool exchanged) {
  state& own = get_state();
  if (!own.fault) own.fault = std::current_exception();
  bool only_here = false;
  std::string text;
  const auto report_to_peers = [&](const char* why) {
    text = why;
    if (own.peers_informed || is_freed(s.where)) return true;
    if (s.name.how == mode::persistent || !in_checked_mode(s.where)) return false;
    report_rejection(s.where, c, why);
    return true;
  };
  const auto may_serve = [&] {
    try {
      std::rethrow_exception(own.fault);
    } catch (const usage_error& e) {
      return e.parameter() != "communicator" && !report_to_peers(e.what());
    } catch (const peer_error& e) {
      return own.peers_continue && !report_to_peers(e.what());
    } catch (const error&) {
      return false;                      // an exchange of counts: the others have the error, too
    } catch (const std::exception& e) {  // a container could not be made larger
      only_here = true;
      return !report_to_peers(e.what());
    } catch (...) {
      only_here = true;
      return !report_to_peers("a container of its arguments threw an exception that is not a std::exception");
    }
  };
  if (!may_serve() || !complete_arguments(s, c, given, exchanged, only_here, own.list, own.sends_zeros) ||
      !own.allocate_buffers(s, c))
    std::rethrow_exception(own.fault);
  own.text = std::move(text);
  used_ = true;
}

void substitute_buffers::announce(const collective_caller& s, const call& c) {
  announce_rejection(s.where, c, s.name.how, state_->sends_zeros, state_->text);
}

substitute_buffers::state& substitute_buffers::get_state() {
  if (state_ == nullptr) state_ = new state;
  return *state_;
}
void substitute_buffers::set_fault(std::exception_ptr fault) { get_state().fault = std::move(fault); }
void substitute_buffers::set_peers_informed() { get_state().peers_informed = true; }
void substitute_buffers::set_peers_continue() { get_state().peers_continue = true; }
void substitute_buffers::drop(state* one) noexcept { delete one; }
void substitute_buffers::rethrow() const { std::rethrow_exception(state_->fault); }

serving_peers::serving_peers(communicator_impl& where) noexcept : where_(where) {
  endpoint_of(where_).serve_peers(1);
}
serving_peers::~serving_peers() { endpoint_of(where_).serve_peers(-1); }

void serve(communicator_impl& where, const call& c) noexcept {
  serve_by(where, [&] { run_call(where, c); });
}

// The send buffer stays; the result goes to a substitute.
void prepare_rejected(communicator_impl& self, const communicator_state& where, call& c, mode how,
                      substitute_buffers& into) {
  const collective_caller s{{self, collective_form{c.what, how, false, false}},
                            c.what,
                            where.rank(),
                            where.size(),
                            where.send_block_count(c.what),
                            where.recv_block_count(c.what),
                            where.graph().first_group,
                            0};
  c.output = nullptr;
  into.prepare(s, c, rejected_count, false);
  try {
    validate(where, c);
  } catch (const usage_error&) {
    into.rethrow_fault();  // the call has more than one error
  }
  into.announce(s, c);
}

}  // namespace tutti::detail
