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
using failing_vector = std::vector<int, allocator<int>>;

// A container outside the standard library that throws another type, also when it shrinks.
struct resize_error {};
struct failing_container {
  using value_type = int;
  ints inside;
  bool fails;
  int* data() { return inside.data(); }
  std::size_t size() const { return inside.size(); }
  void resize(std::size_t n) {
    if (fails) throw resize_error();
    inside.resize(n);
  }
};

bool checked_mode() {
  const char* const set = std::getenv("TUTTI_CHECK");
  return set != nullptr && std::string(set) == "1";
}

std::size_t at(int n) { return static_cast<std::size_t>(n); }

struct failing_rank_test {
  communicator& world;
  int failing_rank;
  int p = world.size(), me = world.rank();
  bool fails_here = me == failing_rank;

  // `call(out)` receives into `out`, and `right(out)` checks the result on the other ranks.
  // `reports_to_peers`: whether the form is compared in checked mode. `zeros`: the others receive
  // zeros from this rank, so their next call throws.
  template <class Call, class Right>
  void one(const char* name, bool reports_to_peers, const Call& call, const Right& right,
           bool zeros = false) const {
    failing_vector out{allocator<int>(fails_here)};
    bool threw = false, got_peer_error = false;
    try {
      call(out);
    } catch (const std::bad_alloc&) {
      threw = true;
    } catch (const peer_error&) {
      got_peer_error = true;
    }
    check.that(threw == fails_here, std::string(name) + ": who threw bad_alloc");
    if (reports_to_peers && checked_mode())
      check.that(got_peer_error == !fails_here,
                 std::string(name) + ": checked mode reports it to the others");
    else if (!fails_here)
      check.that(!got_peer_error && right(out), std::string(name) + ": what the others have received");
    if (zeros && !fails_here && !got_peer_error)
      check.throws<peer_error>([&] { static_cast<void>(world.iprobe()); }, {"rejected its arguments"});
    check.equal(world.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  }
  // The three forms: `make(mode, out)` makes the call and returns the object to wait for.
  template <class Blocking, class Nonblocking, class Persistent, class Right>
  void forms(const char* name, const Blocking& blocking, const Nonblocking& nonblocking,
             const Persistent& persistent, const Right& right) const {
    one(name, true, blocking, right);
    one((std::string("i") + name).c_str(), true, [&](failing_vector& out) { nonblocking(out).wait(); },
        right);
    one((std::string(name) + "_init").c_str(), false,
        [&](failing_vector& out) {
          auto plan = persistent(out);
          for (int i = 0; i < 2; ++i) {
            plan.start();
            if (i == 0 && fails_here) {
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

#define FORMS(NAME, ...)                                                                         \
  t.forms(                                                                                       \
      #NAME, [&](failing_vector& out) { w.NAME(__VA_ARGS__, recv_buf<resize_to_fit>(out)); },    \
      [&](failing_vector& out) { return w.i##NAME(__VA_ARGS__, recv_buf<resize_to_fit>(out)); }, \
      [&](failing_vector& out) { return w.NAME##_init(__VA_ARGS__, recv_buf<resize_to_fit>(out)); }, right)

void combined(const failing_rank_test& t) {
  const communicator& w = t.world;
  const int p = t.p, me = t.me, sum = p * (p - 1) / 2;
  const ints mine(3, me), many(at(3 * p), me);
  const auto plus = op(std::plus<>{});
  const auto all_are = [](int x) {
    return [x](const failing_vector& out) { return out.size() == 3 && out[0] == x && out[2] == x; };
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
  const auto right = [&](const failing_vector& out) { return me == t.failing_rank || out.empty(); };
  FORMS(reduce, send_buf(mine), plus, root(t.failing_rank));
}

void even(const failing_rank_test& t) {
  const communicator& w = t.world;
  const int p = t.p, me = t.me;
  const ints mine(2, me), many(at(2 * p), me);
  {
    const auto right = [&](const failing_vector& out) {
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
    const auto right = [&](const failing_vector& out) { return out.size() == 2 && out[1] == 0; };
    FORMS(scatter, send_buf(many), root(0));
    FORMS(scatter, send_buf(many), root(0), recv_count(2));
    FORMS(scatterv, send_buf(many), send_counts(ints(at(p), 2)), root(0));
  }
  const auto right = [&](const failing_vector& out) { return out.empty(); };
  FORMS(gather, send_buf(mine), root(t.failing_rank));
  FORMS(gatherv, send_buf(mine), root(t.failing_rank));
  FORMS(gatherv, send_buf(mine), root(t.failing_rank), recv_counts(ints(at(p), 2)));
}

// A bcast's buffer is input and output. In place, the other ranks get zeros, because the data are
// lost with the container.
void in_place(const failing_rank_test& t) {
  const communicator& w = t.world;
  const int p = t.p, bcast_root = t.failing_rank == 0 ? p - 1 : 0;
  const auto fill = [&](failing_vector& v) { v.resize(w.rank() == bcast_root ? 2 : 0, 7); };
  const auto right = [&](const failing_vector& v) { return v.size() == 2 && v[0] == 7; };
  t.one(
      "bcast", true,
      [&](failing_vector& v) { fill(v), w.bcast(send_recv_buf<resize_to_fit>(v), root(bcast_root)); }, right);
  t.one(
      "ibcast", true,
      [&](failing_vector& v) { fill(v), w.ibcast(send_recv_buf<resize_to_fit>(v), root(bcast_root)).wait(); },
      right);
  const auto long_enough = [&](const failing_vector& v) { return v.size() == at(p); };
  t.one(
      "allgatherv in place", true,
      [&](failing_vector& v) { w.allgatherv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(at(p), 1))); },
      long_enough, true);
  t.one(
      "alltoallv in place", true,
      [&](failing_vector& v) {
        w.ialltoallv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(at(p), 1))).wait();
      },
      long_enough, true);
  t.one(
      "allgather in place", true,
      [&](failing_vector& v) { w.allgather(send_recv_buf<resize_to_fit>(v), send_count(1)); }, long_enough,
      true);
}

// Output lists, and exceptions that do not come from allocators.
void lists_and_other_containers(const failing_rank_test& t) {
  const communicator& w = t.world;
  const int p = t.p, me = t.me;
  const ints mine(2, me), many(at(2 * p), me);
  const auto counted = [&](const failing_vector& counts) { return counts.size() == at(p) && counts[0] == 2; };
  t.one(
      "allgatherv, recv_counts_out", true,
      [&](failing_vector& c) { w.allgatherv(send_buf(mine), recv_counts_out<resize_to_fit>(c)); }, counted);
  t.one(
      "ialltoallv, recv_counts_out", true,
      [&](failing_vector& c) {
        w.ialltoallv(send_buf(many), send_counts(ints(at(p), 2)), recv_counts_out<resize_to_fit>(c)).wait();
      },
      counted);
  for (int round = 0; round < 2; ++round) {
    failing_container out{ints(1), t.fails_here};
    bool threw = false, got_peer_error = false;
    try {
      if (round == 0)
        w.allreduce(send_buf(mine), recv_buf<resize_to_fit>(out), op(ops::max<>{}));
      else
        w.iallreduce(send_buf(mine), recv_buf<resize_to_fit>(out), op(ops::max<>{})).wait();
    } catch (const resize_error&) {
      threw = true;
    } catch (const peer_error&) {
      got_peer_error = true;
    }
    check.that(threw == t.fails_here);
    check.that(got_peer_error == (checked_mode() && !t.fails_here));
    if (!threw && !got_peer_error) check.equal(out.inside, ints(2, p - 1));
    check.equal(w.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  }
  // Checked mode does not compare the two hops of a grid, so the others cannot learn of the error.
  if (checked_mode()) return;
  const grid_communicator grid(w);
  const ints counts(at(p), 2);
  failing_vector out{allocator<int>(t.fails_here)};
  bool threw = false;
  try {
    grid.alltoallv(send_buf(many), send_counts(counts), recv_buf<resize_to_fit>(out));
  } catch (const std::bad_alloc&) {
    threw = true;
  }
  check.that(threw == t.fails_here);
  if (!threw) check.equal(out.size(), at(2 * p));
  check.equal(grid.allreduce_single(send_buf(1), op(std::plus<>{})), p);
}

// Only neighbors get data: those of a graph, and those of another group.
void other_kinds(const failing_rank_test& t) {
  const int p = t.p, me = t.me;
  const auto ring = t.world.graph({(me + p - 1) % p}, {(me + 1) % p});
  const ints mine(2, me);
  for (int form = 0; form < 4; ++form) {
    failing_vector out{allocator<int>(t.fails_here)};
    bool threw = false, got_peer_error = false;
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
      got_peer_error = true;
    }
    check.that(threw == t.fails_here);
    if (!threw && !got_peer_error) check.equal(out.size(), 2u);
    check.equal(t.world.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  }
}

// An object that cannot be serialized on one rank: the exchange of counts reports it to the others.
struct failing_object {
  std::vector<int> inside = {1, 2, 3};
  bool fails = false;
  template <class Archive>
  void serialize(Archive& archive) {
    if (fails) throw resize_error();
    archive(inside);
  }
};
void serialization_errors(const failing_rank_test& t) {
  const communicator& w = t.world;
  const failing_object good, bad{{}, t.fails_here};
  const std::vector<failing_object> each(at(t.p), bad);
  // `reports_to_peers`: the ranks that learn of it.
  const auto expect = [&](const char* name, bool reports_to_peers, const auto& call) {
    bool threw = false, got_peer_error = false;
    try {
      call();
    } catch (const resize_error&) {
      threw = true;
    } catch (const peer_error&) {
      got_peer_error = true;
    }
    check.that(threw == t.fails_here, std::string(name) + ": who could not write");
    check.that(got_peer_error == (reports_to_peers && !t.fails_here),
               std::string(name) + ": who gets peer_error");
    check.equal(w.allreduce_single(send_buf(1), op(std::plus<>{})), t.p);
  };
  expect("bcast", true, [&] {
    failing_object one = bad;
    w.bcast(send_recv_buf(as_serialized(one)), root(t.failing_rank));
  });
  expect("ibcast", true, [&] {
    failing_object one = bad;
    w.ibcast(send_recv_buf(as_serialized(one)), root(t.failing_rank)).wait();
  });
  expect("allgather", true, [&] { w.allgather(send_buf(as_serialized(bad))); });
  expect("iallgather", true, [&] { w.iallgather(send_buf(as_serialized(bad))).wait(); });
  expect("alltoall", true, [&] { w.alltoall(send_buf(as_serialized(each))); });
  expect("scatter", true, [&] {
    if (t.fails_here)
      w.scatter(send_buf(as_serialized(each)), root(t.failing_rank));
    else
      w.scatter(recv_buf(as_deserializable<failing_object>()), root(t.failing_rank));
  });
  const int receiver = t.failing_rank == 0 ? t.p - 1 : 0;
  expect("gather", t.me == receiver || checked_mode(),
         [&] { w.gather(send_buf(as_serialized(bad)), root(receiver)); });
  check.equal(w.allgather(send_buf(as_serialized(good))).back().inside.size(), 3u);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& run) {
    for (int failing_rank = 0; failing_rank < world.size(); failing_rank += std::max(1, world.size() - 1)) {
      const failing_rank_test t{world, failing_rank};
      const std::string of = "failing_rank_" + std::to_string(failing_rank) + "/";
      run(of + "reductions", [&] { combined(t); });
      run(of + "even", [&] { even(t); });
      run(of + "in_place", [&] { in_place(t); });
      run(of + "lists_and_other_containers", [&] { lists_and_other_containers(t); });
      run(of + "objects", [&] { serialization_errors(t); });
      run(of + "other_kinds", [&] { other_kinds(t); });
    }
  });
}
