// SPDX-License-Identifier: Apache-2.0
//
// Converts a public handle to the library's data_handle and back. Only the library uses it; the
// public class has no such members.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/tasks_abi.hpp"

TUTTI_API_BEGIN
namespace tutti::tasks {

template <class T>
class handle;

/// A friend of handle.
struct handle_access {
  template <class T>
  static data_handle* data_of(const handle<T>& h) noexcept {
    return h.what_;
  }
  template <class T>
  static handle<T> make(data_handle* what) noexcept {
    return handle<T>(what);
  }
};

}  // namespace tutti::tasks
TUTTI_API_END
