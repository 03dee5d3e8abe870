// SPDX-License-Identifier: Apache-2.0
//
// Tests a program with two adopted MPI communicators: operations on one progress in waits on the
// other, and while a third is adopted.
#include <cstdio>
#include <functional>
#include <vector>

#include "support/check.hpp"
#include "tutti/mpi.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

using tests::check;
using namespace tutti;

namespace {

using step = std::function<void()>;

// Rank 0 sends a message that needs its posted receive, before it enters the call in which the
// others wait.
void with_pending_receive(const communicator& here, const step& blocking_call) {
  std::vector<int> sent(300000, 7), got;
  if (here.rank() == 0) {
    for (int r = 1; r < here.size(); ++r) here.ssend(send_buf(sent), destination(r), tag(3));
    return blocking_call();
  }
  auto in = here.irecv(recv_buf<resize_to_fit>(got), source(0), tag(3));
  blocking_call();
  in.wait();
  check.equal(got, sent);
}

void with_pending_tasks(const communicator& here, const step& blocking_call) {
  long t = 0;
  tasks::runtime rt(here);
  auto s = here.rank() == 0 ? rt.data(t, 0) : rt.data<long>(0);
  for (int r = 0; r < here.size(); ++r)
    rt.insert([r](long& v) { v += r; }, tasks::on(r), tasks::reduce(s, std::plus<>{}));
  rt.wait_all();
  blocking_call();
  if (here.rank() == 0) check.equal(t, static_cast<long>(here.size() * (here.size() - 1) / 2));
}

void test() {
  const communicator a = adopt(MPI_COMM_WORLD), b = adopt(MPI_COMM_WORLD);
  for (const auto& test_with : {with_pending_receive, with_pending_tasks}) {
    test_with(a, [&] { b.barrier(algorithm("native")); });
    test_with(b, [&] { a.barrier(algorithm("native")); });
    test_with(a, [&] { b.ibarrier().wait(); });
    test_with(a, [&] { adopt(MPI_COMM_WORLD).barrier(); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    test();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
