// expect: send_type: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
  comm.allreduce_single(send_buf(1), send_type(item), op(std::plus<>{}));
}
