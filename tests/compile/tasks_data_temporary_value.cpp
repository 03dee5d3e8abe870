// expect: data: a temporary: it would be destroyed at once
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt) { return rt.data(3, 0); }
#else
auto f(tutti::tasks::runtime& rt) {
  static int x = 3;
  return rt.data(x, 0);
}
#endif
