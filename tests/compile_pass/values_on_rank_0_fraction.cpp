// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<float>& v) {
  using namespace tutti;
  [[maybe_unused]] auto sum = comm.exscan(send_buf(v), op(std::plus<>{}), values_on_rank_0(0.5));
}
