// SPDX-License-Identifier: Apache-2.0
//
// Tests a program that starts MPI itself. It adopts the world, a duplicate, a split and a single
// rank at the same time, while MPI's own messages are in progress. Exits non-zero if a check fails
// on any rank.
#include <functional>
#include <vector>

#include "runtime/launch/modules.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/mpi.hpp"

using tests::check;

namespace {

void use(tutti::communicator& comm, MPI_Comm same) {
  using namespace tutti;
  int size = 0, rank = 0;
  MPI_Comm_size(same, &size);
  MPI_Comm_rank(same, &rank);
  check.that(comm.size() == size && comm.rank() == rank, "rank or size differ");
  int from_anywhere = 0;
  MPI_Request request;
  MPI_Irecv(&from_anywhere, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, same,
            &request);  // must not match messages of tutti
  const auto all = comm.allgather(send_buf(rank), algorithm("bruck"));
  for (int r = 0; r < size; ++r) check.that(all[static_cast<std::size_t>(r)] == r, "allgather");
  const int sum = comm.allreduce_single(send_buf(rank + 1), op(std::plus<>{}));
  check.that(sum == size * (size + 1) / 2, "allreduce");
  const int last =
      comm.allreduce_single(send_buf(rank), op([](int, int b) { return b; }, ops::non_commutative));
  check.that(last == size - 1, "order");
  const int token = rank;
  MPI_Send(&token, 1, MPI_INT, rank, 7, same);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check.that(from_anywhere == rank, "a wildcard receive got something else");
}

}  // namespace

int main(int argc, char** argv) {
  const tests::program_start start(argc, argv);
  tests::failure_site at{0, tutti::detail::find_launcher().ranks, tutti::detail::find_launcher().module};
  int status = 0;
  try {
    check.throws<tutti::usage_error>([] { (void)tutti::adopt(MPI_COMM_WORLD); }, {"adopt"});
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
    MPI_Comm half, copy;
    MPI_Comm_split(MPI_COMM_WORLD, at.rank % 2, -at.rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    {
      check.throws<tutti::usage_error>([] { (void)tutti::adopt(MPI_COMM_NULL); }, {"adopt"});
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
    tests::print_failure(start, at, e);
    status = 1;
  }
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0 && status != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  if (begun != 0) MPI_Finalize();
  return status;
}
