// expect: data: pass an owner and with_tag(t)
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) {
  static int x = 3;
#ifndef CORRECTED
  return rt.data(x, 0, 7);
#else
  return rt.data(x, 0, tutti::tasks::with_tag(7));
#endif
}
