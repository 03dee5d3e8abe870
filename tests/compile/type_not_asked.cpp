// expect: send_type: was not requested
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
  auto r = comm.allgather(send_buf(v), recv_type_out());
#ifndef CORRECTED
  r.extract_send_type();
#else
  r.extract_recv_type();
#endif
}
