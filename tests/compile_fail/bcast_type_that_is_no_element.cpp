// expect: send_recv_buf: call<T>(...) of a T that is no element
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm) {
  using namespace tutti;
  (void)comm.bcast_single<std::vector<bool>>(root(1));
}
