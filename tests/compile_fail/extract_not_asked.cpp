// expect: recv_counts: was not asked for
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto r = comm.allgatherv(send_buf(v), recv_displs_out());
  auto counts = r.extract_recv_counts();
}
