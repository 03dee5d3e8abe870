// expect: send_counts: missing
// SPDX-License-Identifier: Apache-2.0
#include <tutti/grid.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
  auto received = grid_communicator(comm).alltoallv(send_buf({1, 2}));
}
