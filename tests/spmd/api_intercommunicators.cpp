// SPDX-License-Identifier: Apache-2.0
//
// Tests collectives between two groups, for every split of a few ranks.
#include "support/affine.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::affine;
using tests::check;
using tests::compose;

namespace {

affine of(int rank, std::size_t i) {
  return {2 * static_cast<unsigned>(rank) + 3, static_cast<unsigned>(i) + 1};
}

void all_collectives(communicator& world, int first, std::size_t n) {
  const auto c = world.between(first);
  const int me = c.rank(), p = c.size(), remote = c.remote_size();
  // The ranks of the other group.
  const int from = c.in_first_group() ? first : 0, to = c.in_first_group() ? p : first;
  check.equal(c.local_size() + remote, p);
  check.equal(c.local_rank(), c.in_first_group() ? me : me - first);
  const auto combined = [&](std::size_t i) {
    affine all = of(from, i);
    for (int r = from + 1; r < to; ++r) all = compose(all, of(r, i));
    return all;
  };
  std::vector<affine> mine(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) mine[i] = of(me, i), expected[i] = combined(i);

  c.barrier();
  c.ibarrier().wait();

  check.equal(c.allreduce(send_buf(mine), op(compose)), expected);
  check.equal(c.iallreduce(send_buf(mine), op(compose)).wait(), expected);
  auto plan = c.allreduce_init(send_buf(mine), op(compose));
  for (int i = 0; i < 2; ++i) plan.start(), check.equal(plan.wait(), expected);

  // One vector for the local group, of the same length in both groups.
  const std::size_t total = static_cast<std::size_t>(c.local_size() * remote) * n;
  const std::size_t block = total / static_cast<std::size_t>(c.local_size());
  std::vector<affine> operand(total), part(block);
  for (std::size_t i = 0; i < total; ++i) operand[i] = of(me, i);
  for (std::size_t i = 0; i < block; ++i)
    part[i] = combined(static_cast<std::size_t>(c.local_rank()) * block + i);
  check.equal(c.reduce_scatter_block(send_buf(operand), op(compose)), part);
  check.equal(c.reduce_scatter(
                  send_buf(operand), op(compose),
                  recv_counts(std::vector<std::size_t>(static_cast<std::size_t>(c.local_size()), block))),
              part);

  std::vector<int> blocks, uneven;
  for (int r = from; r < to; ++r) {
    blocks.insert(blocks.end(), n, r);
    uneven.insert(uneven.end(), static_cast<std::size_t>(r) % 3, r);
  }
  const std::vector<int> same(n, me), some(static_cast<std::size_t>(me) % 3, me);
  check.equal(c.allgather(send_buf(same)), blocks);
  check.equal(c.iallgather(send_buf(same)).wait(), blocks);
  check.equal(c.allgatherv(send_buf(some)), uneven);

  std::vector<int> sent, received, sends;
  for (int r = from; r < to; ++r) {
    sent.insert(sent.end(), n, me * 100 + r);
    received.insert(received.end(), n, r * 100 + me);
  }
  check.equal(c.alltoall(send_buf(sent)), received);
  sent.clear(), received.clear();
  for (int r = from; r < to; ++r) {
    sends.push_back((me + 2 * r) % 3);
    sent.insert(sent.end(), static_cast<std::size_t>(sends.back()), me * 100 + r);
    received.insert(received.end(), static_cast<std::size_t>((r + 2 * me) % 3), r * 100 + me);
  }
  check.equal(c.alltoallv(send_buf(sent), send_counts(sends)), received);

  for (int q = 0; q < p; ++q) {
    const bool beside = (q < first) == (me < first), at_root = me == q;
    std::vector<int> v;
    if (at_root) v = same;
    c.bcast(send_recv_buf<resize_to_fit>(v), root(q));
    check.equal(v, beside && !at_root ? std::vector<int>() : std::vector<int>(n, q));
    check.equal(c.reduce(send_buf(mine), op(compose), root(q)), at_root ? expected : std::vector<affine>());
    check.equal(c.gather(send_buf(same), root(q)), at_root ? blocks : std::vector<int>());
    check.equal(c.gatherv(send_buf(some), root(q)), at_root ? uneven : std::vector<int>());
    std::vector<int> pieces, counts;
    if (at_root)
      for (int r = from; r < to; ++r) pieces.insert(pieces.end(), n, r + q);
    check.equal(c.scatter(send_buf(pieces), root(q)),
                beside ? std::vector<int>() : std::vector<int>(n, me + q));
    pieces.clear();
    if (at_root)
      for (int r = from; r < to; ++r) {
        counts.push_back(r % 4);
        pieces.insert(pieces.end(), static_cast<std::size_t>(r % 4), r + q);
      }
    check.equal(c.scatterv(send_buf(pieces), send_counts(counts), root(q)),
                beside ? std::vector<int>() : std::vector<int>(static_cast<std::size_t>(me % 4), me + q));
  }
  check.equal(c.duplicate().allgather(send_buf(same)), blocks);
}

void usage_errors(communicator& world) {
  check.throws<usage_error>([&] { (void)world.between(0); }, {"between", "first", "0"});
  check.throws<usage_error>([&] { (void)world.between(world.size()); }, {"between", "first"});
  if (world.size() == 1) return;
  const auto pair = world.between(1);
  std::vector<int> v(static_cast<std::size_t>(pair.remote_size()));
  check.throws<usage_error>([&] { pair.allreduce(send_recv_buf(v), op(std::plus<>{})); },
                            {"send_recv_buf", "groups"});
  check.throws<usage_error>(
      [&] { (void)pair.alltoallv(send_buf(v), send_counts(std::vector<int>(v.size() + 1))); },
      {"send_counts"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("usage_errors", [&] { usage_errors(world); });
    const int step = world.size() > 9 ? world.size() / 3 : 1;
    for (int first = 1; first < world.size(); first += step)
      for (const std::size_t n : {0u, 1u, 5u})
        cases("all_collectives/first_" + std::to_string(first) + "/count_" + std::to_string(n),
              [&] { all_collectives(world, first, n); });
  });
}
