// SPDX-License-Identifier: Apache-2.0
//
// The argument validation of functions outside the collectives that take a buffer and an operator.
#pragma once

#include "tutti/detail/collective_rules.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// For a call that takes send_buf and op, and root if it is rooted, on elements of type T.
template <bool Rooted, class T, class... Args>
consteval argument_error error_of_combination() {
  rules r;
  r.buffer = parameter::send_buf;
  r.in = {parameter::send_buf, parameter::op};
  if (Rooted) r.in.add(parameter::root);
  r.required.add(parameter::op);
  if constexpr (sizeof...(Args) == 0) {
    return find_error(r, false, nullptr, 0);
  } else {
    constexpr argument_properties properties[] = {properties_in<T, Args>...};
    return find_error(r, false, properties, sizeof...(Args));
  }
}

}  // namespace tutti::detail
TUTTI_API_END
