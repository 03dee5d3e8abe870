// SPDX-License-Identifier: Apache-2.0
//
// Tests that the ranks that received zeros in place of a rank's data throw peer_error in their next
// call: if the communicator is a structure or a grid, and if the next call is one of a front end or
// a sort.
#include <algorithm>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "support/group_kinds.hpp"
#include "support/program.hpp"
#include "support/rejected_bcast.hpp"
#include "tutti/bsp.hpp"
#include "tutti/grid.hpp"
#include "tutti/reproducible.hpp"
#include "tutti/sort.hpp"
#include "tutti/tasks.hpp"

using namespace tutti;
using namespace tests;

namespace {

// The rejecting rank does not know the ranks whose results depend on its zeros.
void on_structures(communicator& world) {
  const int p = world.size(), me = world.rank(), q = p / 2;
  const std::string who = "rank " + std::to_string(q) + " rejected";
  for (const std::string_view kind : group_kinds) {
    const communicator group = of_kind(world, kind);
    reject_bcast(group, q);
    if (me != q) check.throws<peer_error>([&] { world.barrier(); }, {"barrier", who.c_str(), "bcast"});
    expect_usable(world);
    // A scan reaches the higher ranks, a gather the root.
    const auto scan = [&] {
      (void)group.scan(send_buf(ints(me == q ? 1 : 2)), send_count(2), op(std::plus<>{}));
    };
    const auto gather = [&] { (void)group.gather(send_buf(ints(me == q ? 1 : 2)), send_count(2), root(0)); };
    if (me == q)
      check.throws<usage_error>(scan, {"scan", "send_count"});
    else
      scan();
    if (me > q)
      check.throws<peer_error>([&] { group.barrier(); }, {who.c_str(), "scan"});
    else
      check.that(!world.iprobe());
    group.barrier();
    if (me == q)
      check.throws<usage_error>(gather, {"gather", "send_count"});
    else
      gather();
    if (me == 0 && q != 0)
      check.throws<peer_error>([&] { group.barrier(); }, {who.c_str(), "gather"});
    else
      check.that(!world.iprobe());
    expect_usable(world);
    {
      const communicator gone = of_kind(world, kind);
      reject_bcast(gone, 0);
    }
    if (me != 0) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected", "bcast"});
    expect_usable(world);
  }
  // Ranks outside of the structure learn nothing of it.
  const communicator half = *world.split(me % 2);
  if (me % 2 == 0) {
    const communicator part = half.over(chain(half));
    reject_bcast(part, 0);
    if (part.rank() != 0) check.throws<peer_error>([&] { part.barrier(); }, {"rank 0 rejected"});
    part.barrier();
  } else {
    for (int i = 0; i < 10; ++i) check.that(!world.iprobe());
  }
  world.barrier();
  check.that(!world.iprobe());
  expect_usable(world);
}

// A container that cannot become longer.
template <class T>
struct full_allocator {
  using value_type = T;
  full_allocator() = default;
  template <class U>
  full_allocator(const full_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    if (n > 2) throw std::bad_alloc();
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) noexcept { std::allocator<T>().deallocate(p, n); }
  friend bool operator==(const full_allocator&, const full_allocator&) = default;
};

void on_a_grid(communicator& world) {
  const int p = world.size(), me = world.rank(), q = p - 1;
  if (p < 3) return;  // a buffer of two elements is long enough
  const grid_communicator grid(world);
  for (int round = 0; round < 3; ++round) {
    bool rejected = false;
    try {
      if (me == q) {
        std::vector<int, full_allocator<int>> v(1, me);
        grid.alltoallv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(at(p), 1)));
      } else {
        ints v(at(p), me);
        grid.alltoallv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(at(p), 1)));
        check.equal(v[at(q)], 0);
      }
    } catch (const std::bad_alloc&) {
      rejected = true;
    }
    check.equal(rejected, me == q);
    const std::string who = "rank " + std::to_string(q) + " rejected";
    if (me != q) check.throws<peer_error>([&] { world.barrier(); }, {who.c_str()});
    check.equal(grid.allreduce_single(send_buf(1), op(std::plus<>{})), p);
    check.equal(grid.alltoallv(send_buf(ints(at(p), 1)), send_counts(ints(at(p), 1))), ints(at(p), 1));
  }
  expect_usable(world);
}

void in_tasks(communicator& world) {
  const int p = world.size(), me = world.rank(), q = p / 2;
  tasks::runtime rt(world);
  int x = 0, inserted = 0, sent = me, received = -1;
  auto h = me == 0 ? rt.data(x, 0) : rt.data<int>(0);
  std::vector<tasks::handle<int>> all;
  for (int r = 0; r < p; ++r) all.push_back(r == me ? rt.data(sent, r) : rt.data<int>(r));
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"insert",
       [&] {
         rt.insert([](int& y) { ++y; }, tasks::read_write(h));
         ++inserted;
       }},
      {"fetch", [&] { rt.fetch(h, p - 1); }},
      {"flush", [&] { rt.flush(h); }},
      {"barrier", [&] { rt.barrier(); }},
      {"progress", [&] { rt.progress(); }},
      {"unlock", [&] { rt.unlock(7); }},
      {"wait_all", [&] { rt.wait_all(); }},
  };
  const std::string who = "rank " + std::to_string(q) + " rejected";
  for (const auto& [name, call] : calls) {
    reject_bcast(world, q);
    if (me != q) check.throws<peer_error>(call, {name, who.c_str(), "bcast"});
    call();
  }
  check.that(me != 0 || x == inserted);
  // The request of a transfer still holds it.
  if (p > 1) {
    auto into = rt.data(received, me, tasks::with_tag(1000 + me));
    auto coming = rt.irecv(into, (me + p - 1) % p, 3);
    reject_bcast(world, q);
    if (me != q) check.throws<peer_error>([&] { coming.wait(); }, {who.c_str(), "bcast"});
    reject_bcast(world, q);
    if (me != q) check.throws<peer_error>([&] { (void)coming.test(); }, {who.c_str(), "bcast"});
    auto going = rt.isend(all[at(me)], (me + 1) % p, 3);
    coming.wait();
    going.wait();
    check.equal(received, (me + p - 1) % p);
  }
  rt.wait_all();
  expect_usable(world);
}

void in_supersteps(communicator& world) {
  const int me = world.rank();
  {
    bsp::context all(world);
    reject_bcast(world, 0);
    if (me != 0) check.throws<peer_error>([&] { all.sync(); }, {"sync", "rank 0 rejected", "bcast"});
    all.sync();
    expect_usable(world);
  }
  reject_bcast(world, 0);
  if (me != 0) check.throws<peer_error>([&] { bsp::context all(world); }, {"rank 0 rejected", "bcast"});
  bsp::context all(world);
  all.sync();
  expect_usable(world);
}

// The rejection arrives between the steps of a call of several steps: the other ranks have begun it
// when rank 0 rejects. The call completes, and the next one throws.
void between_steps(communicator& world) {
  const int p = world.size(), me = world.rank();
  ints keys;
  const std::vector<std::function<void()>> calls = {
      [&] { sort_globally(world, keys); },
      [&] { stable_sort_globally(world, keys); },
      [&] { check.that(is_globally_sorted(world, ints(2, me))); },
      [&] {
        const double sum = reproducible_allreduce(world, send_buf({0.5, 1.5}), op(std::plus<>{}));
        check.equal(sum, 2.0 * p);
      },
      [&] {
        const grid_communicator grid(world);
        check.equal(grid.size(), p);
      },
  };
  for (const auto& call : calls) {
    for (int round = 0; round < 5; ++round) {
      keys = {p - me, me, 2 * p - me};
      ints v(me == 0 ? 2 : 3, 4);
      const auto bcast = [&] { return world.ibcast(send_recv_buf(v), send_recv_count(3)); };
      if (me == 0) {
        for (int r = 1; r < p; ++r) (void)world.recv<int>(source(r));
        check.throws<usage_error>([&] { bcast().wait(); }, {"ibcast", "send_recv_count"});
        call();
      } else {
        auto under_way = bcast();
        world.bsend(send_buf(me), destination(0));
        // Rank 0 may be so fast that the rejection arrives before the first step.
        bool threw = false;
        try {
          call();
        } catch (const peer_error&) {
          threw = true;
        }
        if (threw) call();
        under_way.wait();
        if (!threw) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected", "ibcast"});
      }
      expect_usable(world);
      check.equal(world.allreduce_single(send_buf(keys.size()), op(std::plus<>{})), 3 * at(p));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("on_structures", [&] { on_structures(world); });
    cases("on_a_grid", [&] { on_a_grid(world); });
    cases("in_tasks", [&] { in_tasks(world); });
    cases("in_supersteps", [&] { in_supersteps(world); });
    cases("between_steps", [&] { between_steps(world); });
  });
}
