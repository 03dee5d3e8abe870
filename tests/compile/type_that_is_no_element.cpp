// expect: recv_buf: call<T>(...) of a T that is no element
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
