// expect: values_on_rank_0: its elements are not of the type that is sent
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

#ifndef CORRECTED
void f(tutti::communicator& comm, std::vector<int>& v) {
#else
void f(tutti::communicator& comm, std::vector<float>& v) {
#endif
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.exscan(send_buf(v), op(std::plus<>{}), values_on_rank_0(0.5));
#else
  [[maybe_unused]] auto sum = comm.exscan(send_buf(v), op(std::plus<>{}), values_on_rank_0(0.5));
#endif
}
