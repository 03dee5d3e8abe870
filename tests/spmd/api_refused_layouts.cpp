// SPDX-License-Identifier: Apache-2.0
//
// The same as api_refused_alone.cpp for buffers with layouts: wrong items on one rank.
#include "support/program.hpp"
#include "support/refused_alone.hpp"

using namespace tutti;
using namespace tests;

namespace {

// Two ints, 12 bytes apart; the last of n items ends 4 bytes before 20 * n.
layout strided() { return layout::vector(2, 1, 3, type_of<int>()).resized(20); }

void layouts_from_the_root(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const layout item = strided();
  each_root(world, [&](int q) {
    const bool root_here = me == q;
    const auto right = [&](int base) {
      const ints out = world.scatter(send_buf(numbers(5 * p, base)), send_type(item), send_count(1),
                                     recv_count(2), root(q));
      check.equal(out, ints{base + 5 * me, base + 5 * me + 3});
    };
    const ints few(at(5 * p - 2), 9), ones(at(p), 1);
    const auto zeros = [&](const ints& out) {
      check.equal(out, ints(2, 0));
      note_zeros(world);
    };
    rejected_on_one_rank(
        world, root_here, {"scatter", "send_count", "reach to byte"},
        [&] { zeros(world.scatter(send_buf(few), send_type(item), send_count(1), recv_count(2), root(q))); },
        right);
    rejected_on_one_rank(
        world, root_here, {"iscatterv", "send_counts", "reach to byte"},
        [&] {
          auto call =
              world.iscatterv(send_buf(few), send_type(item), send_counts(ones), recv_count(2), root(q));
          zeros(call.wait());
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"scatterv", "send_counts", "negative"},
        [&] {
          const ints negative(at(p), -1);
          zeros(
              world.scatterv(send_buf(few), send_type(item), send_counts(negative), recv_count(2), root(q)));
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"bcast", "send_recv_count", "reach to byte"},
        [&] {
          ints v(root_here ? 3 : 4, 9);
          world.bcast(send_recv_buf(v), send_recv_type(item), send_recv_count(1), root(q));
          if (root_here) return;
          check.equal(v, ints{0, 9, 9, 0});
          note_zeros(world);
        },
        right);
    const int other = (q + 1) % p;
    rejected_on_one_rank(
        world, me == other, {"scatter", "recv_buf", "reach to byte"},
        [&] {
          ints out(me == other ? 3 : 4, -1);
          world.scatter(send_buf(ints(at(2 * p), 6)), recv_buf(out), recv_type(item), root(q));
          check.equal(out, me == other ? ints(3, -1) : ints{6, -1, -1, 6});
        },
        right);
  });
}

void layouts_to_the_root(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const layout item = strided();
  const ints two{me, me}, ones(at(p), 1);
  each_root(world, [&](int q) {
    const bool root_here = me == q;
    const auto right = [&](int base) {
      ints out(at(5 * p), -1), expected(at(5 * p), -1);
      for (int r = 0; r < p; ++r) expected[at(5 * r)] = expected[at(5 * r + 3)] = base + r;
      const ints mine(2, base + me);
      world.gather(send_buf(mine), recv_buf(out), recv_type(item), root(q));
      check.equal(out, root_here ? expected : ints(at(5 * p), -1));
    };
    const auto too_few = [&](const auto& gather) {
      ints few(at(5 * p - 2), -1);
      gather(few);
      check.equal(few, ints(at(5 * p - 2), -1));
    };
    rejected_on_one_rank(
        world, root_here, {"gather", "recv_buf", "reach to byte"},
        [&] {
          too_few([&](ints& few) { world.gather(send_buf(two), recv_buf(few), recv_type(item), root(q)); });
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"igatherv", "recv_buf", "reach to byte"},
        [&] {
          too_few([&](ints& few) {
            world.igatherv(send_buf(two), recv_buf(few), recv_type(item), recv_counts(ones), root(q)).wait();
          });
        },
        right);
    rejected_on_one_rank(
        world, root_here, {"gatherv", "recv_counts", "entries for"},
        [&] {
          too_few([&](ints& few) {
            const ints fewer(at(p - 1), 1);
            world.gatherv(send_buf(two), recv_buf(few), recv_type(item), recv_counts(fewer), root(q));
          });
        },
        right);
    const auto reduced = [&](int holds, int room) {
      ints out(at(room), -1);
      const ints v(at(holds), 1);
      world.reduce(send_buf(v), send_type(item), send_count(1), recv_buf(out), recv_type(item),
                   op(std::plus<>{}), root(q));
      return out;
    };
    rejected_on_one_rank(
        world, root_here, {"reduce", "recv_buf", "reach to byte"}, [&] { reduced(4, root_here ? 3 : 4); },
        right);
    const int other = (q + 1) % p;
    rejected_on_one_rank(
        world, me == other, {"reduce", "send_count", "reach to byte"},
        [&] {
          const ints sums = reduced(me == other ? 3 : 4, 4);
          if (!root_here || p == 1) return;
          check.equal(sums, ints{p - 1, -1, -1, p - 1});
          note_zeros(world);
        },
        right);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("layouts_from_the_root", [&] { layouts_from_the_root(world); });
    cases("layouts_to_the_root", [&] { layouts_to_the_root(world); });
  });
}
