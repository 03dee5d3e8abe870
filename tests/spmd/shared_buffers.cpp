// SPDX-License-Identifier: Apache-2.0
//
// Tests containers with tutti::shared_allocator: their memory is that which other processes can
// map, and every front end accepts them as buffers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "support/shared_memory_file.hpp"
#include "tutti/bsp.hpp"
#include "tutti/same.hpp"
#include "tutti/sort.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

template <class T>
using shared_vector = std::vector<T, shared_allocator<T>>;

struct alignas(256) aligned {
  char bytes[256];
};

void allocation() {
  shared_vector<char> small(3);
  shared_vector<double> large(100000, 1.5);
  shared_vector<aligned> lines(5);
  check.that(tests::is_in_shared_memory(small.data()));
  check.that(tests::is_in_shared_memory(large.data()));
  check.that(tests::is_in_shared_memory(lines.data()));
  check.that(!tests::is_in_shared_memory(&small));
  check.equal(reinterpret_cast<std::uintptr_t>(lines.data()) % alignof(aligned), std::uintptr_t{0});
  check.equal(std::count(large.begin(), large.end(), 1.5), 100000);
  large.resize(300000, 2.5);
  check.equal(std::count(large.begin(), large.end(), 1.5), 100000);
  check.equal(std::count(large.begin(), large.end(), 2.5), 200000);

  const double* const storage = large.data();
  shared_vector<double> moved;
  moved = std::move(large);
  check.that(moved.data() == storage);
  static_assert(std::allocator_traits<shared_allocator<int>>::is_always_equal::value);
  check.that(shared_allocator<int>() == shared_allocator<char>());
  const std::list<int, shared_allocator<int>> rebound(10, 4);  // allocates nodes
  check.equal(std::accumulate(rebound.begin(), rebound.end(), 0), 40);

  bool too_long = false, no_memory = false;
  try {
    static_cast<void>(shared_allocator<double>().allocate(~std::size_t{0} / 4));
  } catch (const std::bad_array_new_length&) {
    too_long = true;
  }
  try {
    static_cast<void>(shared_allocator<char>().allocate(~std::size_t{0} / 4));
  } catch (const std::bad_array_new_length&) {
  } catch (const std::bad_alloc&) {
    no_memory = true;
  }
  check.that(too_long);
  check.that(no_memory);
}

void in_collectives(communicator& world) {
  const int p = world.size(), me = world.rank();
  for (const std::size_t n : {std::size_t{1}, std::size_t{500}, std::size_t{60000}}) {
    shared_vector<int> mine(n), sum(n), all;
    std::iota(mine.begin(), mine.end(), me);
    world.allreduce(send_buf(mine), recv_buf(sum), op(ops::plus<>{}));
    for (std::size_t i = 0; i < n; ++i) check.equal(sum[i], p * static_cast<int>(i) + p * (p - 1) / 2);
    world.allgather(send_buf(mine), recv_buf<resize_to_fit>(all));
    check.equal(all.size(), n * static_cast<std::size_t>(p));
    check.equal(all[n * static_cast<std::size_t>(p - 1)], p - 1);
    world.bcast(send_recv_buf(mine), root(p - 1));
    check.equal(mine[0], p - 1);
    std::ranges::fill(mine, me + 1);
    world.allreduce(send_recv_buf(mine), op(ops::max<>{}));
    check.equal(mine.back(), p);
  }
  shared_vector<int> items(static_cast<std::size_t>(p), me), counts(items.size(), 1);
  const auto received = world.alltoallv(send_buf(items), send_counts(counts), recv_buf<shared_vector<int>>());
  static_assert(std::is_same_v<std::remove_const_t<decltype(received)>, shared_vector<int>>);
  for (int k = 0; k < p; ++k) check.equal(received[static_cast<std::size_t>(k)], k);
  auto request = world.iallgather(send_buf(shared_vector<int>{me}), recv_buf<shared_vector<int>>());
  check.equal(request.wait().back(), p - 1);
}

void in_messages(communicator& world) {
  const int p = world.size(), me = world.rank();
  shared_vector<int> sent(5000, me), received(5000);
  auto sending = world.isend(send_buf(sent), destination((me + 1) % p));
  world.recv(recv_buf(received), source((me + p - 1) % p));
  sending.wait();
  check.equal(received[4999], (me + p - 1) % p);
}

void in_toolkit(communicator& world) {
  shared_vector<int> v;
  for (int i = 0; i < 500; ++i) v.push_back((i * 37 + world.rank() * 11) % 101);
  sort_globally(world, v);
  check.that(is_globally_sorted(world, v));
  stable_sort_globally(world, v, std::greater<>{});
  check.that(is_globally_sorted(world, v, std::greater<>{}));
  check.equal(world.allreduce_single(send_buf(v.size()), op(ops::plus<>{})),
              500 * static_cast<std::size_t>(world.size()));
  check.that(is_same_on_all_ranks(world, shared_vector<int>{1, 2}));
}

void in_supersteps(communicator& world) {
  bsp::context ctx(world);
  const int p = ctx.nprocs(), me = ctx.pid();
  shared_vector<int> received(static_cast<std::size_t>(p), -1), sent{me};
  auto slot = ctx.registered(received);
  ctx.sync();
  for (int k = 0; k < p; ++k) ctx.put(sent, k, slot, static_cast<std::size_t>(me));
  ctx.sync();
  for (int k = 0; k < p; ++k) check.equal(received[static_cast<std::size_t>(k)], k);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("allocation", [&] { allocation(); });
    cases("collectives", [&] { in_collectives(world); });
    cases("messages", [&] { in_messages(world); });
    cases("toolkit", [&] { in_toolkit(world); });
    cases("supersteps", [&] { in_supersteps(world); });
  });
}
