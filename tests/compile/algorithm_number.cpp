// expect: algorithm: takes one name
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allreduce(send_buf(v), op(std::plus<>{}), algorithm(1));
#else
  comm.allreduce(send_buf(v), op(std::plus<>{}), algorithm("ring"));
#endif
}
