// SPDX-License-Identifier: Apache-2.0
//
// Vector forms whose caller gives all counts: what is laid down before anything is checked, so that the
// library can see whether the call is like the last one. Members of frame, which includes this file at its
// end.
#pragma once

#include "tutti/face/frame.hpp"

namespace tutti::detail {

template <form F, class T, class... Args>
constexpr bool frame<F, T, Args...>::all_given() {
  constexpr bool asks = has_out<recv_counts> || has_out<recv_displs> || has_out<send_counts> ||
                        has_out<send_displs> || has_out<send_count> || has_out<recv_count>;
  if (F.how != mode::blocking || F.even || in_place || asks || !explicit_out || has<algorithm> ||
      has<composition>)
    return false;
  switch (F.what) {
    case collective::gatherv:
    case collective::allgatherv:
    case collective::neighbor_allgatherv:
      return has_in<recv_counts>;
    case collective::scatterv:
      return has_in<recv_count>;
    case collective::alltoallv:
    case collective::neighbor_alltoallv:
      return has_in<recv_counts> && has_in<send_counts>;
    default:
      return false;
  }
}

// A negative count becomes one that no buffer has, and is refused by the long way.
template <form F, class T, class... Args>
inline void frame<F, T, Args...>::lay_given(const call_site& s) {
  call_.what = F.what;
  call_.type = element_of<T>();
  if constexpr (has<root>)
    call_.root = data<root>();
  else if constexpr (is_rooted(F.what))
    call_.root = s.default_root;
  constexpr bool scatters = F.what == collective::scatterv;
  constexpr bool exchanges = F.what == collective::alltoallv || F.what == collective::neighbor_alltoallv;
  const bool at_root = s.rank == call_.root;
  if constexpr (scatters)
    length_ = static_cast<std::size_t>(data<recv_count>());
  else if constexpr (has_in<send_count>)
    length_ = static_cast<std::size_t>(data<send_count>());
  else
    length_ = in_size();
  if constexpr (!exchanges) call_.count = length_;
  if constexpr (exchanges)
    call_.in_counts = view_of<send_counts>(), call_.in_displs = view_of<send_displs>();
  else if constexpr (!scatters)
    call_.in_counts = {&length_, 1};
  else if (at_root)
    call_.in_counts = view_of<send_counts>(), call_.in_displs = view_of<send_displs>();
  if (!scatters || at_root) call_.input = in_data();
  if constexpr (scatters)
    call_.out_counts = {&length_, 1};
  else if (F.what != collective::gatherv || at_root)
    call_.out_counts = view_of<recv_counts>(), call_.out_displs = view_of<recv_displs>();
  if (F.what != collective::gatherv || at_root) call_.output = data_of(out());
}

}  // namespace tutti::detail
