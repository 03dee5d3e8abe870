// SPDX-License-Identifier: Apache-2.0
//
// What judges functions beside the collectives that take a buffer and an operator: what they take, and what
// is wrong with a call of theirs.
#pragma once

#include "tutti/face/check.hpp"

namespace tutti::detail {

/// Of a call that takes send_buf and op, and root where it is rooted, on elements of type T.
template <bool Rooted, class T, class... Args>
consteval verdict judged_combination() {
  rules r;
  r.buffer = parameter::send_buf;
  r.in = {parameter::send_buf, parameter::op};
  if (Rooted) r.in.add(parameter::root);
  r.required.add(parameter::op);
  if constexpr (sizeof...(Args) == 0) {
    return judge(r, false, nullptr, 0);
  } else {
    constexpr seen_argument seen[] = {seen_in<T, Args>...};
    return judge(r, false, seen, sizeof...(Args));
  }
}

}  // namespace tutti::detail
