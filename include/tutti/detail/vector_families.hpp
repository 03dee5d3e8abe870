// SPDX-License-Identifier: Apache-2.0
//
// The evaluation of arguments for collectives whose blocks have a length for each rank: vector
// forms and reduce_scatter. families.hpp has the other collectives. The functions are members of
// collective_frame, which includes this file at its end; they are inline as in the class.
//
// A rank that rejects its arguments takes part in the exchange of counts all the same, so that the
// others need not wait for it. substitute_buffers.hpp describes how.
#pragma once

#include <exception>
#include <optional>
#include <span>

#include "tutti/detail/export.hpp"
#include "tutti/detail/frame.hpp"
#include "tutti/error.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::reduce_scatter(const collective_caller& s) {
  const counts_view counts = view_of<recv_counts>();
  call_.in_counts = call_.out_counts = counts;
  const std::size_t all = extent_of(s, recv_counts, counts, recv_displs, {}, false);
  validate_within(s, recv_counts, all, in_size());
  call_.count = counts[static_cast<std::size_t>(s.first_group == 0 ? s.rank : s.local_rank())];
  if constexpr (in_place) {
    use_in_place(s, in_size());
  } else {
    call_.input = in_data();
    reserve_output(s, call_.count);
  }
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::gatherv(const collective_caller& s) {
  constexpr bool everywhere = F.what == collective::allgatherv || F.what == collective::neighbor_allgatherv;
  const bool receives = everywhere || s.rank == call_.root;
  const auto me = static_cast<std::size_t>(s.rank);
  counts_view counts = view_of<recv_counts>();
  const auto send_length = [&] {
    if (!length_given(s, length_))
      length_ = in_size();
    else
      validate_within(s, length_name, length_, in_size());
  };
  if constexpr (F.equal_blocks) {
    send_length();
    if (has_in<recv_count>) validate_received(s, length_, true);
    counts = even_counts(s.recv_blocks, length_);
    put_lengths(s, length_);
  } else if constexpr (has_in<recv_counts>) {
    if (receives) call_.out_counts = counts;
    if constexpr (in_place)
      length_ = receives && me < counts.size() ? counts[me] : in_size();
    else
      send_length();
  } else {
    std::size_t* all = receives ? inferred_.make(static_cast<std::size_t>(s.recv_blocks)) : nullptr;
    if constexpr (everywhere) {
      validate_or_notify(s, send_length, [&] { counts_by_allgather(s, rejected_count, all); });
      counts_by_allgather(s, length_, all);
    } else {
      gather_counts_at_root(s, call_.out_counts, all, send_length);
    }
    counts = inferred_.view();
  }
  call_.input = in_data();
  call_.count = length_;
  call_.in_counts = {&length_, 1};
  if (receives)
    set_receive_blocks(s, counts);
  else if constexpr (in_place)
    call_.in_place = true, call_.output = const_cast<void*>(call_.input);
  else
    leave_empty();
  if constexpr (!F.equal_blocks) put_count<send_count>(s, length_);
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::scatterv(const collective_caller& s) {
  const bool at_root = s.rank == call_.root;
  const auto build_root_side = [&] {
    require_buffer(s);
    if (!has<send_counts>)
      reject_call(s, send_counts, "is missing at the root", "pass the count of each rank at the root");
    set_send_counts(s, has_out<send_counts> ? inferred_.view() : view_of<send_counts>());
  };
  if constexpr (has_out<send_counts>) {
    std::size_t* all = at_root ? inferred_.make(static_cast<std::size_t>(s.send_blocks)) : nullptr;
    gather_counts_at_root(s, call_.in_counts, all, [&] { length_ = count_given<recv_count>(s); });
    if (at_root) build_root_side();
  } else if constexpr (has_in<recv_count>) {
    if (at_root) build_root_side();
    length_ = count_given<recv_count>(s);
  } else {
    if (at_root)
      validate_or_notify(
          s, [&] { build_root_side(); }, [&] { count_by_scatter(s, call_.root, {}, true); });
    length_ = count_by_scatter(s, call_.root, call_.in_counts, false);
  }
  call_.count = length_;
  call_.out_counts = {&length_, 1};
  receive_scattered(s, length_);
  put_count<recv_count>(s, length_);
  if (at_root) put_counts_and_displs<send_counts, send_displs>(s, call_.in_counts);
}

// Each block has its own layout: counts are of layouts; displacements and sizes are in bytes.
template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::alltoallw(const collective_caller& s) {
  call_.type = element_of<std::byte>();
  if constexpr (!in_place) {
    const std::span<const layout> types = data<send_types>();
    call_.in_counts = view_of<send_counts>();
    call_.in_displs = view_of<send_displs>();
    call_.in_types = types.data();
    validate_within(s, send_counts,
                    extent_of_types(s, send_counts, call_.in_counts, send_displs, call_.in_displs,
                                    has_in<send_displs>, send_types, types),
                    in_size() * sizeof(T));
    call_.input = in_data();
  }
  const std::span<const layout> types = data<recv_types>();
  call_.out_counts = view_of<recv_counts>();
  call_.out_displs = view_of<recv_displs>();
  call_.out_types = types.data();
  const std::size_t end = extent_of_types(s, recv_counts, call_.out_counts, recv_displs, call_.out_displs,
                                          has_in<recv_displs>, recv_types, types);
  const std::size_t elements = (end + sizeof(T) - 1) / sizeof(T);
  if constexpr (in_place) {
    validate_within(s, recv_counts, elements, in_size());
    use_in_place(s, in_size());
  } else {
    reserve_output(s, elements);
  }
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::alltoallv(const collective_caller& s) {
  if constexpr (in_place) {
    call_.in_counts = view_of<recv_counts>();
    call_.in_displs = view_of<recv_displs>();
    set_receive_blocks(s, call_.in_counts);
  } else {
    counts_view counts = view_of<recv_counts>();
    if constexpr (has_out<send_counts>) {  // known to a receiver that asks
      std::size_t* requested = inferred_.make(static_cast<std::size_t>(s.send_blocks));
      const counts_view displs = view_of<recv_displs>();
      const auto report = [&] { counts_by_alltoall(s, nullptr, requested); };
      validate_or_notify(
          s, [&] { extent_of(s, recv_counts, counts, recv_displs, displs, has_in<recv_displs>); }, report);
      counts_by_alltoall(s, &counts, requested);
      set_send_counts(s, inferred_.view());
    } else if constexpr (has_in<recv_counts>) {
      set_send_counts(s, view_of<send_counts>());
    } else {
      std::size_t* received = inferred_.make(static_cast<std::size_t>(s.recv_blocks));
      const auto report = [&] { counts_by_alltoall(s, nullptr, received); };
      validate_or_notify(
          s, [&] { set_send_counts(s, view_of<send_counts>()); }, report);
      counts_by_alltoall(s, &call_.in_counts, received);
      counts = inferred_.view();
    }
    call_.input = in_data();
    set_receive_blocks(s, counts);
    put_counts_and_displs<send_counts, send_displs>(s, call_.in_counts);
  }
}

// Only the root learns of an error. The other ranks continue, so the failing rank and the root take
// part in the call before they throw. The failing rank sends nothing, and the root's list records
// this. `all` is memory for the counts, at the root.
template <collective_form F, class T, class... Args>
template <class Validate>
inline void collective_frame<F, T, Args...>::gather_counts_at_root(const collective_caller& s,
                                                                   counts_view& list, std::size_t* all,
                                                                   Validate&& validate) {
  std::exception_ptr fault;
  try {
    validate();
  } catch (...) {
    fault = std::current_exception();
    sends_nothing_ = true;
  }
  try {
    std::optional<serving_peers> guard;
    if (fault) guard.emplace(s.where);
    counts_by_gather(s, call_.root, fault ? rejected_count : length_, all);
  } catch (const peer_error&) {
    substitute_.set_peers_continue();
    if (!fault) fault = std::current_exception();
  }
  if (!fault) return;
  if (s.rank == call_.root) list = inferred_.view();
  std::rethrow_exception(fault);
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::set_send_counts(const collective_caller& s,
                                                             const counts_view& counts) {
  const std::size_t holds = in_size();
  call_.in_counts = counts;
  call_.in_displs = view_of<send_displs>();
  const std::size_t end =
      extent_of(s, send_counts, call_.in_counts, send_displs, call_.in_displs, has_in<send_displs>);
  validate_blocks_within(s, send_counts, call_.in_counts, send_displs, end, holds);
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::set_receive_blocks(const collective_caller& s,
                                                                const counts_view& counts) {
  call_.out_counts = counts;
  call_.out_displs = view_of<recv_displs>();
  const std::size_t end =
      extent_of(s, recv_counts, counts, recv_displs, call_.out_displs, has_in<recv_displs>);
  lists_valid_ = !in_place;
  if constexpr (in_place)
    use_in_place(s, end);
  else
    reserve_output(s, end);
  put_counts_and_displs<recv_counts, recv_displs>(s, counts);
}

}  // namespace tutti::detail
TUTTI_API_END
