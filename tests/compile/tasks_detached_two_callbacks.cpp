// expect: detached transfers take one callback, or unlock(tag)
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.isend_detached(
      h, 0, 1, [] {}, unlock(3));
#else
  rt.isend_detached(h, 0, 1, unlock(3));
#endif
}
