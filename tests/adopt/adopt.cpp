// SPDX-License-Identifier: Apache-2.0
//
// A program that starts MPI itself: communicators adopted from the world, a duplicate, a split and a single
// rank, all at once, while MPI's own traffic goes on. Ends non-zero when a check fails on any rank.
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

#include "tutti/mpi.hpp"

namespace {

void expect(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

void use(tutti::communicator& comm, MPI_Comm same) {
  using namespace tutti;
  int size = 0, rank = 0;
  MPI_Comm_size(same, &size);
  MPI_Comm_rank(same, &rank);
  expect(comm.size() == size && comm.rank() == rank, "rank or size differ");
  int from_anywhere = 0;
  MPI_Request request;
  MPI_Irecv(&from_anywhere, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, same,
            &request);  // must swallow nothing of tutti's
  const auto all = comm.allgather(send_buf(rank), algorithm("bruck"));
  for (int r = 0; r < size; ++r) expect(all[static_cast<std::size_t>(r)] == r, "allgather");
  const int sum = comm.allreduce_single(send_buf(rank + 1), op(std::plus<>{}));
  expect(sum == size * (size + 1) / 2, "allreduce");
  const int last =
      comm.allreduce_single(send_buf(rank), op([](int, int b) { return b; }, ops::non_commutative));
  expect(last == size - 1, "order");
  const int token = rank;
  MPI_Send(&token, 1, MPI_INT, rank, 7, same);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(from_anywhere == rank, "a wildcard receive got something else");
}

template <class Call>
void refused(Call&& call, const char* what) {
  try {
    call();
  } catch (const tutti::usage_error&) {
    return;
  }
  throw std::runtime_error(what);
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  try {
    refused([] { (void)tutti::adopt(MPI_COMM_WORLD); }, "adopted before MPI_Init");
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half, copy;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    {
      refused([] { (void)tutti::adopt(MPI_COMM_NULL); }, "adopted MPI_COMM_NULL");
      auto world = tutti::adopt(MPI_COMM_WORLD), other = tutti::adopt(copy), part = tutti::adopt(half),
           self = tutti::adopt(MPI_COMM_SELF);
      for (int i = 0; i < 3; ++i) {
        use(part, half);
        use(world, MPI_COMM_WORLD);
        use(self, MPI_COMM_SELF);
        use(other, copy);
      }
      auto again = part.duplicate();
      use(again, half);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    status = 1;
  }
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0 && status != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  if (begun != 0) MPI_Finalize();
  return status;
}
