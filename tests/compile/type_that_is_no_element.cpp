// expect: recv_buf: call<T>(...) needs a T that is an element
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
#ifndef CORRECTED
  (void)comm.recv<std::string>(source(0));
#else
  (void)comm.recv<char>(source(0));
#endif
}
