// expect: send_buf: this call takes it as input only
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/reproducible.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  reproducible(comm, v.size()).reduce(send_buf_out(std::move(v)), op(std::plus<>{}));
#else
  reproducible(comm, v.size()).reduce(send_buf(v), op(std::plus<>{}));
#endif
}
