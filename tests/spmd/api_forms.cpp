// SPDX-License-Identifier: Apache-2.0
//
// Tests every form with one element, blocking, nonblocking and persistent. Also tests minimal
// buffers, a rank that sends nothing, and that given counts are not exchanged.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

// Returns the sum of f(r) over the first n ranks.
template <class F>
int sum_of(int n, const F& f) {
  int all = 0;
  for (int r = 0; r < n; ++r) all += f(r);
  return all;
}

void begun_single_forms(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto f = [](int r) { return 7 * r + 3; };
  for (int q = 0; q < p; ++q) {
    auto bcast = world.ibcast_single(send_recv_buf(me == q ? f(q) : -1), root(q));
    auto reduce = world.ireduce_single(send_buf(f(me)), op(std::plus<>{}), root(q));
    auto allreduce = world.iallreduce_single(send_buf(f(me) + q), op(std::plus<>{}));
    ints row;
    for (int r = 0; me == q && r < p; ++r) row.push_back(f(r) - q);
    auto scatter = world.iscatter_single(send_buf(row), root(q));
    auto scan = world.iscan_single(send_buf(f(me)), op(std::plus<>{}));
    auto exscan = world.iexscan_single(send_buf(f(me)), op(std::plus<>{}), values_on_rank_0(-5));
    check.equal(exscan.wait(), me == 0 ? -5 : sum_of(me, f));
    check.equal(scan.wait(), sum_of(me + 1, f));
    check.equal(scatter.wait(), f(me) - q);
    check.equal(allreduce.wait(), sum_of(p, f) + p * q);
    const auto at_root = reduce.wait();
    check.equal(at_root.has_value(), me == q);
    if (at_root) check.equal(*at_root, sum_of(p, f));
    check.equal(bcast.wait(), f(q));
  }
}

void prepared_single_forms(const communicator& world) {
  const int p = world.size(), me = world.rank(), q = p - 1;
  int mine = 0, sent = 0;
  ints row(me == q ? static_cast<std::size_t>(p) : 0);
  auto bcast = world.bcast_single_init(send_recv_buf(sent), root(q));
  auto reduce = world.reduce_single_init(send_buf(mine), op(std::plus<>{}), root(q));
  auto allreduce = world.allreduce_single_init(send_buf(mine), op(std::plus<>{}));
  auto scatter = world.scatter_single_init(send_buf(row), root(q));
  auto scan = world.scan_single_init(send_buf(mine), op(std::plus<>{}));
  auto exscan = world.exscan_single_init(send_buf(mine), op(std::plus<>{}), values_on_rank_0(-5));
  for (int step = 0; step < 3; ++step) {
    const auto f = [&](int r) { return 5 * r + step; };
    mine = f(me);
    sent = me == q ? f(q) : -1;
    for (std::size_t r = 0; r < row.size(); ++r) row[r] = f(static_cast<int>(r)) + 1;
    bcast.start(), reduce.start(), allreduce.start(), scatter.start(), scan.start(), exscan.start();
    check.equal(exscan.wait(), me == 0 ? -5 : sum_of(me, f));
    check.equal(scan.wait(), sum_of(me + 1, f));
    check.equal(scatter.wait(), f(me) + 1);
    check.equal(allreduce.wait(), sum_of(p, f));
    const auto at_root = reduce.wait();
    check.equal(at_root.has_value(), me == q);
    if (at_root) check.equal(*at_root, sum_of(p, f));
    bcast.wait();
    check.equal(sent, f(q));
  }
}

void prepared_forms(const communicator& world) {
  const int p = world.size(), me = world.rank(), q = p / 2;
  const auto ranks = static_cast<std::size_t>(p);
  const bool root_here = me == q;
  // In vector forms rank r has r % 3 elements.
  ints counts;
  for (int r = 0; r < p; ++r) counts.push_back(r % 3);
  const int total = std::accumulate(counts.begin(), counts.end(), 0);
  const auto own = static_cast<std::size_t>(me % 3);
  ints sent(2), mine(2), block(own), row(ranks), rows(static_cast<std::size_t>(total));
  ints gathered(root_here ? 2 * ranks : 0), uneven(root_here ? rows.size() : 0), part(1), uneven_part(own);
  ints all(2 * ranks), uneven_all(rows.size()), column(ranks), uneven_column(own * ranks), prefix(2),
      before(2, -5);
  ints sum(root_here ? 2 : 0), everywhere(2), slice(1), uneven_slice(own);
  const ints same(ranks, me % 3);
  const auto plus = [] { return op(std::plus<>{}); };
  auto barrier = world.barrier_init();
  auto bcast = world.bcast_init(send_recv_buf(sent), send_recv_count(2), root(q));
  auto gather = world.gather_init(send_buf(mine), recv_buf(gathered), root(q));
  auto gatherv = world.gatherv_init(send_buf(block), recv_buf(uneven), recv_counts(counts), root(q));
  auto scatter = world.scatter_init(send_buf(row), recv_buf(part), recv_count(1), root(q));
  auto scatterv = world.scatterv_init(send_buf(rows), send_counts(counts), recv_buf(uneven_part),
                                      recv_count(me % 3), root(q));
  auto allgather = world.allgather_init(send_buf(mine), recv_buf(all));
  auto allgatherv = world.allgatherv_init(send_buf(block), recv_buf(uneven_all), recv_counts(counts));
  auto alltoall = world.alltoall_init(send_buf(row), recv_buf(column));
  auto alltoallv =
      world.alltoallv_init(send_buf(rows), send_counts(counts), recv_buf(uneven_column), recv_counts(same));
  auto reduce = world.reduce_init(send_buf(mine), recv_buf(sum), plus(), root(q));
  auto allreduce = world.allreduce_init(send_buf(mine), recv_buf(everywhere), plus());
  auto reduce_scatter_block = world.reduce_scatter_block_init(send_buf(row), recv_buf(slice), plus());
  auto reduce_scatter =
      world.reduce_scatter_init(send_buf(rows), recv_buf(uneven_slice), recv_counts(counts), plus());
  auto scan = world.scan_init(send_buf(mine), recv_buf(prefix), plus());
  auto exscan = world.exscan_init(send_buf(mine), recv_buf(before), plus(), values_on_rank_0(-5));
  for (int step = 0; step < 3; ++step) {
    const auto f = [&](int r, int i) { return 100 * r + 10 * i + step; };
    const auto filled = [&](ints& v, int r) {
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = f(r, static_cast<int>(i));
    };
    filled(mine, me), filled(block, me), filled(row, me), filled(rows, me);
    for (int i = 0; i < 2; ++i) sent[static_cast<std::size_t>(i)] = root_here ? f(q, i) : -1;
    barrier.start(), bcast.start(), gather.start(), gatherv.start(), scatter.start(), scatterv.start();
    allgather.start(), allgatherv.start(), alltoall.start(), alltoallv.start(), reduce.start();
    allreduce.start(), reduce_scatter_block.start(), reduce_scatter.start(), scan.start(), exscan.start();
    exscan.wait(), scan.wait(), reduce_scatter.wait(), reduce_scatter_block.wait(), allreduce.wait();
    reduce.wait(), alltoallv.wait(), alltoall.wait(), allgatherv.wait(), allgather.wait(), scatterv.wait();
    scatter.wait(), gatherv.wait(), gather.wait(), bcast.wait(), barrier.wait();

    const auto at = [](int r) { return static_cast<std::size_t>(r); };
    int first = 0;  // index of this rank's first element in all vector-form blocks
    for (int r = 0; r < me; ++r) first += counts[at(r)];
    ints e_all, e_uneven, e_column, e_uneven_column, e_uneven_part, e_slice, e_uneven_slice;
    for (int r = 0; r < p; ++r) {
      for (int i = 0; i < 2; ++i) e_all.push_back(f(r, i));
      for (int i = 0; i < counts[at(r)]; ++i) e_uneven.push_back(f(r, i));
      e_column.push_back(f(r, me));
      for (int i = 0; i < me % 3; ++i) e_uneven_column.push_back(f(r, first + i));
    }
    const auto over = [&](int n, int i) { return sum_of(n, [&](int r) { return f(r, i); }); };
    for (int i = 0; i < me % 3; ++i)
      e_uneven_part.push_back(f(q, first + i)), e_uneven_slice.push_back(over(p, first + i));
    check.equal(sent, ints{f(q, 0), f(q, 1)});
    check.equal(gathered, root_here ? e_all : ints{});
    check.equal(uneven, root_here ? e_uneven : ints{});
    check.equal(part, ints{f(q, me)});
    check.equal(uneven_part, e_uneven_part);
    check.equal(all, e_all);
    check.equal(uneven_all, e_uneven);
    check.equal(column, e_column);
    check.equal(uneven_column, e_uneven_column);
    check.equal(sum, root_here ? ints{over(p, 0), over(p, 1)} : ints{});
    check.equal(everywhere, ints{over(p, 0), over(p, 1)});
    check.equal(slice, ints{over(p, me)});
    check.equal(uneven_slice, e_uneven_slice);
    check.equal(prefix, ints{over(me + 1, 0), over(me + 1, 1)});
    check.equal(before, me == 0 ? ints{-5, -5} : ints{over(me, 0), over(me, 1)});
  }
}

// The minimum that a buffer must have: no iterators, no resize(), no copies.
class minimal_container {
 public:
  using value_type = int;
  explicit minimal_container(std::size_t n) : at_(new int[n]), n_(n) { std::fill_n(at_, n, -1); }
  minimal_container(const minimal_container&) = delete;
  minimal_container& operator=(const minimal_container&) = delete;
  ~minimal_container() { delete[] at_; }
  int* data() { return at_; }
  const int* data() const { return at_; }
  std::size_t size() const { return n_; }

 private:
  int* at_;
  std::size_t n_;
};

void minimal_containers(const communicator& world) {
  const int p = world.size(), me = world.rank();
  minimal_container mine(2), all(2 * static_cast<std::size_t>(p)), counts(static_cast<std::size_t>(p));
  minimal_container sum(2);
  mine.data()[0] = me, mine.data()[1] = -me;
  std::fill_n(counts.data(), p, 2);
  const auto expect_all = [&] {
    for (int r = 0; r < p; ++r) {
      check.equal(all.data()[2 * r], r);
      check.equal(all.data()[2 * r + 1], -r);
    }
    std::fill_n(all.data(), all.size(), -9);
  };
  world.allgather(send_buf(mine), recv_buf(all));
  expect_all();
  world.allgatherv(send_buf(mine), recv_buf(all), recv_counts(counts));
  expect_all();
  world.allgatherv(send_buf(mine), recv_buf(all), recv_counts_out(counts));
  expect_all();
  for (int r = 0; r < p; ++r) check.equal(counts.data()[r], 2);
  world.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}));
  check.equal(sum.data()[0], p * (p - 1) / 2);
  world.bcast(send_recv_buf(mine), root(p - 1));
  check.equal(mine.data()[0], p - 1);
  world.bsend(send_buf(sum), destination(me));
  world.recv(recv_buf(mine), source(me));
  check.equal(mine.data()[1], -sum.data()[0]);
}

void nothing_to_send(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int q = 0; q < p; ++q) {
    const ints row(static_cast<std::size_t>(p), 40 + q);
    const ints received =
        me == q ? world.scatter(send_buf(row), root(q)) : world.scatter(send_buf(ignore<int>), root(q));
    check.equal(received, ints{40 + q});
    const ints all =
        me == q ? world.gatherv(send_buf(row), root(0)) : world.gatherv(send_buf(ignore<int>), root(0));
    check.equal(all, me == 0 ? row : ints{});
  }
}

void extracted(const communicator& world) {
  const int p = world.size(), me = world.rank();
  ints row, counts;
  for (int r = 0; r < p; ++r) {
    counts.push_back(r % 3);
    row.insert(row.end(), static_cast<std::size_t>(r % 3), 100 * me + r);
  }
  auto r = world.alltoallv(send_buf(row), send_counts(counts), send_displs_out(), recv_counts_out(),
                           recv_displs_out());
  ints displs(static_cast<std::size_t>(p)), expected, expected_counts(static_cast<std::size_t>(p), me % 3),
      expected_displs;
  std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), 0);
  for (int q = 0; q < p; ++q) {
    expected_displs.push_back(q * (me % 3));
    expected.insert(expected.end(), static_cast<std::size_t>(me % 3), 100 * q + me);
  }
  check.equal(r.extract_send_displs(), displs);
  check.equal(r.extract_recv_counts(), expected_counts);
  check.equal(r.extract_recv_displs(), expected_displs);
  check.equal(r.extract_recv_buf(), expected);
}

// The receiver states the counts, and the sender gets them as output.
void counts_from_receiver(const communicator& world) {
  const int p = world.size(), me = world.rank();
  // Rank r receives (r + q) % 3 elements from rank q.
  ints wanted, given, given_displs, buffer, expected;
  for (int q = 0; q < p; ++q) {
    wanted.push_back((me + q) % 3);
    given_displs.push_back(static_cast<int>(buffer.size()));
    given.push_back((q + me) % 3);
    for (int i = 0; i < (q + me) % 3; ++i) buffer.push_back(1000 * me + q), expected.push_back(1000 * q + me);
  }
  auto r = world.alltoallv(send_buf(buffer), recv_counts(wanted), send_counts_out(), send_displs_out());
  check.equal(r.extract_send_counts(), given);
  check.equal(r.extract_send_displs(), given_displs);
  check.equal(r.extract_recv_buf(), expected);
  std::vector<std::size_t> wide;
  const ints again =
      world.ialltoallv(send_buf(buffer), recv_counts(wanted), send_counts_out<resize_to_fit>(wide)).wait();
  check.equal(again, expected);
  check.equal(ints(wide.begin(), wide.end()), given);
  for (int q = 0; q < p; ++q) {
    ints row, counts;
    for (int to = 0; to < p; ++to) {
      counts.push_back(to % 3);
      row.insert(row.end(), static_cast<std::size_t>(to % 3), to + q);
    }
    auto [part, counts_out] = world.scatterv(send_buf(row), recv_count(me % 3), send_counts_out(), root(q));
    check.equal(part, ints(static_cast<std::size_t>(me % 3), me + q));
    check.equal(counts_out, me == q ? counts : ints{});
  }
  // Too few elements to send is an error of this rank only. All ranks learn of a wrong count.
  wanted[0] = -1;
  const auto wrong = [&] { (void)world.alltoallv(send_buf(buffer), recv_counts(wanted), send_counts_out()); };
  check.throws<usage_error>(wrong, {"alltoallv", "recv_counts", "negative"});
  world.barrier();
}

// An exchange of counts is a collective call, so last_algorithm() shows it.
void no_count_exchange(const communicator& world) {
  const auto used = [](const communicator& c, collective what) { return *c.last_algorithm(what) != '\0'; };
  const auto p = static_cast<std::size_t>(world.size());
  const ints ones(p, 1), row(p, 4);
  {
    const communicator c = world.duplicate();
    c.allgatherv(send_buf(5), recv_counts(ones));
    check.that(!used(c, collective::allgather), "recv_counts was given");
    c.allgatherv(send_buf(5));
    check.that(used(c, collective::allgather), "recv_counts had to be found");
  }
  {
    const communicator c = world.duplicate();
    c.alltoallv(send_buf(row), send_counts(ones), recv_counts(ones));
    check.that(!used(c, collective::alltoall), "recv_counts was given");
    c.alltoallv(send_buf(row), send_counts(ones));
    check.that(used(c, collective::alltoall), "recv_counts had to be found");
  }
  {
    const communicator c = world.duplicate();
    c.scatter(send_buf(row), recv_count(1));
    check.that(!used(c, collective::bcast), "recv_count was given");
    c.scatter_single(send_buf(row));
    check.that(!used(c, collective::bcast), "one element has a known length");
    c.scatter(send_buf(row));
    check.that(used(c, collective::bcast), "recv_count had to be found");
  }
  {
    const communicator c = world.duplicate();
    c.gatherv(send_buf(5), recv_counts(ones));
    c.scatterv(send_buf(row), send_counts(ones), recv_count(1));
    check.that(!used(c, collective::gather) && !used(c, collective::scatter), "counts were given");
    c.gatherv(send_buf(5));
    c.scatterv(send_buf(row), send_counts(ones));
    check.that(used(c, collective::gather) && used(c, collective::scatter), "counts had to be found");
  }
  {
    const communicator c = world.duplicate();
    c.gather(send_buf(5));
    c.allgather(send_buf(5));
    c.alltoall(send_buf(row));
    c.scan(send_buf(5), op(std::plus<>{}));
    for (const collective what : {collective::bcast, collective::barrier, collective::allreduce})
      check.that(!used(c, what), "equal blocks are not asked for");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("begun_single_forms", [&] { begun_single_forms(world); });
    cases("prepared_single_forms", [&] { prepared_single_forms(world); });
    cases("prepared_forms", [&] { prepared_forms(world); });
    cases("minimal_containers", [&] { minimal_containers(world); });
    cases("nothing_to_send", [&] { nothing_to_send(world); });
    cases("extracted", [&] { extracted(world); });
    cases("counts_from_receiver", [&] { counts_from_receiver(world); });
    cases("no_count_exchange", [&] { no_count_exchange(world); });
  });
}
