// expect: a parameter of the kernel does not accept what read(h) passes
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](std::span<const int>) {}, read(h));
#else
  rt.insert([](int) {}, read(h));
#endif
}
