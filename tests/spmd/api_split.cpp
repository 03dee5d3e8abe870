// SPDX-License-Identifier: Apache-2.0
//
// Tests communicators over parts of the ranks: by color and key, by shared memory, and parts of
// parts. Their collectives run beside those of the whole.
#include <algorithm>
#include <numeric>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

// Checks all that a communicator of these ranks of the world, in this order, reports.
void check_part(const communicator& world, const communicator& part, const ints& members) {
  check.equal(part.size(), static_cast<int>(members.size()));
  check.equal(members[static_cast<std::size_t>(part.rank())], world.rank());
  check.equal(part.allgather(send_buf(world.rank())), members);
  check.equal(part.allreduce_single(send_buf(world.rank()), op(std::plus<>{})),
              std::accumulate(members.begin(), members.end(), 0));
  for (int q = 0; q < part.size(); ++q) {
    int x = world.rank();
    part.bcast(send_recv_buf(x), root(q));
    check.equal(x, members[static_cast<std::size_t>(q)]);
  }
  ints row(members.size());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = 1000 * world.rank() + members[i];
  const ints column = part.alltoall(send_buf(row));
  for (std::size_t i = 0; i < column.size(); ++i) check.equal(column[i], 1000 * members[i] + world.rank());
  const auto before = part.exscan_single(send_buf(1), op(std::plus<>{}));
  check.equal(before, part.rank());
}

ints every(int p, int first, int stride) {
  ints all;
  for (int r = first; r < p; r += stride) all.push_back(r);
  return all;
}

void by_color_and_key(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int colors = 1; colors <= std::min(p, 4); ++colors) {
    const auto part = world.split(me % colors);
    ints members = every(p, me % colors, colors);
    check.that(part.has_value(), "every color has a part");
    check_part(world, *part, members);
    const auto back = world.split(me % colors, -me);  // in reverse order
    std::reverse(members.begin(), members.end());
    check_part(world, *back, members);
    const auto mixed = world.split(me % colors, me % 3);  // neither a range, nor sorted by rank
    std::stable_sort(members.begin(), members.end(),
                     [](int a, int b) { return a % 3 != b % 3 ? a % 3 < b % 3 : a < b; });
    check_part(world, *mixed, members);
  }
}

void undefined_color(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto part = world.split(me == 0 ? -1 : 7);
  check.equal(part.has_value(), me != 0);
  if (part) check_part(world, *part, every(p, 1, 1));
  check.that(!world.split(-5).has_value(), "nobody is in a part");
}

void parts_of_parts(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto half = world.split(me % 2, -me);
  ints members = every(p, me % 2, 2);
  std::reverse(members.begin(), members.end());
  const auto quarter = half->split(half->rank() % 2);
  ints some;
  for (std::size_t i = static_cast<std::size_t>(half->rank() % 2); i < members.size(); i += 2)
    some.push_back(members[i]);
  check_part(world, *quarter, some);
  check_part(world, half->duplicate(), members);
}

// Calls in progress on the whole and on two overlapping parts at the same time.
void concurrent_calls(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto rows = world.split(me / 2), columns = world.split(me % 2);
  auto of_world = world.iallreduce_single(send_buf(me), op(std::plus<>{}));
  auto row = rows->iallgather(send_buf(me));
  auto column = columns->iallgather(send_buf(me));
  ints pair = {me / 2 * 2};
  if (pair[0] + 1 < p) pair.push_back(pair[0] + 1);
  check.equal(column.wait(), every(p, me % 2, 2));
  check.equal(row.wait(), pair);
  check.equal(of_world.wait(), p * (p - 1) / 2);
}

void shared_memory(const communicator& world) {
  const communicator node = world.split_to_shared_memory();
  const ints members = node.allgather(send_buf(world.rank()));
  check_part(world, node, members);
  check.that(std::is_sorted(members.begin(), members.end()), "in the order of ranks");
  const int nodes = world.allreduce_single(send_buf(node.rank() == 0 ? 1 : 0), op(std::plus<>{}));
  check.that(nodes >= 1 && nodes <= world.size(), "every node has a first rank");
}

void refused(const communicator& world) {
  communicator freed = world.duplicate();
  freed.free();
  check.throws<usage_error>([&] { (void)freed.split(0); }, {"split", "freed"});
  check.throws<usage_error>([&] { (void)freed.split_to_shared_memory(); },
                            {"split_to_shared_memory", "freed"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("by_color_and_key", [&] { by_color_and_key(world); });
    cases("undefined_color", [&] { undefined_color(world); });
    cases("parts_of_parts", [&] { parts_of_parts(world); });
    cases("concurrent_calls", [&] { concurrent_calls(world); });
    cases("shared_memory", [&] { shared_memory(world); });
    cases("refused", [&] { refused(world); });
  });
}
