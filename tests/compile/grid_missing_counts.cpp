// expect: send_counts: missing
// SPDX-License-Identifier: Apache-2.0
#include <tutti/grid.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
#ifndef CORRECTED
  auto received = grid_communicator(comm).alltoallv(send_buf({1, 2}));
#else
  auto received = grid_communicator(comm).alltoallv(send_buf({1, 2}), send_counts({1, 1}));
#endif
}
