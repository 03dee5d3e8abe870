// expect: send_recv_buf: call<T>(...) needs a T that is an element
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
#ifndef CORRECTED
  (void)comm.bcast_single<std::vector<bool>>(root(1));
#else
  (void)comm.bcast_single<bool>(root(1));
#endif
}
