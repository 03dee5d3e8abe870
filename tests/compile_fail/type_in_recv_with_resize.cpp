// expect: recv_buf: with a layout it must be a no_resize container
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
  comm.recv(recv_buf<resize_to_fit>(v), recv_type(item));
}
