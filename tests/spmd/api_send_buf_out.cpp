// SPDX-License-Identifier: Apache-2.0
//
// Tests send_buf_out(std::move(v)): every kind of call returns the sent buffer in its original
// storage. Also tests that each part of a result can be extracted once.
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

// A vector and the address of its elements.
struct moved {
  ints v;
  const int* at;
  explicit moved(ints values) : v(std::move(values)), at(v.data()) {}
  void is(const ints& back, const ints& values) const {
    check.equal(back, values);
    check.that(back.data() == at);
  }
};

ints numbers(int first, int n) {
  ints v;
  for (int i = 0; i < n; ++i) v.push_back(first + i);
  return v;
}

void in_messages(const communicator& world) {
  const int p = world.size(), me = world.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const ints mine = numbers(10 * me, 5), theirs = numbers(10 * left, 5);
  auto coming = world.irecv<int>(source(left));
  moved m(mine);
  m.is(world.send(send_buf_out(std::move(m.v)), destination(right)), mine);
  check.equal(coming.wait(), theirs);

  moved later(mine);
  auto sent = world.isend(send_buf_out(std::move(later.v)), destination(right), send_count(3));
  check.equal(world.recv<int>(source(left)), numbers(10 * left, 3));
  later.is(sent.wait(), mine);

  moved both(mine);
  auto [got, back] = world.sendrecv<int>(send_buf_out(std::move(both.v)), destination(right), source(left));
  check.equal(got, theirs);
  both.is(back, mine);

  moved again(mine);
  auto plan = world.bsend_init(send_buf_out(std::move(again.v)), destination(right));
  for (int i = 0; i < 2; ++i) {
    plan.start();
    check.equal(world.recv<int>(source(left)), theirs);
    again.is(plan.wait(), mine);
  }
}

void in_collectives(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const ints mine = numbers(me, 2);
  ints all, sums;
  for (int r = 0; r < p; ++r) all.insert(all.end(), {r, r + 1});
  sums = {p * (p - 1) / 2, p * (p + 1) / 2};
  {
    moved m(mine);
    auto result = world.allgatherv(recv_counts_out(), send_buf_out(std::move(m.v)));
    m.is(result.extract_send_buf(), mine);
    check.equal(result.extract_recv_counts(), ints(static_cast<std::size_t>(p), 2));
    check.equal(result.extract_recv_buf(), all);
  }
  {
    moved m(mine);
    ints into(all.size());
    m.is(world.allgather(send_buf_out(std::move(m.v)), recv_buf(into)), mine);
    check.equal(into, all);
  }
  {
    moved m(mine);
    auto [back, sum] =
        world.iallreduce(send_buf_out(std::move(m.v)), recv_buf_out(), op(std::plus<>{})).wait();
    m.is(back, mine);
    check.equal(sum, sums);
  }
  {
    moved m({me});
    auto [sum, back] = world.allreduce_single(send_buf_out(std::move(m.v)), op(std::plus<>{}));
    check.equal(sum, sums[0]);
    m.is(back, {me});
  }
  {
    moved m(all);  // only the root's elements are used
    auto [part, back] = world.scatter(send_buf_out(std::move(m.v)));
    check.equal(part, mine);
    m.is(back, all);
  }
  {
    moved m(mine);
    auto plan = world.allgather_init(send_buf_out(std::move(m.v)));
    for (int i = 0; i < 2; ++i) {
      plan.start();
      auto&& [got, back] = plan.wait();
      check.equal(got, all);
      m.is(back, mine);
    }
  }
}

void extracted_twice(const communicator& world) {
  const int p = world.size();
  auto result = world.allgatherv(send_buf(1), recv_counts_out(), recv_displs_out(), send_count_out());
  const ints ones(static_cast<std::size_t>(p), 1);
  check.equal(result.extract_recv_counts(), ones);
  check.throws<usage_error>([&] { (void)result.extract_recv_counts(); },
                            {"extract_recv_counts", "recv_counts", "already extracted"});
  // The other parts are unchanged, and an integer stays available.
  check.equal(result.extract_recv_buf(), ones);
  check.throws<usage_error>([&] { (void)result.extract_recv_buffer(); }, {"extract_recv_buf"});
  check.equal(result.extract_recv_displs(), numbers(0, p));
  check.equal(result.extract_send_count(), 1);
  check.equal(result.extract_send_count(), 1);

  auto [all, counts] = world.allgatherv(send_buf(1), recv_counts_out());
  check.equal(all, ones);
  check.equal(counts, ones);
  // Assignment gives the result its parts again.
  auto next = world.allgatherv(send_buf(1), recv_counts_out());
  (void)next.extract_recv_counts();
  next = world.allgatherv(send_buf(1), recv_counts_out());
  check.equal(next.extract_recv_counts(), ones);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("messages", [&] { in_messages(world); });
    cases("collectives", [&] { in_collectives(world); });
    cases("extracted_twice", [&] { extracted_twice(world); });
    world.barrier();
  });
}
