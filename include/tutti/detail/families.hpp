// SPDX-License-Identifier: Apache-2.0
//
// The evaluation of arguments for each family of collectives: the lengths of blocks, what a rank
// infers from which ranks, and which buffers need space. The functions are members of frame, which
// includes this file at its end; they are inline as in the class.
//
// Longer than a file should be: one function for each family.
#pragma once

#include <exception>
#include <optional>

#include "tutti/detail/export.hpp"
#include "tutti/error.hpp"
#include "tutti/detail/frame.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::bcast(const call_site& s) {
  constexpr bool fixed = F.single || argument_shape_of<out_type>() == argument_shape::single;
  const bool at_root = s.rank == call_.root;
  std::size_t n = 1;
  const auto at_the_root = [&] {
    require_buffer(s);
    if (fixed)
      n = 1;
    else if (!length_given(s, n))
      n = in_size();
    if constexpr (F.single)
      require_single(s, in_size(), 1);
    else
      check_within(s, length_name, n, in_size());
  };
  if constexpr (has_in<send_recv_count> || fixed) {
    if (at_root)
      at_the_root();
    else
      length_given(s, n);
  } else {
    if (at_root) agree(s, [&] { at_the_root(); }, [&] { count_by_bcast(s, call_.root, refused_count); });
    n = count_by_bcast(s, call_.root, n);
  }
  if (s.beside(call_.root)) n = 0;
  call_.count = n;
  make_room(s, n);
  call_.input = call_.output;
  put_count<send_recv_count>(s, n);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::reduction(const call_site& s) {
  constexpr bool scatters = F.what == collective::reduce_scatter_block;
  const std::size_t blocks = scatters ? static_cast<std::size_t>(s.gives) : 1;
  std::size_t n = 0;
  if constexpr (scatters && has_in<recv_count>) {
    n = count_given<recv_count>(s);
    check_within(s, recv_count, n * blocks, in_size());
  } else if (length_given(s, n)) {
    check_within(s, length_name, n * blocks, in_size());
  } else {
    n = scatters ? divided(s, in_name, in_size()) : in_size();
  }
  require_single(s, n, 1);
  require_identity(s);
  if constexpr (F.what == collective::exscan && has<values_on_rank_0>) {
    const std::size_t values = size_of(data<values_on_rank_0>());
    if (values != 1 && values != n) refuse_values(s, values, n);
  }
  call_.count = n;
  if constexpr (in_place) {
    use_in_place(s, scatters ? in_size() : n);  // elements beyond n are not read
  } else {
    call_.input = in_data();
    if (F.what != collective::reduce || s.rank == call_.root)
      make_room(s, n);
    else
      leave_empty();
  }
  // Rank 0 receives nothing, but gets a value in its output.
  if (F.what == collective::exscan && s.rank == 0 && n != 0 && call_.output == nullptr)
    refuse_null(s, out_name, n);
  put_count<send_recv_count>(s, n);
  put_count<recv_count>(s, n);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::reduce_scatter(const call_site& s) {
  const counts_view counts = view_of<recv_counts>();
  call_.in_counts = call_.out_counts = counts;
  const std::size_t all = extent_of(s, recv_counts, counts, recv_displs, {}, false);
  check_within(s, recv_counts, all, in_size());
  call_.count = counts[static_cast<std::size_t>(s.first_group == 0 ? s.rank : s.local_rank())];
  if constexpr (in_place) {
    use_in_place(s, in_size());
  } else {
    call_.input = in_data();
    make_room(s, call_.count);
  }
}

// gather, allgather, alltoall: the sender knows the length of a block.
template <form F, class T, class... Args>
inline void frame<F, T, Args...>::regular(const call_site& s) {
  const bool receives = F.what != collective::gather || s.rank == call_.root;
  const auto p = static_cast<std::size_t>(s.takes);
  const bool many = F.what == collective::alltoall || (in_place && receives);
  std::size_t n = 0;
  if (!length_given(s, n))
    n = many ? divided(s, in_name, in_size()) : in_size();
  else if (!in_place)
    check_within(s, length_name, many ? n * p : n, in_size());
  call_.count = n;
  check_received(s, n, receives);
  if constexpr (in_place) {
    use_in_place(s, many ? n * p : n);
  } else {
    call_.input = in_data();
    if (receives)
      make_room(s, n * p);
    else
      leave_empty();
  }
  put_lengths(s, n);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::scatter(const call_site& s) {
  const bool at_root = s.rank == call_.root;
  const auto p = static_cast<std::size_t>(s.gives);
  std::size_t n = 1;
  const auto at_the_root = [&] {
    require_buffer(s);
    require_single(s, in_size(), p);
    if (!length_given(s, n))
      n = divided(s, in_name, in_size());
    else
      check_within(s, length_name, n * p, in_size());
    check_received(s, n, true);
  };
  if constexpr (has_in<recv_count> || has_in<send_recv_count> || F.single) {
    if (at_root)
      at_the_root();
    else if constexpr (has_in<recv_count>)
      n = count_given<recv_count>(s);
    else
      length_given(s, n);
  } else {
    if (at_root) agree(s, [&] { at_the_root(); }, [&] { count_by_bcast(s, call_.root, refused_count); });
    n = count_by_bcast(s, call_.root, n);
  }
  if (s.beside(call_.root)) n = 0;
  call_.count = n;
  receive_scattered(s, n);
  put_lengths(s, n);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::gatherv(const call_site& s) {
  constexpr bool everywhere = F.what == collective::allgatherv || F.what == collective::neighbor_allgatherv;
  const bool receives = everywhere || s.rank == call_.root;
  const auto me = static_cast<std::size_t>(s.rank);
  counts_view counts = view_of<recv_counts>();
  const auto send_length = [&] {
    if (!length_given(s, length_))
      length_ = in_size();
    else
      check_within(s, length_name, length_, in_size());
  };
  if constexpr (F.even) {
    send_length();
    if (has_in<recv_count>) check_received(s, length_, true);
    counts = even_counts(s.takes, length_);
    put_lengths(s, length_);
  } else if constexpr (has_in<recv_counts>) {
    if (receives) call_.out_counts = counts;
    if constexpr (in_place)
      length_ = receives && me < counts.size() ? counts[me] : in_size();
    else
      send_length();
  } else {
    std::size_t* all = receives ? inferred_.make(static_cast<std::size_t>(s.takes)) : nullptr;
    if constexpr (everywhere) {
      agree(s, send_length, [&] { counts_by_allgather(s, refused_count, all); });
      counts_by_allgather(s, length_, all);
    } else {
      agree_with_root(s, call_.out_counts, all, send_length);
    }
    counts = inferred_.view();
  }
  call_.input = in_data();
  call_.count = length_;
  call_.in_counts = {&length_, 1};
  if (receives)
    receive_blocks(s, counts);
  else if constexpr (in_place)
    call_.in_place = true, call_.output = const_cast<void*>(call_.input);
  else
    leave_empty();
  if constexpr (!F.even) put_count<send_count>(s, length_);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::scatterv(const call_site& s) {
  const bool at_root = s.rank == call_.root;
  const auto at_the_root = [&] {
    require_buffer(s);
    if (!has<send_counts>)
      refuse_call(s, send_counts, "is missing at the root", "pass the count of each rank at the root");
    send_blocks(s, has_out<send_counts> ? inferred_.view() : view_of<send_counts>());
  };
  if constexpr (has_out<send_counts>) {
    std::size_t* all = at_root ? inferred_.make(static_cast<std::size_t>(s.gives)) : nullptr;
    agree_with_root(s, call_.in_counts, all, [&] { length_ = count_given<recv_count>(s); });
    if (at_root) at_the_root();
  } else if constexpr (has_in<recv_count>) {
    if (at_root) at_the_root();
    length_ = count_given<recv_count>(s);
  } else {
    if (at_root) agree(s, [&] { at_the_root(); }, [&] { count_by_scatter(s, call_.root, {}, true); });
    length_ = count_by_scatter(s, call_.root, call_.in_counts, false);
  }
  call_.count = length_;
  call_.out_counts = {&length_, 1};
  receive_scattered(s, length_);
  put_count<recv_count>(s, length_);
  if (at_root) put_counts_and_displs<send_counts, send_displs>(s, call_.in_counts);
}

template <form F, class T, class... Args>
inline counts_view frame<F, T, Args...>::even_counts(int n, std::size_t length) {
  std::size_t* all = inferred_.make(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[i] = length;
  return inferred_.view();
}

// neighbor_alltoall: all blocks have one length, which a rank without destinations must be given.
template <form F, class T, class... Args>
inline void frame<F, T, Args...>::even_alltoall(const call_site& s) {
  std::size_t n = 0;
  if (!length_given(s, n)) {
    n = divided(s, in_name, in_size());
    if (s.gives == 0 && s.takes != 0) {
      if constexpr (has_in<recv_count>)
        n = count_given<recv_count>(s);
      else
        refuse_call(s, recv_count, "is missing on a rank that sends to no rank",
                    "pass the number of elements from each rank");
    }
  } else {
    check_within(s, length_name, n * static_cast<std::size_t>(s.gives), in_size());
  }
  check_received(s, n, true);
  const counts_view all = even_counts(s.gives > s.takes ? s.gives : s.takes, n);
  call_.in_counts = all.first(static_cast<std::size_t>(s.gives));
  call_.out_counts = all.first(static_cast<std::size_t>(s.takes));
  call_.input = in_data();
  make_room(s, n * static_cast<std::size_t>(s.takes));
  put_lengths(s, n);
}

// Each block has its own layout: counts are of layouts; displacements and sizes are in bytes.
template <form F, class T, class... Args>
inline void frame<F, T, Args...>::alltoallw(const call_site& s) {
  call_.type = element_of<std::byte>();
  if constexpr (!in_place) {
    const std::span<const layout> types = data<send_types>();
    call_.in_counts = view_of<send_counts>();
    call_.in_displs = view_of<send_displs>();
    call_.in_types = types.data();
    check_within(s, send_counts,
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
    check_within(s, recv_counts, elements, in_size());
    use_in_place(s, in_size());
  } else {
    make_room(s, elements);
  }
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::alltoallv(const call_site& s) {
  if constexpr (in_place) {
    call_.in_counts = view_of<recv_counts>();
    call_.in_displs = view_of<recv_displs>();
    receive_blocks(s, call_.in_counts);
  } else {
    counts_view counts = view_of<recv_counts>();
    if constexpr (has_out<send_counts>) {  // known to a receiver that asks
      std::size_t* wanted = inferred_.make(static_cast<std::size_t>(s.gives));
      const counts_view displs = view_of<recv_displs>();
      const auto tell = [&] { counts_by_alltoall(s, nullptr, wanted); };
      agree(s, [&] { extent_of(s, recv_counts, counts, recv_displs, displs, has_in<recv_displs>); }, tell);
      counts_by_alltoall(s, &counts, wanted);
      send_blocks(s, inferred_.view());
    } else if constexpr (has_in<recv_counts>) {
      send_blocks(s, view_of<send_counts>());
    } else {
      std::size_t* received = inferred_.make(static_cast<std::size_t>(s.takes));
      const auto tell = [&] { counts_by_alltoall(s, nullptr, received); };
      agree(s, [&] { send_blocks(s, view_of<send_counts>()); }, tell);
      counts_by_alltoall(s, &call_.in_counts, received);
      counts = inferred_.view();
    }
    call_.input = in_data();
    receive_blocks(s, counts);
    put_counts_and_displs<send_counts, send_displs>(s, call_.in_counts);
  }
}

// --- shared by the families ---

// If the check of this rank fails, it reports this to the other ranks in the exchange that they
// wait in.
template <form F, class T, class... Args>
template <class Check, class Tell>
inline void frame<F, T, Args...>::agree(const call_site& s, Check&& check, Tell&& tell) {
  try {
    check();
  } catch (...) {
    substitute_.others_are_informed();
    try {
      const serving_others guard(s.where);
      tell();
    } catch (...) {
      // The others may have failed because of this rank's own error, which is thrown here.
    }
    throw;
  }
}

// Only the root learns of an error. The other ranks continue, so the failing rank and the root take
// part in the call before they throw. The failing rank sends nothing, and the root's list records
// this. `all` is memory for the counts, at the root.
template <form F, class T, class... Args>
template <class Check>
inline void frame<F, T, Args...>::agree_with_root(const call_site& s, counts_view& list, std::size_t* all,
                                                  Check&& check) {
  std::exception_ptr fault;
  try {
    check();
  } catch (...) {
    fault = std::current_exception();
    sends_nothing_ = true;
  }
  try {
    std::optional<serving_others> guard;
    if (fault) guard.emplace(s.where);
    counts_by_gather(s, call_.root, fault ? refused_count : length_, all);
  } catch (const peer_error&) {
    substitute_.others_continue();
    if (!fault) fault = std::current_exception();
  }
  if (!fault) return;
  if (s.rank == call_.root) list = inferred_.view();
  std::rethrow_exception(fault);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::check_received(const call_site& s, std::size_t n, bool receives) {
  if constexpr (has_in<recv_count>) {
    if (receives && count_given<recv_count>(s) != n) refuse_received(s, data<recv_count>(), n);
  } else {
    (void)s, (void)n, (void)receives;
  }
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::put_lengths(const call_site& s, std::size_t n) {
  put_count<send_count>(s, n);
  put_count<recv_count>(s, n);
  put_count<send_recv_count>(s, n);
}

// Except at the root nothing is received. What the result owns is empty, and what the caller owns
// is not touched.
template <form F, class T, class... Args>
inline void frame<F, T, Args...>::leave_empty() {
  if constexpr (explicit_out && owns<out_name> && out_policy() == resize_policy::resize_to_fit)
    out().resize(0);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::receive_scattered(const call_site& s, std::size_t n) {
  if (s.rank != call_.root) {
    if (s.beside(call_.root)) return leave_empty();
    make_room(s, n);
    if constexpr (in_place) call_.in_place = true, call_.input = call_.output;
    return;
  }
  call_.input = in_data();
  if constexpr (in_place)
    call_.in_place = true, call_.output = const_cast<void*>(call_.input);
  else if (s.first_group != 0)
    leave_empty();
  else
    make_room(s, n);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::send_blocks(const call_site& s, const counts_view& counts) {
  const std::size_t holds = in_size();
  call_.in_counts = counts;
  call_.in_displs = view_of<send_displs>();
  const std::size_t end =
      extent_of(s, send_counts, call_.in_counts, send_displs, call_.in_displs, has_in<send_displs>);
  check_blocks_within(s, send_counts, call_.in_counts, send_displs, end, holds);
}

template <form F, class T, class... Args>
inline void frame<F, T, Args...>::receive_blocks(const call_site& s, const counts_view& counts) {
  call_.out_counts = counts;
  call_.out_displs = view_of<recv_displs>();
  const std::size_t end =
      extent_of(s, recv_counts, counts, recv_displs, call_.out_displs, has_in<recv_displs>);
  lists_right_ = !in_place;
  if constexpr (in_place)
    use_in_place(s, end);
  else
    make_room(s, end);
  put_counts_and_displs<recv_counts, recv_displs>(s, counts);
}

}  // namespace tutti::detail
TUTTI_API_END
