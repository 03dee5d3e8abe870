// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm) {
  using namespace tutti;
  (void)comm.recv<char>(source(0));
}
