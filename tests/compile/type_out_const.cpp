// expect: send_type: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v), send_type_out(item));
#else
  tutti::layout used;
  comm.allgather(send_buf(v), send_type_out(used));
#endif
}
