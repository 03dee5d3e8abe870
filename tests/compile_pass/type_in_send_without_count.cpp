// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
  comm.send(send_buf(v), send_type(item), send_count(1), destination(0));
}
