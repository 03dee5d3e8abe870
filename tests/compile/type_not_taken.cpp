// expect: send_type: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allreduce_single(send_buf(1), send_type(item), op(std::plus<>{}));
#else
  comm.allreduce(send_buf(1), send_type(item), send_count(1), op(std::plus<>{}));
#endif
}
