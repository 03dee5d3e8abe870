// expect: values_on_rank_0: its elements are not of the type that is sent
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto sum = comm.exscan(send_buf(v), op(std::plus<>{}), values_on_rank_0(0.5));
}
