// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm) {
  using namespace tutti;
  (void)comm.bcast_single<bool>(root(1));
}
