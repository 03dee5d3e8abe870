// SPDX-License-Identifier: Apache-2.0
#include "tutti/detail/substitute_buffers.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "communicator/call_dispatcher.hpp"
#include "communicator/call_validation.hpp"
#include "communicator/internal_calls.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct freed {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// An argument may state any length. Beyond this many bytes the other ranks are not served.
constexpr std::size_t most_of_a_given_length = std::size_t{1} << 28;
constexpr std::size_t max_memory = std::size_t{1} << 40;  // no rank expects a longer block

bool sum_of(const counts_view& counts, std::size_t& sum) noexcept {
  sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (__builtin_add_overflow(sum, counts[i], &sum)) return false;
  return true;
}

bool is_right(const counts_view& counts, int blocks) noexcept {
  if (!counts.given() || counts.size() != static_cast<std::size_t>(blocks)) return false;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts.negative(i)) return false;
  return true;
}

// Only the root has this list, so it can only guess what the others expect: its valid entries, and
// for the others the length of the root's own block.
void repair(counts_view& counts, int blocks, std::size_t default_value, std::vector<std::size_t>& into) {
  into.assign(static_cast<std::size_t>(blocks), default_value);
  if (counts.given())
    for (std::size_t i = 0; i < std::min(counts.size(), into.size()); ++i)
      if (!counts.negative(i)) into[i] = counts[i];
  counts = {into.data(), into.size()};
}

std::span<const layout> types_of(const layout* types, const counts_view& counts) noexcept {
  return {types, counts.size()};
}

// Sets lists and lengths to what the other ranks expect. Returns false if this rank cannot know
// that. `alone`: the arguments of the others are valid, and the lists of this rank have been
// checked.
bool complete(const call_site& s, call& c, std::size_t given, bool exchanged, bool alone,
              std::vector<std::size_t>& list) {
  const bool rooted = is_rooted(c.what);
  if (rooted && (c.root < 0 || c.root >= s.size)) return false;
  const bool at_root = rooted && s.rank == c.root, one_group = s.first_group == 0;
  const auto me = static_cast<std::size_t>(one_group ? s.rank : s.local_rank());
  const bool known = c.count != 0 || given != refused_count;
  if (c.count == 0 && given != refused_count) c.count = given;
  switch (c.what) {
    case collective::gatherv:
      if (!at_root) return known || s.beside(c.root);
      repair(c.out_counts, s.takes, c.count, list);
      if (!one_group || c.in_place) return true;
      if (c.input != nullptr)
        list[me] = c.count;
      else
        c.count = list[me];
      return true;
    case collective::scatterv:
      if (!at_root) return known || s.beside(c.root);
      repair(c.in_counts, s.gives, c.count, list);
      c.count = one_group ? list[me] : 0;
      return true;
    case collective::allgatherv:
    case collective::alltoallv:
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      return (exchanged || alone) && c.out_counts.given();
    case collective::alltoallw:
      return alone && c.out_counts.given() && c.out_types != nullptr;
    case collective::reduce_scatter:
      if (!is_right(c.out_counts, s.gives)) return false;
      c.in_counts = c.out_counts;
      c.count = c.out_counts[me];
      return alone || s.name.how == mode::blocking;
    case collective::barrier:
      return false;
    default: {
      // The others may all be wrong in the same way. Then nothing is begun.
      if (!known || (!rooted && !alone && s.name.how != mode::blocking)) return false;
      std::size_t bytes = 0;
      const auto blocks = static_cast<std::size_t>(std::max(s.gives, s.takes));
      return given == refused_count ||
             (!__builtin_mul_overflow(c.count, c.type.size, &bytes) &&
              !__builtin_mul_overflow(bytes, blocks, &bytes) && bytes <= most_of_a_given_length);
    }
  }
}

// Computes the number of elements of the two buffers.
bool lengths(const call_site& s, const call& c, std::size_t& in, std::size_t& out) {
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
      return times(s.gives, in);
    case collective::gather:
    case collective::allgather:
      return times(s.takes, out);
    case collective::alltoall:
      return times(s.gives, in) && times(s.takes, out);
    default:
      return true;
  }
}

}  // namespace

struct substitute_buffers::kept {
  std::exception_ptr fault;
  bool told = false, others_continue = false;
  std::vector<std::size_t> list;
  std::unique_ptr<void, freed> input, output;  // zeros; only pages that are used become memory

  bool make_room(const call_site& s, call& c) {
    std::size_t in = 0, out = 0;
    if (!lengths(s, c, in, out)) return false;
    const bool both = c.in_place && (c.input == nullptr || c.output == nullptr);
    if (both) in = out = std::max(in, out);
    const auto room = [&](std::unique_ptr<void, freed>& memory, std::size_t n) {
      std::size_t bytes = 0;
      if (__builtin_mul_overflow(n, c.type.size, &bytes) || bytes > max_memory) return memory.get();
      memory.reset(std::calloc(std::max<std::size_t>(bytes, 1), 1));
      return memory.get();
    };
    const bool packed = c.what != collective::alltoallw;  // its blocks may reach beyond their extent
    if (both || c.output == nullptr) {
      if ((c.output = room(output, out)) == nullptr) return false;
      if (packed) c.out_displs = {};
    }
    if (both) {
      c.input = c.output;
      if (packed) c.in_displs = {};
    } else if (c.input == nullptr) {
      if ((c.input = room(input, in)) == nullptr) return false;
      if (packed) c.in_displs = {};
    }
    if (c.what == collective::bcast) c.output = const_cast<void*>(c.input);  // one buffer, of either
    return true;
  }
};

void substitute_buffers::take(const call_site& s, call& c, std::size_t given, bool exchanged) {
  kept& own = keep();
  if (!own.fault) own.fault = std::current_exception();
  bool alone = false;
  const auto told = [&](const char* why) {
    if (own.told || is_freed(s.where)) return true;
    if (s.name.how == mode::persistent || !in_checked_mode(s.where)) return false;
    report_refusal(s.where, c, why);
    return true;
  };
  const auto may_serve = [&] {
    try {
      std::rethrow_exception(own.fault);
    } catch (const usage_error& e) {
      return e.parameter() != "communicator" && !told(e.what());
    } catch (const peer_error& e) {
      return own.others_continue && !told(e.what());
    } catch (const error&) {
      return false;                      // an exchange of counts: the others have the error, too
    } catch (const std::exception& e) {  // a container could not be made larger
      alone = true;
      return !told(e.what());
    } catch (...) {
      alone = true;
      return !told("a container of its arguments threw an exception that is not a std::exception");
    }
  };
  if (!may_serve() || !complete(s, c, given, exchanged, alone, own.list) || !own.make_room(s, c))
    std::rethrow_exception(own.fault);
  taken_ = true;
}

substitute_buffers::kept& substitute_buffers::keep() {
  if (kept_ == nullptr) kept_ = new kept;
  return *kept_;
}
void substitute_buffers::blame(std::exception_ptr fault) { keep().fault = std::move(fault); }
void substitute_buffers::others_are_informed() { keep().told = true; }
void substitute_buffers::others_continue() { keep().others_continue = true; }
void substitute_buffers::drop() noexcept {
  delete kept_;
  kept_ = nullptr;
  taken_ = false;
}
void substitute_buffers::rethrow() const { std::rethrow_exception(kept_->fault); }

serving_others::serving_others(communicator_impl& where) noexcept : where_(where) {
  endpoint_of(where_).serve_others(1);
}
serving_others::~serving_others() { endpoint_of(where_).serve_others(-1); }

void serve(communicator_impl& where, const call& c) noexcept {
  const serving_others guard(where);
  try {
    run_call(where, c);
  } catch (...) {
    // The caller is about to throw the error that it keeps.
  }
}

// Only what is sent stays where it is.
void take_rejected(communicator_impl& self, const communicator_state& where, call& c, mode how,
                   substitute_buffers& into) {
  const call_site s{{self, form{c.what, how, false, false}},
                    c.what,
                    where.rank(),
                    where.size(),
                    where.send_block_count(c.what),
                    where.recv_block_count(c.what),
                    where.graph().first_group,
                    0};
  c.output = nullptr;
  into.take(s, c, refused_count, false);
  try {
    validate(where, c);
  } catch (const usage_error&) {
    into.diagnose();  // it is wrong in more than one way
  }
}

}  // namespace tutti::detail
