// SPDX-License-Identifier: Apache-2.0
//
// Tests KaMPIng's main example, a vector allgather in one line, in all its forms. Then tests every
// other collective against a loop over the ranks.
#include <numeric>

#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

std::vector<int> block_of(std::size_t rank) { return std::vector<int>(rank % 3, static_cast<int>(rank)); }

void allgatherv(const Communicator<>& comm) {
  std::vector<int> expected, counts, displs;
  for (std::size_t r = 0; r < comm.size(); ++r) {
    displs.push_back(static_cast<int>(expected.size()));
    for (int x : block_of(r)) expected.push_back(x);
    counts.push_back(static_cast<int>(r % 3));
  }
  const std::vector<int> v = block_of(comm.rank());

  check.equal(comm.allgatherv(send_buf(v)), expected);

  auto [all, their_counts, their_displs] = comm.allgatherv(send_buf(v), recv_counts_out(), recv_displs_out());
  check.equal(all, expected);
  check.equal(their_counts, counts);
  check.equal(their_displs, displs);

  auto result = comm.allgatherv(send_buf(v), recv_counts_out(), recv_displs_out());
  check.equal(result.extract_recv_displs(), displs);
  check.equal(result.extract_recv_buffer(), expected);
  check.equal(result.extract_recv_counts(), counts);

  std::vector<int> into, counts_into(comm.size());
  comm.allgatherv(send_buf(v), recv_buf<resize_to_fit>(into), recv_counts_out(counts_into));
  check.equal(into, expected);
  check.equal(counts_into, counts);
  std::vector<int> grown(100, -1);
  comm.allgatherv(send_buf(v), recv_buf<BufferResizePolicy::grow_only>(grown), recv_counts(counts));
  check.equal(grown.size(), std::size_t{100});
  grown.resize(expected.size());
  check.equal(grown, expected);

  auto [handed_back, received] = comm.allgatherv(send_buf_out(block_of(comm.rank())), recv_buf_out());
  check.equal(handed_back, v);
  check.equal(received, expected);
  check.equal(comm.allgatherv(send_buf(v), recv_buf(alloc_new<std::vector<int>>)), expected);
  check.equal(comm.allgatherv(send_buf(v), recv_buf_out(alloc_container_of<int>)), expected);
  const auto none = comm.is_root() ? comm.allgatherv(send_buf(v)) : comm.allgatherv(send_buf(ignore<int>));
  check.equal(none, block_of(0));
}

void regular(const Communicator<>& comm) {
  const int p = comm.size_signed(), me = comm.rank_signed();
  std::vector<int> ranks(comm.size());
  std::iota(ranks.begin(), ranks.end(), 0);

  check.equal(comm.allgather(send_buf(me)), ranks);
  std::vector<int> in_place(comm.size(), -1);
  in_place[comm.rank()] = me;
  comm.allgather(send_recv_buf(in_place));
  check.equal(in_place, ranks);

  const std::size_t last = comm.size() - 1;
  const auto gathered = comm.gather(send_buf(me), root(last));
  check.equal(gathered, comm.is_root(last) ? ranks : std::vector<int>());
  auto mine = comm.scatter(send_buf(comm.is_root() ? ranks : std::vector<int>()), root(0));
  check.equal(mine, std::vector<int>{me});
  check.equal(comm.scatter_single(send_buf(ranks), root(0)), me);

  std::vector<int> row;
  for (int r = 0; r < p; ++r) row.push_back(100 * me + r);
  std::vector<int> column;
  for (int r = 0; r < p; ++r) column.push_back(100 * r + me);
  check.equal(comm.alltoall(send_buf(row)), column);

  double half = comm.is_root() ? 0.5 : 0;
  comm.bcast_single(send_recv_buf(half));
  check.equal(half, 0.5);
  std::vector<int> text;
  if (comm.is_root(last)) text = {1, 2, 3};
  comm.bcast(send_recv_buf<resize_to_fit>(text), root(last));
  check.equal(text, std::vector<int>{1, 2, 3});
  comm.barrier();
}

void gatherv_scatterv(const Communicator<>& comm) {
  std::vector<int> expected, counts;
  for (std::size_t r = 0; r < comm.size(); ++r) {
    for (int x : block_of(r)) expected.push_back(x);
    counts.push_back(static_cast<int>(block_of(r).size()));
  }
  const std::vector<int> v = block_of(comm.rank());
  const auto all = comm.is_root() ? comm.gatherv(send_buf(v), recv_counts(counts))
                                  : comm.gatherv(send_buf(v), recv_counts(ignore<int>));
  check.equal(all, comm.is_root() ? expected : std::vector<int>());
  const auto mine = comm.is_root() ? comm.scatterv(send_buf(all), send_counts(counts)) : comm.scatterv<int>();
  check.equal(mine, v);
}

void reductions(const Communicator<>& comm) {
  const int p = comm.size_signed(), me = comm.rank_signed();
  const int sum = p * (p - 1) / 2;
  const std::vector<int> v = {me, 1};
  check.equal(comm.allreduce(send_buf(v), op(ops::plus<>{})), std::vector<int>{sum, p});
  check.equal(comm.allreduce(send_buf(v), op(MPI_SUM)), std::vector<int>{sum, p});
  check.equal(comm.allreduce(send_buf(v), op(MPI_MAX, ops::commutative)), std::vector<int>{p - 1, 1});
  check.equal(comm.allreduce_single(send_buf(me), op(std::plus<>{})), sum);
  check.equal(
      comm.allreduce_single(send_buf(me), op([](int a, int b) { return a > b ? a : b; }, ops::commutative)),
      p - 1);
  const auto at_root = comm.reduce(send_buf(v), op(ops::max<>{}), root(0));
  check.equal(at_root, comm.is_root() ? std::vector<int>{p - 1, 1} : std::vector<int>());
  const std::optional<int> single = comm.reduce_single(send_buf(me), op(ops::plus<>{}));
  check.equal(single.has_value(), comm.is_root());
  check.equal(single.value_or(sum), sum);
  check.equal(comm.scan_single(send_buf(me), op(ops::plus<>{})), me * (me + 1) / 2);
  check.equal(comm.exscan_single(send_buf(me), op(ops::plus<>{})), me * (me - 1) / 2);
  const auto custom = comm.exscan_single(
      send_buf(me), op([](int a, int b) { return a + b; }, ops::commutative), values_on_rank_0(-7));
  check.equal(custom, me == 0 ? -7 : me * (me - 1) / 2);
  std::vector<int> in_place = v;
  comm.allreduce(send_recv_buf(in_place), op(ops::plus<>{}));
  check.equal(in_place, std::vector<int>{sum, p});
  auto later = comm.iallreduce(send_buf(v), op(ops::plus<>{}));
  auto barrier = comm.ibarrier();
  barrier.wait();
  check.equal(later.wait(), std::vector<int>{sum, p});
}

// KaMPIng keeps the captures of the first call forever. In tutti each call has its own.
void captures(const Communicator<>& comm) {
  for (int k : {1, 100}) {
    const int got =
        comm.allreduce_single(send_buf(1), op([k](int a, int b) { return a + b + k; }, ops::commutative));
    check.equal(got, comm.size_signed() + (comm.size_signed() - 1) * k);
  }
}

struct point {
  double x;
  int id;
  bool operator==(const point&) const = default;
};

// Sends the first column of a matrix with three columns by an MPI datatype.
void datatypes(const Communicator<>& comm) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  const int me = comm.rank_signed();
  const std::vector<int> matrix = {me, 0, 0, -me, 0, 0};
  std::vector<int> all(2 * comm.size());
  comm.allgather(send_buf(matrix), send_type(column), send_count(1), recv_buf(all));
  for (int r = 0; r < comm.size_signed(); ++r) {
    check.equal(all[static_cast<std::size_t>(2 * r)], r);
    check.equal(all[static_cast<std::size_t>(2 * r + 1)], -r);
  }
  std::vector<int> strided(static_cast<std::size_t>(6 * comm.size_signed()), -9);
  std::vector<int> mine = {me, -me};
  comm.allgather(send_buf(mine), send_type(MPI_INT), send_count(2), recv_buf(strided),
                 recv_type(mpi_datatype<std::array<int, 2>>()), recv_count(1));
  strided.resize(all.size());
  check.equal(strided, all);
  MPI_Type_free(&column);
}

// A communicator with another default container for receive buffers.
template <class T>
struct own_vector : std::vector<T> {
  using std::vector<T>::vector;
};

void types() {
  Communicator<own_vector> comm;
  const point mine{0.5 * comm.rank_signed(), comm.rank_signed()};
  own_vector<point> all = comm.allgather(send_buf(mine));
  for (std::size_t r = 0; r < comm.size(); ++r)
    check.that(all[r] == point{0.5 * static_cast<int>(r), static_cast<int>(r)});
  auto [again, counts] = comm.allgatherv(send_buf(mine), recv_buf(), recv_counts_out());
  static_assert(std::is_same_v<decltype(again), own_vector<point>>);
  check.that(again == all && counts.size() == comm.size());
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator comm;
    allgatherv(comm);
    regular(comm);
    gatherv_scatterv(comm);
    reductions(comm);
    captures(comm);
    datatypes(comm);
    types();
  });
}
