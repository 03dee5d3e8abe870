// expect: send_types: takes one container of layouts
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const std::vector<tutti::layout>& types) {
  using namespace tutti;
#ifndef CORRECTED
  comm.alltoallw(send_buf(v), send_counts(v), send_types(type_of<int>()), recv_counts(v), recv_types(types));
#else
  comm.alltoallw(send_buf(v), send_counts(v), send_types(types), recv_counts(v), recv_types(types));
#endif
}
