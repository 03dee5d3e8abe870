// expect: values_on_rank_0: a pointer, not a buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p) {
  using namespace tutti;
#ifndef CORRECTED
  (void)comm.exscan(send_buf(v), op(std::plus<>{}), values_on_rank_0(p));
#else
  (void)comm.exscan(send_buf(v), op(std::plus<>{}), values_on_rank_0(*p));
#endif
}
