// SPDX-License-Identifier: Apache-2.0
//
// Tests scans in both directions at once, in rank order, and two groups that are made separately
// and joined by their leaders.
#include <numeric>
#include <vector>

#include <tutti/double_exscan.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

// x -> a x + b: the composition of two such functions is not commutative.
struct affine {
  unsigned a, b;
  friend affine operator*(const affine& f, const affine& g) { return {f.a * g.a, f.b * g.a + g.b}; }
  bool operator==(const affine&) const = default;
};
affine of_rank(int r, std::size_t i) {
  return {static_cast<unsigned>(2 * r + 3), static_cast<unsigned>(r * r + 7 * i)};
}

affine product(int first, int last, std::size_t i) {
  affine all = of_rank(first, i);
  for (int r = first + 1; r < last; ++r) all = all * of_rank(r, i);
  return all;
}

void in_both_directions(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  for (const std::size_t n : {0, 1, 3, 2000}) {
    std::vector<affine> mine(n);
    for (std::size_t i = 0; i < n; ++i) mine[i] = of_rank(me, i);
    const auto [left, right] = comm.double_exscan(
        send_buf(mine), op([](const affine& f, const affine& g) { return f * g; }, ops::non_commutative));
    check.equal(left.size(), me == 0 ? 0 : n);
    check.equal(right.size(), me == p - 1 ? 0 : n);
    for (std::size_t i = 0; i < left.size(); ++i) check.that(left[i] == product(0, me, i));
    for (std::size_t i = 0; i < right.size(); ++i) check.that(right[i] == product(me + 1, p, i));
  }
  const auto [fewer, more] = comm.double_exscan(op(std::plus<>{}), send_buf(1));
  check.equal(std::accumulate(fewer.begin(), fewer.end(), 0), me);
  check.equal(std::accumulate(more.begin(), more.end(), 0), p - 1 - me);
  const auto [before, behind] = comm.double_exscan(send_buf(me == 0), op(std::logical_or<>{}));
  check.that(before.empty() ? me == 0 : before[0]);
  check.that(behind.empty() ? me == p - 1 : !behind[0]);
}

void of_groups(const communicator& world) {
  const int p = world.size(), me = world.rank();
  in_both_directions(world);
  in_both_directions(me < p / 2 ? world.range(0, p / 2 - 1) : world.range(p - 1, p / 2, -1));
  communicator gone = world.duplicate();
  gone.free();
  check.throws<usage_error>([&] { (void)gone.double_exscan(send_buf(1), op(std::plus<>{})); },
                            {"double_exscan", "freed"});
}

// Ranks [0, low) and [low, low + high), in either order, the second group in reverse. The other
// ranks take no part.
void two_groups(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int low = 1; low < p; ++low)
    for (const int high : {1, p - low}) {
      if (me >= low + high) continue;
      const bool first = me < low;
      const communicator mine = first ? world.range(0, low - 1) : world.range(low + high - 1, low, -1);
      const intercommunicator both = world.inter(mine, first ? low + high - 1 : 0);
      check.equal(both.in_first_group(), first);
      check.equal(both.local_rank(), mine.rank());
      check.equal(both.local_size(), first ? low : high);
      check.equal(both.remote_size(), first ? high : low);
      ints others;
      for (int i = 0; i < (first ? high : low); ++i) others.push_back(first ? low + high - 1 - i : i);
      check.equal(both.allgather(send_buf(me)), others);
      const int sum = std::accumulate(others.begin(), others.end(), 0);
      check.equal(both.allreduce(send_buf(me), op(std::plus<>{})), ints{sum});
      ints row;
      for (const int r : others) row.push_back(100 * me + r);
      ints column;
      for (const int r : others) column.push_back(100 * r + me);
      check.equal(both.alltoall(send_buf(row)), column);
      for (int q = 0; q < low + high; ++q) {
        int x = both.rank() == q ? 55 + q : -1;
        const bool there = (q < low) != first;
        both.bcast(send_recv_buf(x), root(q), send_recv_count(1));
        check.equal(x, there || both.rank() == q ? 55 + q : -1);
        const auto all = both.gather(send_buf(me), root(q));
        check.equal(all, both.rank() == q ? others : ints{});
      }
      auto begun = both.iallgather(send_buf(-me));
      both.barrier();
      for (int& r : others) r = -r;
      check.equal(begun.wait(), others);
    }
  world.barrier();
  if (p < 2) return;
  check.throws<usage_error>([&] { world.inter(world.range(me, me), p); }, {"inter", "remote_leader"});
  communicator gone = world.range(0, p - 1);
  gone.free();
  check.throws<usage_error>([&] { gone.inter(world, 0); }, {"inter", "freed"});
  check.throws<usage_error>([&] { world.inter(gone, 0); }, {"inter", "freed"});
  // The same group twice.
  if (me == 0)
    check.throws<usage_error>([&] { world.inter(world.range(0, 0), 0); },
                              {"inter", "also in the other group"});
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("of_groups", [&] { of_groups(world); });
    cases("two_groups", [&] { two_groups(world); });
  });
}
