// SPDX-License-Identifier: Apache-2.0
//
// Tests every collective with blocks of different lengths: counts as input, as output and inferred,
// of int and of std::size_t. Displacements have any order with gaps. Also tests in-place and
// nonblocking calls, and errors.
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using sizes = std::vector<std::size_t>;
using ints = std::vector<int>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Rank r has length(r) elements, sometimes none; length(r, s) elements go from rank r to rank s.
int length(int r) { return (r * 7 + 2) % 5; }
int length(int r, int s) { return (r * 3 + s * 5 + 1) % 4; }
int value(int r, int i) { return 1000 * r + i + 1; }

ints block(int r) {
  ints v;
  for (int i = 0; i < length(r); ++i) v.push_back(value(r, i));
  return v;
}

struct expected_gather {
  ints all, counts, displs;
  explicit expected_gather(int p) {
    for (int r = 0; r < p; ++r) {
      displs.push_back(static_cast<int>(all.size()));
      counts.push_back(length(r));
      for (int x : block(r)) all.push_back(x);
    }
  }
};

void allgatherv(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const expected_gather e(p);
  const ints mine = block(me);
  const sizes wide(e.counts.begin(), e.counts.end());
  check.equal(comm.allgatherv(send_buf(mine)), e.all);
  check.equal(comm.allgatherv(send_buf(mine), recv_counts(e.counts)), e.all);
  check.equal(comm.allgatherv(recv_counts(wide), send_buf(mine)), e.all);
  {
    auto [all, counts] = comm.allgatherv(send_buf(mine), recv_counts_out());
    check.equal(all, e.all);
    check.equal(counts, e.counts);
    static_assert(std::is_same_v<decltype(counts), ints>);
  }
  {
    auto [displs, all, counts] =
        comm.allgatherv(recv_displs_out(), recv_buf(), send_buf(mine), recv_counts_out<sizes>());
    check.equal(displs, e.displs);
    check.equal(all, e.all);
    check.equal(counts, wide);
  }
  {
    auto result =
        comm.allgatherv(send_buf(mine), recv_displs_out<sizes>(), recv_counts_out(), send_count_out());
    check.equal(result.extract_send_count(), length(me));
    check.equal(result.extract_recv_counts(), e.counts);
    check.equal(result.extract_recv_displs(), sizes(e.displs.begin(), e.displs.end()));
    check.equal(result.extract_recv_buffer(), e.all);
  }
  {
    ints counts(at(p)), all;
    sizes displs;
    comm.allgatherv(send_buf(mine), recv_counts_out(counts), recv_buf<resize_to_fit>(all),
                    recv_displs_out<resize_to_fit>(displs));
    check.equal(counts, e.counts);
    check.equal(all, e.all);
    check.equal(displs, sizes(e.displs.begin(), e.displs.end()));
  }
  {
    // Blocks in reverse order with a gap of one before each; counts inferred and given.
    ints displs(at(p)), expected;
    int end = 0;
    for (int r = p - 1; r >= 0; --r) displs[at(r)] = end + 1, end += length(r) + 1;
    expected.assign(at(end), -9);
    int furthest = 0;
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < length(r); ++i) {
        expected[at(displs[at(r)] + i)] = value(r, i);
        furthest = std::max(furthest, displs[at(r)] + i + 1);
      }
    ints all(at(end), -9);
    comm.allgatherv(send_buf(mine), recv_buf(all), recv_displs(displs));
    check.equal(all, expected);
    all.assign(at(end), -9);
    comm.allgatherv(send_buf(mine), recv_buf(all), recv_displs(sizes(displs.begin(), displs.end())),
                    recv_counts(wide));
    check.equal(all, expected);
    check.equal(comm.allgatherv(send_buf(mine), recv_displs(displs)).size(), at(furthest));
  }
  {
    ints v(e.all.size(), -1);
    for (int i = 0; i < length(me); ++i) v[at(e.displs[at(me)] + i)] = value(me, i);
    comm.allgatherv(send_recv_buf(v), recv_counts(e.counts));
    check.equal(v, e.all);
  }
  {
    auto longer = mine;
    longer.push_back(0);
    check.equal(comm.allgatherv(send_buf(longer), send_count(length(me))), e.all);
    auto [all, counts] = comm.iallgatherv(send_buf(block(me)), recv_counts_out()).wait();
    check.equal(all, e.all);
    check.equal(counts, e.counts);
  }
}

void gatherv(const communicator& comm, int q) {
  const int p = comm.size(), me = comm.rank();
  const expected_gather e(p);
  const ints mine = block(me), none;
  const bool receives = me == q;
  check.equal(comm.gatherv(send_buf(mine), root(q)), receives ? e.all : none);
  check.equal(comm.gatherv(send_buf(mine), root(q), recv_counts(receives ? e.counts : none)),
              receives ? e.all : none);
  {
    auto [all, counts, displs] = comm.gatherv(send_buf(mine), root(q), recv_counts_out(), recv_displs_out());
    check.equal(all, receives ? e.all : none);
    check.equal(counts, receives ? e.counts : none);
    check.equal(displs, receives ? e.displs : none);
  }
  {
    ints counts(at(p), -3), all(e.all.size(), -4);
    comm.gatherv(send_buf(mine), root(q), recv_counts_out(counts), recv_buf(all));
    check.equal(counts, receives ? e.counts : ints(at(p), -3));
    check.equal(all, receives ? e.all : ints(e.all.size(), -4));
  }
  {
    ints v = mine;
    if (receives) {
      v.assign(e.all.size(), -1);
      for (int i = 0; i < length(me); ++i) v[at(e.displs[at(me)] + i)] = value(me, i);
    }
    comm.gatherv(send_recv_buf(v), recv_counts(receives ? e.counts : none), root(q));
    check.equal(v, receives ? e.all : mine);
    check.equal(comm.igatherv(send_buf(mine), root(q)).wait(), receives ? e.all : none);
  }
}

void scatterv(const communicator& comm, int q) {
  const int p = comm.size(), me = comm.rank();
  const expected_gather e(p);
  const ints mine = block(me), none;
  const bool sends = me == q;
  check.equal(comm.scatterv(send_buf(e.all), send_counts(e.counts), root(q)), mine);
  check.equal(comm.scatterv(send_buf(sends ? e.all : none), send_counts(sends ? e.counts : none), root(q)),
              mine);
  check.equal(
      sends ? comm.scatterv(send_buf(e.all), send_counts(sizes(e.counts.begin(), e.counts.end())), root(q))
            : comm.scatterv<int>(root(q)),
      mine);
  check.equal(comm.scatterv(send_buf(e.all), send_counts(e.counts), root(q), recv_count(length(me))), mine);
  {
    // In reverse order, with gaps.
    ints displs(at(p)), buffer;
    for (int r = p - 1; r >= 0; --r) {
      buffer.push_back(-1);
      displs[at(r)] = static_cast<int>(buffer.size());
      for (int x : block(r)) buffer.push_back(x);
    }
    check.equal(comm.scatterv(send_buf(buffer), send_counts(e.counts), send_displs(displs), root(q)), mine);
  }
  {
    auto [got, displs, count] =
        comm.scatterv(send_buf(e.all), send_counts(e.counts), root(q), send_displs_out(), recv_count_out());
    check.equal(got, mine);
    check.equal(displs, sends ? e.displs : none);
    check.equal(count, length(me));
    check.equal(comm.iscatterv(send_buf(e.all), send_counts(e.counts), root(q)).wait(), mine);
  }
}

void alltoallv(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  ints mine, expected, to, from, to_at, from_at;
  for (int r = 0; r < p; ++r) {
    to.push_back(length(me, r)), from.push_back(length(r, me));
    to_at.push_back(static_cast<int>(mine.size())), from_at.push_back(static_cast<int>(expected.size()));
    for (int i = 0; i < to.back(); ++i) mine.push_back(value(me * p + r, i));
    for (int i = 0; i < from.back(); ++i) expected.push_back(value(r * p + me, i));
  }
  check.equal(comm.alltoallv(send_buf(mine), send_counts(to)), expected);
  check.equal(comm.alltoallv(send_buf(mine), send_counts(to), recv_counts(from)), expected);
  check.equal(comm.alltoallv(send_buf(mine), send_counts(sizes(to.begin(), to.end())), recv_counts(from),
                             send_displs(to_at), recv_displs(from_at)),
              expected);
  {
    auto [all, sd, rc, rd] = comm.alltoallv(send_buf(mine), send_displs_out(), send_counts(to),
                                            recv_counts_out(), recv_displs_out());
    check.equal(all, expected);
    check.equal(sd, to_at);
    check.equal(rc, from);
    check.equal(rd, from_at);
  }
  {
    // Sent and received blocks are in reverse order, with gaps.
    ints gapped, gapped_at(at(p)), wanted, wanted_at(at(p));
    for (int r = p - 1; r >= 0; --r) {
      gapped.push_back(-1), wanted.push_back(-9);
      gapped_at[at(r)] = static_cast<int>(gapped.size()), wanted_at[at(r)] = static_cast<int>(wanted.size());
      for (int i = 0; i < to[at(r)]; ++i) gapped.push_back(value(me * p + r, i));
      for (int i = 0; i < from[at(r)]; ++i) wanted.push_back(value(r * p + me, i));
    }
    ints got(wanted.size(), -9);
    comm.alltoallv(send_buf(gapped), send_counts(to), send_displs(gapped_at), recv_buf(got),
                   recv_displs(wanted_at));
    check.equal(got, wanted);
  }
  {
    std::vector<int> received;
    ints counts(at(p));
    comm.alltoallv(send_buf(mine), send_counts(to), recv_counts_out(counts),
                   recv_buf_out<resize_to_fit>(received));
    check.equal(received, expected);
    check.equal(counts, from);
    auto [all, rc] = comm.ialltoallv(send_buf(mine), send_counts(to), recv_counts_out()).wait();
    check.equal(all, expected);
    check.equal(rc, from);
  }
  {
    // In place: each pair of ranks exchanges blocks of equal length.
    ints counts, v, swapped;
    for (int r = 0; r < p; ++r) {
      counts.push_back((r + me) % 3);
      for (int i = 0; i < counts.back(); ++i)
        v.push_back(value(me * p + r, i)), swapped.push_back(value(r * p + me, i));
    }
    comm.alltoallv(send_recv_buf(v), recv_counts(counts));
    check.equal(v, swapped);
  }
}

void usage_errors(const communicator& comm) {
  const int p = comm.size();
  const ints v(at(p)), ones(at(p), 1), longer(at(p) + 1, 1);
  ints negative = ones, tiny;
  negative.back() = -1;
  using error = usage_error;
  check.throws<error>([&] { comm.alltoallv(send_buf(v), send_counts(longer)); },
                      {"alltoallv", "send_counts", "ranks"});
  check.throws<error>([&] { comm.alltoallv(send_buf(v), send_counts(negative)); },
                      {"send_counts", "negative"});
  check.throws<error>([&] { comm.alltoallv(send_buf(tiny), send_counts(ones)); }, {"send_counts", "0"});
  check.throws<error>([&] { comm.alltoallv(send_buf(v), send_counts(ones), recv_buf(tiny)); },
                      {"recv_buf", "0"});
  check.throws<error>([&] { comm.alltoallv(send_buf(v), send_counts(ones), recv_counts_out(tiny)); },
                      {"recv_counts"});
  check.throws<error>([&] { comm.allgatherv(send_buf(1), recv_counts(longer)); },
                      {"allgatherv", "recv_counts"});
  check.throws<error>([&] { comm.allgatherv(send_buf(1), recv_displs(longer)); },
                      {"allgatherv", "recv_displs"});
  check.throws<error>([&] { comm.allgatherv(send_buf(1), send_count(2)); }, {"allgatherv", "send_count"});
  if (p > 1) {
    // One rank makes a mistake: all learn of it, and the communicator stays usable.
    if (comm.rank() == 1) {
      check.throws<error>([&] { comm.allgatherv(send_buf(1), send_count(2)); },
                          {"allgatherv on rank 1", "send_count"});
      check.throws<error>([&] { comm.alltoallv(send_buf(tiny), send_counts(ones)); }, {"send_counts"});
      check.throws<error>([&] { comm.scatterv(send_buf(tiny), send_counts(ones), root(1)); },
                          {"send_counts"});
    } else {
      check.throws<peer_error>([&] { comm.allgatherv(send_buf(1)); }, {"allgatherv", "rank 1"});
      check.throws<peer_error>([&] { comm.alltoallv(send_buf(v), send_counts(ones)); },
                               {"alltoallv", "rank 1"});
      check.throws<peer_error>([&] { comm.scatterv<int>(root(1)); }, {"scatterv", "rank 1"});
    }
  }
  check.equal(comm.allgatherv(send_buf(1)), ones);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    cases("allgatherv", [&] { allgatherv(comm); });
    for (int q : {0, comm.size() - 1}) {
      const std::string root = "/root_" + std::to_string(q);
      cases("gatherv" + root, [&] { gatherv(comm, q); });
      cases("scatterv" + root, [&] { scatterv(comm, q); });
    }
    cases("alltoallv", [&] { alltoallv(comm); });
    cases("usage_errors", [&] { usage_errors(comm); });
  });
}
