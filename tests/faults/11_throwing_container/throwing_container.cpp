// SPDX-License-Identifier: Apache-2.0
//
// Tests that the receive container of one rank throws when it is resized. That rank's call throws
// the same exception. The calls of the others complete with this rank's data, and the next call is
// right, for every collective in every form. In checked mode the other ranks throw.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/grid.hpp"
#include "tutti/serialization.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;
using ints = std::vector<int>;

namespace {

// An allocator that can run out of memory.
template <class T>
struct allocator {
  using value_type = T;
  explicit allocator(bool has_none) noexcept : fails(has_none) {}
  template <class U>
  allocator(const allocator<U>& other) noexcept : fails(other.fails) {}
  T* allocate(std::size_t n) {
    if (fails) throw std::bad_alloc();
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) noexcept { std::allocator<T>().deallocate(p, n); }
  friend bool operator==(const allocator&, const allocator&) = default;
  bool fails;
};
using scarce = std::vector<int, allocator<int>>;

// A container outside the standard library that throws another type, also when it shrinks.
struct refusal {};
struct stubborn {
  using value_type = int;
  ints inside;
  bool fails;
  int* data() { return inside.data(); }
  std::size_t size() const { return inside.size(); }
  void resize(std::size_t n) {
    if (fails) throw refusal();
    inside.resize(n);
  }
};

bool checked_mode() {
  const char* const set = std::getenv("TUTTI_CHECK");
  return set != nullptr && std::string(set) == "1";
}

std::size_t at(int n) { return static_cast<std::size_t>(n); }

struct trial {
  communicator& world;
  int victim;
  int p = world.size(), me = world.rank();
  bool suffers = me == victim;

  // `call(out)` receives into `out`, and `right(out)` checks the result on the other ranks.
  // `tells`: whether the form is compared in checked mode.
  template <class Call, class Right>
  void one(const char* name, bool tells, const Call& call, const Right& right) const {
    scarce out{allocator<int>(suffers)};
    bool threw = false, told = false;
    try {
      call(out);
    } catch (const std::bad_alloc&) {
      threw = true;
    } catch (const peer_error&) {
      told = true;
    }
    check.that(threw == suffers, std::string(name) + ": who threw bad_alloc");
    if (tells && checked_mode())
      check.that(told == !suffers, std::string(name) + ": checked mode tells the others");
    else if (!suffers)
      check.that(!told && right(out), std::string(name) + ": what the others have received");
    check.equal(world.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  }
  // The three forms: `make(mode, out)` makes the call and returns the object to wait for.
  template <class Blocking, class Nonblocking, class Persistent, class Right>
  void forms(const char* name, const Blocking& blocking, const Nonblocking& nonblocking,
             const Persistent& persistent, const Right& right) const {
    one(name, true, blocking, right);
    one((std::string("i") + name).c_str(), true, [&](scarce& out) { nonblocking(out).wait(); }, right);
    one((std::string(name) + "_init").c_str(), false,
        [&](scarce& out) {
          auto plan = persistent(out);
          for (int i = 0; i < 2; ++i) {
            plan.start();
            if (i == 0 && suffers) {
              try {
                plan.wait();
                check.that(false, "the first run of a plan throws, too");
              } catch (const std::bad_alloc&) {
              }
            } else {
              plan.wait();
            }
          }
        },
        right);
  }
};

#define FORMS(NAME, ...)                                                                 \
  t.forms(                                                                               \
      #NAME, [&](scarce& out) { w.NAME(__VA_ARGS__, recv_buf<resize_to_fit>(out)); },    \
      [&](scarce& out) { return w.i##NAME(__VA_ARGS__, recv_buf<resize_to_fit>(out)); }, \
      [&](scarce& out) { return w.NAME##_init(__VA_ARGS__, recv_buf<resize_to_fit>(out)); }, right)

void combined(const trial& t) {
  const communicator& w = t.world;
  const int p = t.p, me = t.me, sum = p * (p - 1) / 2;
  const ints mine(3, me), many(at(3 * p), me);
  const auto plus = op(std::plus<>{});
  const auto all_are = [](int x) {
    return [x](const scarce& out) { return out.size() == 3 && out[0] == x && out[2] == x; };
  };
  {
    const auto right = all_are(sum);
    FORMS(allreduce, send_buf(mine), plus);
    FORMS(reduce_scatter_block, send_buf(many), plus);
    FORMS(reduce_scatter, send_buf(many), plus, recv_counts(ints(at(p), 3)));
  }
  {
    const auto right = all_are(me * (me + 1) / 2);
    FORMS(scan, send_buf(mine), plus);
  }
  {
    const auto right = all_are(me * (me - 1) / 2);
    FORMS(exscan, send_buf(mine), plus);
  }
  const auto right = [&](const scarce& out) { return me == t.victim || out.empty(); };
  FORMS(reduce, send_buf(mine), plus, root(t.victim));
}

void even(const trial& t) {
  const communicator& w = t.world;
  const int p = t.p, me = t.me;
  const ints mine(2, me), many(at(2 * p), me);
  {
    const auto right = [&](const scarce& out) {
      return out.size() == at(2 * p) && out[at(2 * p - 1)] == p - 1;
    };
    FORMS(allgather, send_buf(mine));
    FORMS(alltoall, send_buf(many));
    FORMS(allgatherv, send_buf(mine));
    FORMS(allgatherv, send_buf(mine), recv_counts(ints(at(p), 2)));
    FORMS(alltoallv, send_buf(many), send_counts(ints(at(p), 2)));
    FORMS(alltoallv, send_buf(many), send_counts(ints(at(p), 2)), recv_counts(ints(at(p), 2)));
    const std::vector<layout> types(at(p), layout::contiguous(2 * sizeof(int)));
    const ints ones(at(p), 1);
    FORMS(alltoallw, send_buf(many), send_counts(ones), send_types(types), recv_counts(ones),
          recv_types(types));
  }
  {
    const auto right = [&](const scarce& out) { return out.size() == 2 && out[1] == 0; };
    FORMS(scatter, send_buf(many), root(0));
    FORMS(scatter, send_buf(many), root(0), recv_count(2));
    FORMS(scatterv, send_buf(many), send_counts(ints(at(p), 2)), root(0));
  }
  const auto right = [&](const scarce& out) { return out.empty(); };
  FORMS(gather, send_buf(mine), root(t.victim));
  FORMS(gatherv, send_buf(mine), root(t.victim));
  FORMS(gatherv, send_buf(mine), root(t.victim), recv_counts(ints(at(p), 2)));
}

// A bcast's buffer is input and output. In place, the other ranks get zeros, because the data are
// lost with the container.
void in_place(const trial& t) {
  const communicator& w = t.world;
  const int p = t.p, root_of_it = t.victim == 0 ? p - 1 : 0;
  const auto fill = [&](scarce& v) { v.resize(w.rank() == root_of_it ? 2 : 0, 7); };
  const auto right = [&](const scarce& v) { return v.size() == 2 && v[0] == 7; };
  t.one(
      "bcast", true, [&](scarce& v) { fill(v), w.bcast(send_recv_buf<resize_to_fit>(v), root(root_of_it)); },
      right);
  t.one(
      "ibcast", true,
      [&](scarce& v) { fill(v), w.ibcast(send_recv_buf<resize_to_fit>(v), root(root_of_it)).wait(); }, right);
  const auto long_enough = [&](const scarce& v) { return v.size() == at(p); };
  t.one(
      "allgatherv in place", true,
      [&](scarce& v) { w.allgatherv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(at(p), 1))); },
      long_enough);
  t.one(
      "alltoallv in place", true,
      [&](scarce& v) { w.ialltoallv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(at(p), 1))).wait(); },
      long_enough);
  t.one(
      "allgather in place", true,
      [&](scarce& v) { w.allgather(send_recv_buf<resize_to_fit>(v), send_count(1)); }, long_enough);
}

// Output lists, and exceptions that do not come from allocators.
void lists_and_others(const trial& t) {
  const communicator& w = t.world;
  const int p = t.p, me = t.me;
  const ints mine(2, me), many(at(2 * p), me);
  const auto counted = [&](const scarce& counts) { return counts.size() == at(p) && counts[0] == 2; };
  t.one(
      "allgatherv, recv_counts_out", true,
      [&](scarce& c) { w.allgatherv(send_buf(mine), recv_counts_out<resize_to_fit>(c)); }, counted);
  t.one(
      "ialltoallv, recv_counts_out", true,
      [&](scarce& c) {
        w.ialltoallv(send_buf(many), send_counts(ints(at(p), 2)), recv_counts_out<resize_to_fit>(c)).wait();
      },
      counted);
  for (int round = 0; round < 2; ++round) {
    stubborn out{ints(1), t.suffers};
    bool threw = false, told = false;
    try {
      if (round == 0)
        w.allreduce(send_buf(mine), recv_buf<resize_to_fit>(out), op(ops::max<>{}));
      else
        w.iallreduce(send_buf(mine), recv_buf<resize_to_fit>(out), op(ops::max<>{})).wait();
    } catch (const refusal&) {
      threw = true;
    } catch (const peer_error&) {
      told = true;
    }
    check.that(threw == t.suffers);
    check.that(told == (checked_mode() && !t.suffers));
    if (!threw && !told) check.equal(out.inside, ints(2, p - 1));
    check.equal(w.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  }
  // Checked mode does not compare the two hops of a grid, so the others cannot learn of the error.
  if (checked_mode()) return;
  const grid_communicator grid(w);
  const ints counts(at(p), 2);
  scarce out{allocator<int>(t.suffers)};
  bool threw = false;
  try {
    grid.alltoallv(send_buf(many), send_counts(counts), recv_buf<resize_to_fit>(out));
  } catch (const std::bad_alloc&) {
    threw = true;
  }
  check.that(threw == t.suffers);
  if (!threw) check.equal(out.size(), at(2 * p));
  check.equal(grid.allreduce_single(send_buf(1), op(std::plus<>{})), p);
}

// Only neighbours get data: those of a graph, and those of another group.
void other_kinds(const trial& t) {
  const int p = t.p, me = t.me;
  const auto ring = t.world.graph({(me + p - 1) % p}, {(me + 1) % p});
  const ints mine(2, me);
  for (int form = 0; form < 4; ++form) {
    scarce out{allocator<int>(t.suffers)};
    bool threw = false, told = false;
    try {
      if (form == 0)
        ring.neighbor_allgather(send_buf(mine), recv_buf<resize_to_fit>(out));
      else if (form == 1)
        ring.ineighbor_allgatherv(send_buf(mine), recv_buf<resize_to_fit>(out)).wait();
      else if (form == 2)
        ring.neighbor_alltoallv(send_buf(mine), send_counts({2}), recv_buf<resize_to_fit>(out));
      else
        ring.ineighbor_alltoall(send_buf(mine), recv_buf<resize_to_fit>(out)).wait();
    } catch (const std::bad_alloc&) {
      threw = true;
    } catch (const peer_error&) {
      told = true;
    }
    check.that(threw == t.suffers);
    if (!threw && !told) check.equal(out.size(), 2u);
    check.equal(t.world.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  }
}

// An object that cannot be serialized on one rank: the exchange of counts reports it to the others.
struct writes_badly {
  std::vector<int> inside = {1, 2, 3};
  bool fails = false;
  template <class Archive>
  void serialize(Archive& archive) {
    if (fails) throw refusal();
    archive(inside);
  }
};
void written_badly(const trial& t) {
  const communicator& w = t.world;
  const writes_badly good, bad{{}, t.suffers};
  const std::vector<writes_badly> each(at(t.p), bad);
  // `tells`: the ranks that learn of it.
  const auto expect = [&](const char* name, bool tells, const auto& call) {
    bool threw = false, told = false;
    try {
      call();
    } catch (const refusal&) {
      threw = true;
    } catch (const peer_error&) {
      told = true;
    }
    check.that(threw == t.suffers, std::string(name) + ": who could not write");
    check.that(told == (tells && !t.suffers), std::string(name) + ": who is told");
    check.equal(w.allreduce_single(send_buf(1), op(std::plus<>{})), t.p);
  };
  expect("bcast", true, [&] {
    writes_badly one = bad;
    w.bcast(send_recv_buf(as_serialized(one)), root(t.victim));
  });
  expect("ibcast", true, [&] {
    writes_badly one = bad;
    w.ibcast(send_recv_buf(as_serialized(one)), root(t.victim)).wait();
  });
  expect("allgather", true, [&] { w.allgather(send_buf(as_serialized(bad))); });
  expect("iallgather", true, [&] { w.iallgather(send_buf(as_serialized(bad))).wait(); });
  expect("alltoall", true, [&] { w.alltoall(send_buf(as_serialized(each))); });
  expect("scatter", true, [&] {
    if (t.suffers)
      w.scatter(send_buf(as_serialized(each)), root(t.victim));
    else
      w.scatter(recv_buf(as_deserializable<writes_badly>()), root(t.victim));
  });
  const int receiver = t.victim == 0 ? t.p - 1 : 0;
  expect("gather", t.me == receiver || checked_mode(),
         [&] { w.gather(send_buf(as_serialized(bad)), root(receiver)); });
  check.equal(w.allgather(send_buf(as_serialized(good))).back().inside.size(), 3u);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& run) {
    for (int victim = 0; victim < world.size(); victim += std::max(1, world.size() - 1)) {
      const trial t{world, victim};
      const std::string of = "victim_" + std::to_string(victim) + "/";
      run(of + "reductions", [&] { combined(t); });
      run(of + "even", [&] { even(t); });
      run(of + "in_place", [&] { in_place(t); });
      run(of + "lists_and_others", [&] { lists_and_others(t); });
      run(of + "objects", [&] { written_badly(t); });
      run(of + "other_kinds", [&] { other_kinds(t); });
    }
  });
}
