// SPDX-License-Identifier: Apache-2.0
//
// Tests that one rank rejects its arguments when the others cannot know it. That rank throws. The
// calls of the others complete, with zeros in place of its data. The next call of the ranks that
// have received zeros throws. The call after that must not receive leftover data.
#include "support/program.hpp"
#include "support/refused_alone.hpp"

using namespace tutti;
using namespace tests;

namespace {

void scatters(const communicator& world) {
  const int p = world.size(), me = world.rank();
  each_root(world, [&](int q) {
    const bool root_here = me == q;
    const auto right = [&](int base) {
      ints out(1, -1);
      world.scatter(send_buf(numbers(p, base)), recv_buf(out), recv_count(1), root(q));
      check.equal(out, ints{base + me});
    };
    const auto expect_zero = [&](const ints& out) {
      check.equal(out, ints{0});
      note_zeros(world);
    };
    const ints odd(at(2 * p + 1), 7);
    if (p > 1)
      rejected_on_one_rank(
          world, root_here, {"scatter", "send_buf", "equal blocks"},
          [&] { expect_zero(world.scatter(send_buf(odd), recv_count(1), root(q))); }, right);
    rejected_on_one_rank(
        world, root_here, {"scatter", "recv_count"},
        [&] { expect_zero(world.scatter(send_buf(ints(at(3 * p), 7)), recv_count(1), root(q))); }, right);
    rejected_on_one_rank(
        world, root_here, {"scatter", "send_count"},
        [&] {
          const ints few(at(p - 1), 7);
          expect_zero(world.scatter(send_buf(few), send_count(1), recv_count(1), root(q)));
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"scatter", "send_buf", "missing"},
        [&] { expect_zero(world.scatter<int>(recv_count(1), root(q))); }, right);
    rejected_on_one_rank(
        world, root_here, {"iscatter", "send_count"},
        [&] {
          const ints few(at(p - 1), 7);
          expect_zero(world.iscatter(send_buf(few), send_count(1), recv_count(1), root(q)).wait());
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"scatter_single", "send_buf"},
        [&] {
          check.equal(world.scatter_single(send_buf(odd), root(q)), 0);
          note_zeros(world);
        },
        [&](int base) { check.equal(world.scatter_single(send_buf(numbers(p, base)), root(q)), base + me); });
    rejected_on_one_rank(
        world, root_here, {"scatter_init", "send_count"},
        [&] {
          ints out(1, -1);
          const ints few(at(p - 1), 7);
          auto plan = world.scatter_init(send_buf(few), send_count(1), recv_count(1), recv_buf(out), root(q));
          plan.start();
          plan.wait();
          expect_zero(out);
        },
        right);
  });
}

void vector_scatters(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const ints ones(at(p), 1);
  each_root(world, [&](int q) {
    const bool root_here = me == q;
    const auto right = [&](int base) {
      ints out(1, -1);
      world.scatterv(send_buf(numbers(p, base)), send_counts(ones), recv_buf(out), recv_count(1), root(q));
      check.equal(out, ints{base + me});
    };
    const auto wrong = [&](const ints& from, const ints& counts) {
      check.equal(world.scatterv(send_buf(from), send_counts(counts), recv_count(1), root(q)), ints{0});
      note_zeros(world);
    };
    ints fewer = ones, negative = ones, own = ones;
    fewer.pop_back();
    negative.front() = -1;
    own[at(q)] = 2;
    const ints enough(at(p + 1), 7), short_of_one(at(p - 1), 7);
    rejected_on_one_rank(
        world, root_here, {"scatterv", "send_counts"}, [&] { wrong(short_of_one, ones); }, right);
    rejected_on_one_rank(
        world, root_here, {"scatterv", "send_counts", "entries for"}, [&] { wrong(enough, fewer); }, right);
    rejected_on_one_rank(
        world, root_here, {"scatterv", "send_counts", "negative"}, [&] { wrong(enough, negative); }, right);
    rejected_on_one_rank(
        world, root_here, {"scatterv", "send_buf", "missing"},
        [&] {
          check.equal(world.scatterv<int>(recv_count(1), root(q)), ints{0});
          note_zeros(world);
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"iscatterv", "send_counts"},
        [&] {
          check.equal(
              world.iscatterv(send_buf(short_of_one), send_counts(ones), recv_count(1), root(q)).wait(),
              ints{0});
          note_zeros(world);
        },
        right);
    // Its data to send are right, so the others receive them.
    const auto own_differs = [&] {
      ints from(at(p + 1), 7);
      check.equal(world.scatterv(send_buf(from), send_counts(own), recv_count(1), root(q)), ints{7});
    };
    rejected_on_one_rank(world, root_here, {"scatterv", "recv_count"}, own_differs, right);
  });
}

void gathers(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const ints ones(at(p), 1);
  each_root(world, [&](int q) {
    const bool root_here = me == q;
    const auto right = [&](int base) {
      ints out(at(root_here ? p : 0), -1);
      world.gatherv(send_buf(base + me), recv_buf(out), recv_counts(ones), root(q));
      if (root_here) check.equal(out, numbers(p, base));
      check.equal(world.gather(send_buf(base + me), root(q)), root_here ? numbers(p, base) : ints{});
    };
    const auto counted = [&](const ints& counts) {
      ints out(at(p), -1);
      world.gatherv(send_buf(me), recv_buf(out), recv_counts(counts), root(q));
    };
    ints fewer = ones, negative = ones, own = ones;
    fewer.pop_back();
    negative.front() = -1;
    own[at(q)] = 0;
    rejected_on_one_rank(
        world, root_here, {"gatherv", "recv_counts", "entries for"}, [&] { counted(fewer); }, right);
    rejected_on_one_rank(
        world, root_here, {"gatherv", "recv_counts", "negative"}, [&] { counted(negative); }, right);
    rejected_on_one_rank(
        world, root_here, {"gatherv", "recv_counts", "for this rank"}, [&] { counted(own); }, right);
    rejected_on_one_rank(
        world, root_here, {"igatherv", "recv_counts"},
        [&] {
          ints out(at(p));
          world.igatherv(send_buf(me), recv_buf(out), recv_counts(fewer), root(q)).wait();
        },
        right);
    const auto onto_one = [&](auto&& gather) {
      ints out(at(p), -1), displs(at(p), 0);
      gather(out, displs);
      check.equal(out, ints(at(p), -1));
    };
    if (p > 1) {
      rejected_on_one_rank(
          world, root_here, {"gatherv", "recv_displs", "block"},
          [&] {
            onto_one([&](ints& out, ints& displs) {
              world.gatherv(send_buf(me), recv_buf(out), recv_counts(ones), recv_displs(displs), root(q));
            });
          },
          right);
      rejected_on_one_rank(
          world, root_here, {"gatherv", "recv_displs", "block"},
          [&] {
            onto_one([&](ints& out, ints& displs) {
              world.igatherv(send_buf(me), recv_buf(out), recv_counts(ones), recv_displs(displs), root(q))
                  .wait();
            });
          },
          right);
    }
    rejected_on_one_rank(
        world, root_here, {"gatherv", "recv_counts", "holds 0"},
        [&] {
          ints none;
          (void)world.gatherv(send_buf(me), recv_counts_out(none), root(q));
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"gather", "recv_count"},
        [&] {
          ints out(at(p));
          world.gather(send_buf(me), recv_buf(out), recv_count(root_here ? 2 : 1), root(q));
        },
        right);
    const int other = (q + 1) % p;
    rejected_on_one_rank(
        world, me == other, {"gather", "send_count"},
        [&] {
          const ints two{5, 6};
          const ints all = world.gather(send_buf(me == other ? ints{} : two), send_count(2), root(q));
          if (root_here && me != other) {
            ints expected(at(2 * p));
            for (int r = 0; r < p; ++r)
              if (r != other) expected[at(2 * r)] = 5, expected[at(2 * r + 1)] = 6;
            check.equal(all, expected);
            note_zeros(world);
          }
        },
        right);
  });
}

void broadcasts_and_reductions(const communicator& world) {
  const int p = world.size(), me = world.rank();
  each_root(world, [&](int q) {
    const bool root_here = me == q;
    const auto right = [&](int base) {
      ints v(3, root_here ? base : -1);
      world.bcast(send_recv_buf(v), send_recv_count(3), root(q));
      check.equal(v, ints(3, base));
      const ints sums = world.reduce(send_buf({base, me}), op(std::plus<>{}), root(q));
      if (root_here) check.equal(sums, ints{p * base, p * (p - 1) / 2});
    };
    const auto broadcast = [&](ints v) {
      world.bcast(send_recv_buf(v), send_recv_count(3), root(q));
      if (root_here) return;
      check.equal(v, ints(3, 0));
      note_zeros(world);
    };
    rejected_on_one_rank(
        world, root_here, {"bcast", "send_recv_count"}, [&] { broadcast(ints(root_here ? 2 : 3, 4)); },
        right);
    rejected_on_one_rank(
        world, root_here, {"bcast", "send_recv_buf", "missing"},
        [&] {
          check.equal(world.bcast<int>(send_recv_count(3), root(q)), ints(3, 0));
          note_zeros(world);
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"bcast_single", "send_recv_buf"},
        [&] {
          if (root_here) return (void)world.bcast_single(send_recv_buf(ints(2)), root(q));
          check.equal(world.bcast_single<int>(root(q)), 0);
          note_zeros(world);
        },
        right);
    const int other = (q + 1) % p;
    rejected_on_one_rank(
        world, me == other && p > 1, {"bcast", "send_recv_buf", "holds 2"},
        [&] {
          ints v(me == other && p > 1 ? 2 : 3, 4);
          world.bcast(send_recv_buf(v), send_recv_count(3), root(q));
          check.equal(v, ints(3, 4));
        },
        right);
    rejected_on_one_rank(
        world, me == other, {"reduce", "send_count"},
        [&] {
          const ints v(me == other ? 1 : 2, 1);
          const ints sums = world.reduce(send_buf(v), send_count(2), op(std::plus<>{}), root(q));
          if (!root_here || p == 1) return;
          check.equal(sums, ints(2, p - 1));
          note_zeros(world);
        },
        right);
  });
}

// Among all ranks, when all of them know the length.
void among_all(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const int who = p - 1;
  const bool here = me == who;
  const auto right = [&](int base) {
    check.equal(world.allreduce_single(send_buf(base + me), op(std::plus<>{})), p * base + p * (p - 1) / 2);
    check.equal(world.allgather(send_buf(base + me)), numbers(p, base));
    check.equal(world.scan_single(send_buf(base), op(std::plus<>{})), (me + 1) * base);
  };
  // The data to send are right.
  const auto room = [&](int n) { return ints(at(here ? 0 : n), -1); };
  const auto filled = [&](const ints& out, const ints& expected) {
    if (!here) check.equal(out, expected);
  };
  rejected_on_one_rank(
      world, here, {"allreduce", "recv_buf"},
      [&] {
        ints out = room(1);
        world.allreduce(send_buf(me), op(std::plus<>{}), recv_buf(out));
        filled(out, ints{p * (p - 1) / 2});
      },
      right);
  rejected_on_one_rank(
      world, here, {"allgather", "recv_buf"},
      [&] {
        ints out = room(p);
        world.allgather(send_buf(me), recv_buf(out));
        filled(out, numbers(p, 0));
      },
      right);
  rejected_on_one_rank(
      world, here, {"alltoall", "recv_buf"},
      [&] {
        ints out = room(p);
        world.alltoall(send_buf(ints(at(p), me)), recv_buf(out));
        filled(out, numbers(p, 0));
      },
      right);
  rejected_on_one_rank(
      world, here, {"scan", "recv_buf"},
      [&] {
        ints out = room(1);
        world.scan(send_buf(1), op(std::plus<>{}), recv_buf(out));
        filled(out, ints{me + 1});
      },
      right);
  rejected_on_one_rank(
      world, here, {"reduce_scatter_block", "recv_buf"},
      [&] {
        ints out = room(1);
        world.reduce_scatter_block(send_buf(ints(at(p), 1)), op(std::plus<>{}), recv_buf(out));
        filled(out, ints{p});
      },
      right);
  rejected_on_one_rank(
      world, here, {"reduce_scatter on", "recv_buf"},
      [&] {
        ints out = room(1);
        world.reduce_scatter(send_buf(ints(at(p), 1)), op(std::plus<>{}), recv_counts(ints(at(p), 1)),
                             recv_buf(out));
        filled(out, ints{p});
      },
      right);
  // Zeros replace the data that it would have sent.
  const ints mine(here ? 1 : 2, 1);
  rejected_on_one_rank(
      world, here, {"allreduce", "send_count"},
      [&] {
        filled(world.allreduce(send_buf(mine), send_count(2), op(std::plus<>{})), ints(2, p - 1));
        note_zeros(world);
      },
      right);
  rejected_on_one_rank(
      world, here, {"allgather", "send_count"},
      [&] {
        ints expected(at(2 * p), 1);
        expected[at(2 * who)] = expected[at(2 * who + 1)] = 0;
        filled(world.allgather(send_buf(mine), send_count(2)), expected);
        note_zeros(world);
      },
      right);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("scatters", [&] { scatters(world); });
    cases("vector_scatters", [&] { vector_scatters(world); });
    cases("gathers", [&] { gathers(world); });
    cases("broadcasts_and_reductions", [&] { broadcasts_and_reductions(world); });
    cases("among_all", [&] { among_all(world); });
  });
}
