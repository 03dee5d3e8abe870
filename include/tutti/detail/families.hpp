// SPDX-License-Identifier: Apache-2.0
//
// The evaluation of arguments for collectives whose blocks have one length. Also the functions that
// all families of collectives share. They determine the length of a block, the lengths that a rank
// receives from other ranks, and which buffers need space. vector_families.hpp has the other
// collectives. The functions are members of frame, which includes this file at its end; they are
// inline as in the class.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/frame.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::bcast(const collective_caller& s) {
  constexpr bool fixed = F.single || argument_shape_of<out_type>() == argument_shape::single;
  const bool at_root = s.rank == call_.root;
  std::size_t n = 1;
  const auto build_root_side = [&] {
    require_buffer(s);
    if (fixed)
      n = 1;
    else if (!length_given(s, n))
      n = in_size();
    if constexpr (F.single)
      require_single(s, in_size(), 1);
    else
      validate_within(s, length_name, n, in_size());
  };
  if constexpr (has_in<send_recv_count> || fixed) {
    if (at_root)
      build_root_side();
    else
      length_given(s, n);
  } else {
    if (at_root)
      validate_or_notify(
          s, [&] { build_root_side(); }, [&] { count_by_bcast(s, call_.root, rejected_count); });
    n = count_by_bcast(s, call_.root, n);
  }
  if (s.takes_no_part(call_.root)) n = 0;
  call_.count = n;
  reserve_output(s, n);
  call_.input = call_.output;
  put_count<send_recv_count>(s, n);
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::reduction(const collective_caller& s) {
  constexpr bool scatters = F.what == collective::reduce_scatter_block;
  const std::size_t blocks = scatters ? static_cast<std::size_t>(s.send_blocks) : 1;
  std::size_t n = 0;
  if constexpr (scatters && has_in<recv_count>) {
    n = count_given<recv_count>(s);
    validate_within(s, recv_count, n * blocks, in_size());
  } else if (length_given(s, n)) {
    validate_within(s, length_name, n * blocks, in_size());
  } else {
    n = scatters ? block_length(s, in_name, in_size()) : in_size();
  }
  require_single(s, n, 1);
  require_exscan_identity(s);
  if constexpr (F.what == collective::exscan && has<values_on_rank_0>) {
    const std::size_t values = size_of(data<values_on_rank_0>());
    if (values != 1 && values != n) reject_values(s, values, n);
  }
  call_.count = n;
  if constexpr (in_place) {
    use_in_place(s, scatters ? in_size() : n);  // elements beyond n are not read
  } else {
    call_.input = in_data();
    if (F.what != collective::reduce || s.rank == call_.root)
      reserve_output(s, n);
    else
      leave_empty();
  }
  // Rank 0 receives nothing, but gets a value in its output.
  if (F.what == collective::exscan && s.rank == 0 && n != 0 && call_.output == nullptr)
    reject_null(s, out_name, n);
  put_count<send_recv_count>(s, n);
  put_count<recv_count>(s, n);
}

// gather, allgather, alltoall: the sender knows the length of a block.
template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::regular(const collective_caller& s) {
  const bool receives = F.what != collective::gather || s.rank == call_.root;
  const auto p = static_cast<std::size_t>(s.recv_blocks);
  const bool many = F.what == collective::alltoall || (in_place && receives);
  std::size_t n = 0;
  if (!length_given(s, n))
    n = many ? block_length(s, in_name, in_size()) : in_size();
  else if (!in_place)
    validate_within(s, length_name, many ? n * p : n, in_size());
  call_.count = n;
  validate_received(s, n, receives);
  if constexpr (in_place) {
    use_in_place(s, many ? n * p : n);
  } else {
    call_.input = in_data();
    if (receives)
      reserve_output(s, n * p);
    else
      leave_empty();
  }
  put_lengths(s, n);
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::scatter(const collective_caller& s) {
  const bool at_root = s.rank == call_.root;
  const auto p = static_cast<std::size_t>(s.send_blocks);
  std::size_t n = 1;
  const auto build_root_side = [&] {
    require_buffer(s);
    require_single(s, in_size(), p);
    if (!length_given(s, n))
      n = block_length(s, in_name, in_size());
    else
      validate_within(s, length_name, n * p, in_size());
    validate_received(s, n, true);
  };
  if constexpr (has_in<recv_count> || has_in<send_recv_count> || F.single) {
    if (at_root)
      build_root_side();
    else if constexpr (has_in<recv_count>)
      n = count_given<recv_count>(s);
    else
      length_given(s, n);
  } else {
    if (at_root)
      validate_or_notify(
          s, [&] { build_root_side(); }, [&] { count_by_bcast(s, call_.root, rejected_count); });
    n = count_by_bcast(s, call_.root, n);
  }
  if (s.takes_no_part(call_.root)) n = 0;
  call_.count = n;
  receive_scattered(s, n);
  put_lengths(s, n);
}

template <collective_form F, class T, class... Args>
inline counts_view collective_frame<F, T, Args...>::even_counts(int n, std::size_t length) {
  std::size_t* all = inferred_.make(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[i] = length;
  return inferred_.view();
}

// neighbor_alltoall: all blocks have one length, which a rank without destinations must be given.
template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::even_alltoall(const collective_caller& s) {
  std::size_t n = 0;
  if (!length_given(s, n)) {
    n = block_length(s, in_name, in_size());
    if (s.send_blocks == 0 && s.recv_blocks != 0) {
      if constexpr (has_in<recv_count>)
        n = count_given<recv_count>(s);
      else
        reject_call(s, recv_count, "is missing on a rank that sends to no rank",
                    "pass the number of elements from each rank");
    }
  } else {
    validate_within(s, length_name, n * static_cast<std::size_t>(s.send_blocks), in_size());
  }
  validate_received(s, n, true);
  const counts_view all = even_counts(s.send_blocks > s.recv_blocks ? s.send_blocks : s.recv_blocks, n);
  call_.in_counts = all.first(static_cast<std::size_t>(s.send_blocks));
  call_.out_counts = all.first(static_cast<std::size_t>(s.recv_blocks));
  call_.input = in_data();
  reserve_output(s, n * static_cast<std::size_t>(s.recv_blocks));
  put_lengths(s, n);
}

// --- shared by the families

// If the validation on this rank fails, it reports this to the other ranks in the exchange that
// they wait in.
template <collective_form F, class T, class... Args>
template <class Validate, class Report>
inline void collective_frame<F, T, Args...>::validate_or_notify(const collective_caller& s,
                                                                Validate&& validate, Report&& report) {
  try {
    validate();
  } catch (...) {
    substitute_.set_peers_informed();
    try {
      const serving_peers guard(s.where);
      report();
    } catch (...) {
      // The others may have failed because of this rank's own error, which is thrown here.
    }
    throw;
  }
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::validate_received(const collective_caller& s, std::size_t n,
                                                               bool receives) {
  if constexpr (has_in<recv_count>) {
    if (receives && count_given<recv_count>(s) != n) reject_recv_count(s, data<recv_count>(), n);
  } else {
    (void)s, (void)n, (void)receives;
  }
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::put_lengths(const collective_caller& s, std::size_t n) {
  put_count<send_count>(s, n);
  put_count<recv_count>(s, n);
  put_count<send_recv_count>(s, n);
}

// Except at the root nothing is received. What the result owns is empty, and what the caller owns
// is not touched.
template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::leave_empty() {
  if constexpr (explicit_out && owns<out_name> && out_policy() == resize_policy::resize_to_fit)
    out().resize(0);
}

template <collective_form F, class T, class... Args>
inline void collective_frame<F, T, Args...>::receive_scattered(const collective_caller& s, std::size_t n) {
  if (s.rank != call_.root) {
    if (s.takes_no_part(call_.root)) return leave_empty();
    reserve_output(s, n);
    if constexpr (in_place) call_.in_place = true, call_.input = call_.output;
    return;
  }
  call_.input = in_data();
  if constexpr (in_place)
    call_.in_place = true, call_.output = const_cast<void*>(call_.input);
  else if (s.first_group != 0)
    leave_empty();
  else
    reserve_output(s, n);
}

}  // namespace tutti::detail
TUTTI_API_END
