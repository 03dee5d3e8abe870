// SPDX-License-Identifier: Apache-2.0
//
// Tests layouts in neighborhood collectives, and in collectives between two groups.
#include "support/layout_items.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;
using tests::item_shape;
using tests::three_forms;

namespace {

using ints = std::vector<int>;
constexpr int length = 4;  // ints in a block

std::size_t at(int i) { return static_cast<std::size_t>(i); }
int value(int round, int from, int to, int k) { return 100000 * round + 1000 * from + 10 * to + k + 1; }

// Blocks of `length` ints from item number `first` on, each `step` blocks after the previous one.
struct blocks {
  const item_shape& shape;
  int many, items, first, step;
  ints data;

  blocks(const item_shape& s, int n, int begin = 0, int gapped = 1)
      : shape(s), many(n), items(length / s.per()), first(begin), step(gapped) {
    data = s.buffer(n == 0 ? 0 : first + (step * (n - 1) + 1) * items);
  }
  void clear() { std::fill(data.begin(), data.end(), tests::untouched); }
  template <class Value>
  void fill(Value&& of) {  // of(block, k)
    for (int b = 0; b < many; ++b)
      for (int k = 0; k < length; ++k) data[shape.dense(displ(b), k)] = of(b, k);
  }
  template <class Value>
  void expect(Value&& of) const {
    blocks wanted = *this;
    wanted.clear();
    wanted.fill(of);
    check.equal(data, wanted.data);
  }
  void expect_untouched() const { check.equal(data, ints(data.size(), tests::untouched)); }
  int displ(int b) const { return first + step * b * items; }
  ints counts() const { return ints(at(many), items); }
  ints displs() const {
    ints all;
    for (int b = 0; b < many; ++b) all.push_back(displ(b));
    return all;
  }
};

// A ring: sends to the next two ranks and receives from the previous two.
void neighbors(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size();
  const int sources[] = {(me + p - 1) % p, (me + 2 * p - 2) % p};
  const int destinations[] = {(me + 1) % p, (me + 2) % p};
  const auto ring = world.graph(sources, destinations);
  blocks one(f, 1), two(f, 2, 1, 2), plain(f, 2), to(t, 2), gapped(t, 2, 2, 3);
  const auto prepare = [&](int round) {
    to.clear(), gapped.clear();
    one.fill([&](int, int k) { return value(round, me, 0, k); });
    two.fill([&](int b, int k) { return value(round, me, b, k); });
    plain.fill([&](int b, int k) { return value(round, me, b, k); });
  };
  const auto to_all = [&](const blocks& got) {
    return [&](int round) { got.expect([&](int b, int k) { return value(round, sources[b], 0, k); }); };
  };
  const auto to_each = [&](const blocks& got) {
    return [&](int round) { got.expect([&](int b, int k) { return value(round, sources[b], b, k); }); };
  };
  tests::in_all_forms(
      three_forms{[&](auto... a) { ring.neighbor_allgather(std::move(a)...); },
                  [&](auto... a) { return ring.ineighbor_allgather(std::move(a)...); },
                  [&](auto... a) { return ring.neighbor_allgather_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(one.data), send_type(f.item), send_count(one.items), recv_buf(to.data),
                    recv_type(t.item));
      },
      prepare, to_all(to));
  tests::in_all_forms(
      three_forms{[&](auto... a) { ring.neighbor_allgatherv(std::move(a)...); },
                  [&](auto... a) { return ring.ineighbor_allgatherv(std::move(a)...); },
                  [&](auto... a) { return ring.neighbor_allgatherv_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(one.data), send_type(f.item), send_count(one.items), recv_buf(gapped.data),
                    recv_type(t.item), recv_displs(gapped.displs()));
      },
      prepare, to_all(gapped));
  tests::in_all_forms(
      three_forms{[&](auto... a) { ring.neighbor_alltoall(std::move(a)...); },
                  [&](auto... a) { return ring.ineighbor_alltoall(std::move(a)...); },
                  [&](auto... a) { return ring.neighbor_alltoall_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(plain.data), send_type(f.item), send_count(plain.items), recv_buf(to.data),
                    recv_type(t.item), recv_count(to.items));
      },
      prepare, to_each(to));
  tests::in_all_forms(
      three_forms{[&](auto... a) { ring.neighbor_alltoallv(std::move(a)...); },
                  [&](auto... a) { return ring.ineighbor_alltoallv(std::move(a)...); },
                  [&](auto... a) { return ring.neighbor_alltoallv_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(two.data), send_type(f.item), send_counts(two.counts()),
                    send_displs(two.displs()), recv_buf(gapped.data), recv_type(t.item),
                    recv_counts(gapped.counts()), recv_displs(gapped.displs()));
      },
      prepare, to_each(gapped));
  prepare(6);
  auto counts = ring.neighbor_alltoallv(send_buf(two.data), send_type(f.item), send_counts(two.counts()),
                                        send_displs(two.displs()), recv_buf(to.data), recv_type(t.item),
                                        recv_counts_out());
  to_each(to)(6);
  check.equal(counts.extract_recv_counts(), to.counts());
}

// One nonblocking call of each collective between two groups. The other forms share the code of one
// group.
void between(communicator& world, int split, const item_shape& f, const item_shape& t) {
  const auto sides = world.between(split);
  const int me = sides.rank(), there = sides.in_first_group() ? split : 0, remote = sides.remote_size();
  blocks one(f, 1), each(f, remote), to(t, remote), into(t, 1), gapped(t, remote, 1, 2);
  const auto prepare = [&](int round) {
    to.clear(), into.clear(), gapped.clear();
    one.fill([&](int, int k) { return value(round, me, 0, k); });
    each.fill([&](int b, int k) { return value(round, me, there + b, k); });
  };
  const auto sent = [&](auto call) {
    call(send_buf(one.data), send_type(f.item), send_count(one.items), recv_type(t.item));
  };
  prepare(0);
  sent([&](auto... a) { sides.iallgather(std::move(a)..., recv_buf(to.data)).wait(); });
  to.expect([&](int r, int k) { return value(0, there + r, 0, k); });
  prepare(1);
  sent([&](auto... a) {
    sides.allgatherv(std::move(a)..., recv_buf(gapped.data), recv_displs(gapped.displs()));
  });
  gapped.expect([&](int r, int k) { return value(1, there + r, 0, k); });
  prepare(2);
  sides
      .ialltoall(send_buf(each.data), send_type(f.item), send_count(each.items), recv_buf(to.data),
                 recv_type(t.item))
      .wait();
  to.expect([&](int r, int k) { return value(2, there + r, me, k); });
  prepare(3);
  sides.alltoallv(send_buf(each.data), send_type(f.item), send_counts(each.counts()), recv_buf(gapped.data),
                  recv_type(t.item), recv_displs(gapped.displs()));
  gapped.expect([&](int r, int k) { return value(3, there + r, me, k); });
  prepare(4);
  sent([&](auto... a) { sides.allreduce(std::move(a)..., recv_buf(into.data), op(std::plus<>{})); });
  into.expect([&](int, int k) {
    int sum = 0;
    for (int r = there; r < there + remote; ++r) sum += value(4, r, 0, k);
    return sum;
  });

  // From and to one rank: the other ranks of its group take no part.
  for (int root_rank : {0, world.size() - 1}) {
    const bool at_root = me == root_rank, other_side = (me < split) != (root_rank < split);
    prepare(5);
    sent([&](auto... a) { sides.igather(std::move(a)..., recv_buf(to.data), root(root_rank)).wait(); });
    if (at_root)
      to.expect([&](int r, int k) { return value(5, there + r, 0, k); });
    else
      to.expect_untouched();
    prepare(6);
    sent([&](auto... a) {
      sides.gatherv(std::move(a)..., recv_buf(gapped.data), recv_displs(gapped.displs()), root(root_rank));
    });
    if (at_root)
      gapped.expect([&](int r, int k) { return value(6, there + r, 0, k); });
    else
      gapped.expect_untouched();
    prepare(7);
    sides
        .iscatter(send_buf(each.data), send_type(f.item), send_count(each.items), recv_buf(into.data),
                  recv_type(t.item), root(root_rank))
        .wait();
    if (other_side)
      into.expect([&](int, int k) { return value(7, root_rank, me, k); });
    else
      into.expect_untouched();
    prepare(8);
    if (!at_root) one.clear();
    sides.bcast(send_recv_buf(one.data), send_recv_type(f.item), send_recv_count(one.items), root(root_rank));
    if (at_root || other_side)
      one.expect([&](int, int k) { return value(8, root_rank, 0, k); });
    else
      one.expect_untouched();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const auto shapes = tests::item_shapes();
    const int p = world.size();
    for (const item_shape& f : shapes)
      for (const item_shape& t : shapes) {
        if (!tests::is_tested(shapes, f, t, world.size())) continue;
        const std::string both = f.name + std::string("_to_") + t.name;
        cases("neighbors/" + both, [&] { neighbors(world, f, t); });
        if (p > 1) cases("between/" + both, [&] { between(world, (p + 1) / 3, f, t); });
      }
  });
}
