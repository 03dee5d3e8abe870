// expect: is private within this context
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

bool f(const tutti::tasks::handle<int>& h, tutti::tasks::data_handle* object) {
#ifndef CORRECTED
  return h == tutti::tasks::handle<int>(object);
#else
  (void)object;
  return static_cast<bool>(h);
#endif
}
