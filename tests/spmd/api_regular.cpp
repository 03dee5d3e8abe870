// SPDX-License-Identifier: Apache-2.0
//
// Tests every collective with blocks of equal length, in every parameter form, against a reference
// on every rank.
#include <array>
#include <span>
#include <utility>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

// Element i of rank r's block.
int value(int r, int i) { return 1000 * r + i + 1; }
std::vector<int> block(int r, int n) {
  std::vector<int> v;
  for (int i = 0; i < n; ++i) v.push_back(value(r, i));
  return v;
}
std::vector<int> blocks(int p, int n) {
  std::vector<int> v;
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < n; ++i) v.push_back(value(r, i));
  return v;
}

void bcast(const communicator& comm, int q, int n) {
  const bool sends = comm.rank() == q;
  const std::vector<int> expected = block(q, n);
  {
    std::vector<int> v = sends ? expected : std::vector<int>(n, -1);
    comm.bcast(send_recv_buf(v), root(q));
    check.equal(v, expected);
  }
  {
    std::vector<int> v = sends ? expected : std::vector<int>();
    comm.bcast(root(q), send_recv_buf<resize_to_fit>(v));
    check.equal(v, expected);
  }
  {
    std::vector<int> v = sends ? expected : std::vector<int>(n + 3, -1);
    comm.bcast(root(q), send_recv_buf<grow_only>(v));
    check.equal(v.size(), static_cast<std::size_t>(sends ? n : n + 3));
    v.resize(n);
    check.equal(v, expected);
  }
  {
    std::vector<int> v = sends ? expected : std::vector<int>(n, -1);
    const int* storage = v.data();
    const auto w = comm.bcast(send_recv_buf(std::move(v)), send_recv_count(n), root(q));
    check.equal(w, expected);
    check.that(w.data() == storage);
  }
  {
    const auto v =
        sends ? comm.bcast(send_recv_buf(std::vector<int>(expected)), root(q)) : comm.bcast<int>(root(q));
    check.equal(v, expected);
  }
  if (sends) {
    auto copy = expected;
    auto r = comm.bcast(send_recv_buf(copy), root(q), send_recv_count_out());
    check.equal(r.extract_send_recv_count(), n);
  } else {
    auto [v, count] = comm.bcast<int>(root(q), send_recv_count_out());
    check.equal(v, expected);
    check.equal(count, n);
  }
  {
    int x = sends ? 42 : 0;
    comm.bcast(send_recv_buf(x), root(q));
    check.equal(x, 42);
    check.equal(comm.bcast_single(send_recv_buf(sends ? 7 : 0), root(q)), 7);
    check.equal(sends ? comm.bcast_single(send_recv_buf(8), root(q)) : comm.bcast_single<int>(root(q)), 8);
  }
  {
    std::vector<int> v = sends ? expected : std::vector<int>(n, -1);
    auto request = comm.ibcast(send_recv_buf(v), send_recv_count(n), root(q));
    request.wait();
    check.equal(v, expected);
  }
}

void gathers(const communicator& comm, int q, int n) {
  const int p = comm.size(), me = comm.rank();
  const std::vector<int> mine = block(me, n), all = blocks(p, n), none;
  check.equal(comm.allgather(send_buf(mine)), all);
  check.equal(comm.gather(send_buf(mine), root(q)), me == q ? all : none);
  check.equal(comm.allgather(send_buf(me)), [&] {
    std::vector<int> ranks;
    for (int r = 0; r < p; ++r) ranks.push_back(r);
    return ranks;
  }());
  check.equal(comm.allgather(send_buf({me, -me})).size(), static_cast<std::size_t>(2 * p));
  check.equal(comm.allgather(send_buf(std::span(mine))), all);
  check.equal(comm.allgather(send_buf(block(me, n + 2)), send_count(n)), all);
  {
    auto [received, sent, each] =
        comm.allgather(send_buf(mine), send_count_out(), recv_count_out<std::size_t>());
    check.equal(received, all);
    check.equal(sent, n);
    check.equal(each, static_cast<std::size_t>(n));
  }
  {
    std::vector<int> w(all.size() + 2, -5);
    comm.allgather(recv_buf(w), send_buf(mine));
    check.that(w[all.size()] == -5 && w[all.size() + 1] == -5);
    w.resize(all.size());
    check.equal(w, all);
    std::vector<int> fitted;
    int sent = 0;
    comm.allgather(send_buf(mine), recv_buf_out<resize_to_fit>(fitted), send_count_out(sent));
    check.equal(fitted, all);
    check.equal(sent, n);
  }
  {
    std::vector<int> w;
    w.reserve(all.size() + 1);
    const int* storage = w.data();
    const auto got = comm.allgather(send_buf(mine), recv_buf<resize_to_fit>(std::move(w)));
    check.equal(got, all);
    check.that(got.data() == storage);
  }
  {
    auto [sent, received] = comm.allgather(send_buf(mine), send_count_out(), recv_buf());
    check.equal(received, all);
    check.equal(sent, n);
    const dynamic_array<int> other = comm.allgather(send_buf(mine), recv_buf<dynamic_array<int>>());
    check.equal(other, all);
    check.equal(comm.allgather(send_buf(mine), recv_buf(alloc_new<dynamic_array<int>>)), all);
  }
  {
    std::vector<int> v(all.size(), -1);
    for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(me * n + i)] = value(me, i);
    auto moved = v;
    const int* storage = moved.data();
    comm.allgather(send_recv_buf(v));
    check.equal(v, all);
    const auto back = comm.allgather(send_recv_buf(std::move(moved)));
    check.equal(back, all);
    check.that(back.data() == storage);
  }
  {
    std::vector<int> w(me == q ? all.size() : 0);
    comm.gather(send_buf(mine), recv_buf(w), root(q));
    check.equal(w, me == q ? all : none);
    std::vector<int> v = mine;
    if (me == q) {
      v.assign(all.size(), -1);
      for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(me * n + i)] = value(me, i);
    }
    comm.gather(send_recv_buf(v), root(q));
    check.equal(v, me == q ? all : mine);
  }
  {
    auto request = comm.iallgather(send_buf(block(me, n)));
    auto rooted = comm.igather(send_buf(mine), root(q));
    check.equal(request.wait(), all);
    check.equal(rooted.wait(), me == q ? all : none);
  }
}

void scatters(const communicator& comm, int q, int n) {
  const int p = comm.size(), me = comm.rank();
  const std::vector<int> mine = block(me, n), all = blocks(p, n), none;
  const bool sends = me == q;
  check.equal(comm.scatter(send_buf(sends ? all : none), root(q)), mine);
  check.equal(sends ? comm.scatter(send_buf(all), root(q)) : comm.scatter<int>(root(q)), mine);
  check.equal(
      sends ? comm.scatter(send_buf(all), root(q), recv_count(n)) : comm.scatter<int>(root(q), recv_count(n)),
      mine);
  {
    auto longer = all;
    longer.push_back(0);
    auto [got, each] = comm.scatter(send_buf(longer), send_count(n), root(q), recv_count_out());
    check.equal(got, mine);
    check.equal(each, n);
  }
  {
    std::vector<int> w(n + 1, -5);
    comm.scatter(send_buf(all), root(q), recv_buf(w));
    check.equal(w[static_cast<std::size_t>(n)], -5);
    w.resize(n);
    check.equal(w, mine);
  }
  {
    std::vector<int> v = sends ? all : std::vector<int>(n, -1);
    comm.scatter(send_recv_buf(v), root(q));
    check.equal(v, sends ? all : mine);
    auto w = comm.scatter(send_recv_buf<resize_to_fit>(sends ? std::vector<int>(all) : std::vector<int>()),
                          root(q));
    check.equal(w, sends ? all : mine);
  }
  {
    std::vector<int> singles;
    for (int r = 0; r < p; ++r) singles.push_back(10 * r);
    check.equal(comm.scatter_single(send_buf(singles), root(q)), 10 * me);
    check.equal(sends ? comm.scatter_single(send_buf(singles), root(q)) : comm.scatter_single<int>(root(q)),
                10 * me);
    check.equal(comm.iscatter(send_buf(all), root(q)).wait(), mine);
  }
}

void alltoalls(const communicator& comm, int n) {
  const int p = comm.size(), me = comm.rank();
  std::vector<int> mine, expected;
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < n; ++i) {
      mine.push_back(value(me * p + r, i));
      expected.push_back(value(r * p + me, i));
    }
  check.equal(comm.alltoall(send_buf(mine)), expected);
  {
    auto longer = mine;
    longer.push_back(0);
    check.equal(comm.alltoall(send_buf(longer), send_count(n)), expected);
  }
  {
    auto v = mine;
    comm.alltoall(send_recv_buf(v));
    check.equal(v, expected);
  }
  {
    std::vector<int> w(expected.size());
    auto [each] = comm.alltoall(send_buf(mine), recv_buf(w), recv_count_out());
    check.equal(w, expected);
    check.equal(each, n);
  }
  {
    std::vector<decltype(comm.ialltoall(send_buf(mine)))> requests;
    for (int k = 0; k < 3; ++k) requests.push_back(comm.ialltoall(send_buf(mine)));
    for (auto& request : requests) check.equal(request.wait(), expected);
  }
}

void types(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  enum class color : short { red, green };
  struct point {
    double x;
    char tag;
  };
  check.that(comm.allgather(send_buf(color::green)).back() == color::green);
  check.that(comm.allgather(send_buf(point{double(me), 'c'}))[static_cast<std::size_t>(p - 1)].x == p - 1);
  check.that(comm.allgather(send_buf(std::pair(me, 2.5))).back() == std::pair(p - 1, 2.5));
  check.that(comm.allgather(send_buf(std::byte{7})).front() == std::byte{7});
  check.that(comm.allgather(send_buf(1.5L)).front() == 1.5L);
  check.equal(comm.allgather(send_buf(std::string("ab"))).size(), static_cast<std::size_t>(2 * p));
  const std::vector<std::array<int, 2>> arrays(1, {me, -me});
  check.equal(comm.allgather(send_buf(arrays)).back()[1], 1 - p);
  const bool flags[2] = {true, me == 0};
  const dynamic_array<bool> all = comm.allgather(send_buf(flags));
  for (int r = 0; r < p; ++r) check.that(all[2 * r] && all[2 * r + 1] == (r == 0));
  check.that(comm.allreduce_single(send_buf(me >= 0), op(std::logical_and<>{})));
}

void usage_errors(const communicator& comm) {
  const int p = comm.size();
  const std::vector<int> v(static_cast<std::size_t>(p), 1);
  std::vector<int> small;
  using error = usage_error;
  check.throws<error>([&] { comm.allgather(send_buf(v), recv_buf(small)); },
                      {"allgather on rank", "recv_buf", "0"});
  check.throws<error>([&] { comm.allgather(send_buf(v), send_count(p + 1)); }, {"allgather", "send_count"});
  check.throws<error>([&] { comm.allgather(send_buf(v), send_count(-1)); },
                      {"allgather", "send_count", "negative"});
  check.throws<error>([&] { comm.bcast(send_recv_buf(small), root(p)); }, {"bcast", "root"});
  check.throws<error>([&] { comm.gather(send_buf(v), root(-1)); }, {"gather", "root"});
  check.throws<error>([&] { comm.reduce(send_buf(v), op(std::plus<>{}), root(p)); }, {"reduce", "root"});
  check.throws<error>([&] { comm.allreduce(send_buf(v), op(std::plus<>{}), recv_buf(small)); },
                      {"allreduce", "recv_buf"});
  check.throws<error>([&] { comm.allreduce_single(send_buf(std::vector<int>(2)), op(std::plus<>{})); },
                      {"allreduce_single", "send_buf"});
  check.throws<error>([&] { auto r = comm.iallgather(send_buf(v), recv_buf(small)); },
                      {"iallgather", "recv_buf"});
  if (p > 1) {
    const std::vector<int> uneven(static_cast<std::size_t>(p + 1));
    check.throws<error>([&] { comm.alltoall(send_buf(uneven)); }, {"alltoall", "send_buf", "blocks"});
    check.throws<error>([&] { comm.alltoall(send_recv_buf(small = uneven)); }, {"alltoall", "send_recv_buf"});
    // Only the root sees this error. The other ranks learn of it in the exchange of the count.
    if (comm.is_root())
      check.throws<error>([&] { comm.scatter(send_buf(uneven)); }, {"scatter", "send_buf"});
    else
      check.throws<peer_error>([&] { comm.scatter<int>(); }, {"scatter", "rank 0"});
    if (comm.is_root())
      check.throws<error>([&] { comm.scatter<int>(); }, {"scatter", "send_buf", "missing"});
    else
      check.throws<peer_error>([&] { comm.scatter<int>(); }, {"scatter", "rank 0"});
    if (comm.is_root())
      check.throws<error>([&] { comm.bcast<int>(); }, {"bcast", "send_recv_buf", "missing"});
    else
      check.throws<peer_error>([&] { comm.bcast<int>(); }, {"bcast", "rank 0"});
  }
  // The communicator is still usable.
  check.equal(comm.allgather(send_buf(1)), std::vector<int>(static_cast<std::size_t>(p), 1));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    for (int n : {0, 1, 5, 300}) {
      const std::string count = "/count_" + std::to_string(n);
      for (int q : {0, comm.size() - 1}) {
        const std::string at = "/root_" + std::to_string(q) + count;
        cases("bcast" + at, [&] { bcast(comm, q, n); });
        cases("gathers" + at, [&] { gathers(comm, q, n); });
        cases("scatters" + at, [&] { scatters(comm, q, n); });
      }
      cases("alltoalls" + count, [&] { alltoalls(comm, n); });
    }
    cases("types", [&] { types(comm); });
    cases("usage_errors", [&] { usage_errors(comm); });
    cases("barriers", [&] {
      comm.barrier();
      comm.ibarrier().wait();
      auto barrier = comm.barrier_init();
      for (int i = 0; i < 3; ++i) barrier.start(), barrier.wait();
    });
  });
}
