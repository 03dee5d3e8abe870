// SPDX-License-Identifier: Apache-2.0
//
// Tests layouts in reductions: an item is several elements, which are combined separately and in
// rank order. Covers all forms, in place, and different layouts for input and output.
#include "support/affine.hpp"
#include "support/layout_items.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::affine;
using tests::check;
using tests::compose;
using tests::item_shape;
using tests::three_forms;

namespace {

constexpr int length = 4;  // elements in a block
constexpr affine nothing{777, 778};

affine of(int round, int rank, int i) {
  return {2 * static_cast<unsigned>(rank) + 3, static_cast<unsigned>(10 * round + i) + 1};
}
// Element i combined over all ranks before `end`.
affine combined(int round, int end, int i) {
  affine all = of(round, 0, i);
  for (int r = 1; r < end; ++r) all = compose(all, of(round, r, i));
  return all;
}

struct items {
  const item_shape& shape;
  int elements;
  std::vector<affine> data;

  items(const item_shape& s, int n) : shape(s), elements(n), data(s.buffer<affine>(n / s.per(), nothing)) {}
  int count() const { return elements / shape.per(); }
  void clear() { std::fill(data.begin(), data.end(), nothing); }
  template <class Value>
  void fill(Value&& value) {
    for (int k = 0; k < elements; ++k) data[shape.dense(0, k)] = value(k);
  }
  template <class Value>
  void expect(Value&& value) const {
    items wanted(shape, elements);
    wanted.fill(value);
    check.equal(data, wanted.data);
  }
  void expect_untouched() const { check.equal(data, std::vector<affine>(data.size(), nothing)); }
  // Compares the first n elements and ignores the rest.
  template <class Value>
  void expect_first(int n, Value&& value) const {
    for (int k = 0; k < n; ++k) check.equal(data[shape.dense(0, k)], value(k));
  }
};

void vectors(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size(), root_rank = p / 2;
  items from(f, length), to(t, length);
  const auto prepare = [&](int round) { to.clear(), from.fill([&](int k) { return of(round, me, k); }); };
  const auto all = [&](int round) { to.expect([&](int k) { return combined(round, p, k); }); };
  const auto arguments = [&](auto&& call) {
    return call(send_buf(from.data), send_type(f.item), send_recv_count(from.count()), recv_buf(to.data),
                recv_type(t.item), op(compose));
  };
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.reduce(std::move(a)..., root(root_rank)); },
                  [&](auto... a) { return world.ireduce(std::move(a)..., root(root_rank)); },
                  [&](auto... a) { return world.reduce_init(std::move(a)..., root(root_rank)); }},
      arguments, prepare, [&](int round) {
        if (me == root_rank)
          all(round);
        else
          to.expect_untouched();
      });
  tests::in_all_forms(three_forms{[&](auto... a) { world.allreduce(std::move(a)...); },
                                  [&](auto... a) { return world.iallreduce(std::move(a)...); },
                                  [&](auto... a) { return world.allreduce_init(std::move(a)...); }},
                      arguments, prepare, all);
  tests::in_all_forms(three_forms{[&](auto... a) { world.scan(std::move(a)...); },
                                  [&](auto... a) { return world.iscan(std::move(a)...); },
                                  [&](auto... a) { return world.scan_init(std::move(a)...); }},
                      arguments, prepare,
                      [&](int round) { to.expect([&](int k) { return combined(round, me + 1, k); }); });
  // Rank 0 of an exscan: its buffer stays unchanged, unless values_on_rank_0 is given.
  tests::in_all_forms(three_forms{[&](auto... a) { world.exscan(std::move(a)...); },
                                  [&](auto... a) { return world.iexscan(std::move(a)...); },
                                  [&](auto... a) { return world.exscan_init(std::move(a)...); }},
                      arguments, prepare, [&](int round) {
                        to.expect([&](int k) { return me == 0 ? nothing : combined(round, me, k); });
                      });
  prepare(6);
  const affine first{5, 6};
  world
      .iexscan(send_buf(from.data), send_type(f.item), send_count(from.count()), recv_buf(to.data),
               recv_type(t.item), op(compose), values_on_rank_0(first))
      .wait();
  to.expect([&](int k) { return me == 0 ? first : combined(6, me, k); });

  // One layout for both buffers, and a container that the call creates.
  items same(f, length);
  prepare(7);
  world.allreduce(send_buf(from.data), recv_buf(same.data), send_recv_type(f.item), send_count(from.count()),
                  op(compose));
  same.expect([&](int k) { return combined(7, p, k); });
  const auto made =
      world.allreduce(send_buf(from.data), send_type(f.item), send_count(from.count()), op(compose));
  check.equal(made.size(), static_cast<std::size_t>(length));
  for (int k = 0; k < length; ++k) check.equal(made[static_cast<std::size_t>(k)], combined(7, p, k));
  int counted = 0;
  world.scan(send_buf(made), recv_buf(to.data), recv_type(t.item), op(compose), send_recv_count_out(counted));
  check.equal(counted, length);
}

void scattered(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size();
  items from(f, length * p), to(t, length);
  const auto prepare = [&](int round) { to.clear(), from.fill([&](int k) { return of(round, me, k); }); };
  const auto verify = [&](int round) {
    to.expect([&](int k) { return combined(round, p, length * me + k); });
  };
  const three_forms blocks{[&](auto... a) { world.reduce_scatter_block(std::move(a)...); },
                           [&](auto... a) { return world.ireduce_scatter_block(std::move(a)...); },
                           [&](auto... a) { return world.reduce_scatter_block_init(std::move(a)...); }};
  const three_forms counted{[&](auto... a) { world.reduce_scatter(std::move(a)...); },
                            [&](auto... a) { return world.ireduce_scatter(std::move(a)...); },
                            [&](auto... a) { return world.reduce_scatter_init(std::move(a)...); }};
  tests::in_all_forms(
      blocks,
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), recv_count(to.count()), recv_buf(to.data),
                    recv_type(t.item), op(compose));
      },
      prepare, verify);
  const std::vector<int> counts(static_cast<std::size_t>(p), to.count());
  tests::in_all_forms(
      counted,
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), recv_counts(counts), recv_buf(to.data),
                    recv_type(t.item), op(compose));
      },
      prepare, verify);

  const std::vector<int> own(static_cast<std::size_t>(p), from.count() / p);
  const auto first = [&](int round) {
    from.expect_first(length, [&](int k) { return combined(round, p, length * me + k); });
  };
  tests::in_all_forms(
      blocks,
      [&](auto&& call) {
        return call(send_recv_buf(from.data), send_recv_type(f.item), send_recv_count(from.count() / p),
                    op(compose));
      },
      prepare, first);
  tests::in_all_forms(
      counted,
      [&](auto&& call) {
        return call(send_recv_buf(from.data), send_recv_type(f.item), recv_counts(own), op(compose));
      },
      prepare, first);
}

void in_place(const communicator& world, const item_shape& f) {
  const int me = world.rank(), p = world.size(), root_rank = p - 1;
  items x(f, length);
  const auto prepare = [&](int round) { x.clear(), x.fill([&](int k) { return of(round, me, k); }); };
  const auto arguments = [&](auto&& call) {
    return call(send_recv_buf(x.data), send_recv_type(f.item), send_recv_count(x.count()), op(compose));
  };
  tests::in_all_forms(three_forms{[&](auto... a) { world.allreduce(std::move(a)...); },
                                  [&](auto... a) { return world.iallreduce(std::move(a)...); },
                                  [&](auto... a) { return world.allreduce_init(std::move(a)...); }},
                      arguments, prepare,
                      [&](int round) { x.expect([&](int k) { return combined(round, p, k); }); });
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.reduce(std::move(a)..., root(root_rank)); },
                  [&](auto... a) { return world.ireduce(std::move(a)..., root(root_rank)); },
                  [&](auto... a) { return world.reduce_init(std::move(a)..., root(root_rank)); }},
      arguments, prepare, [&](int round) {
        x.expect([&](int k) { return me == root_rank ? combined(round, p, k) : of(round, me, k); });
      });
  tests::in_all_forms(three_forms{[&](auto... a) { world.scan(std::move(a)...); },
                                  [&](auto... a) { return world.iscan(std::move(a)...); },
                                  [&](auto... a) { return world.scan_init(std::move(a)...); }},
                      arguments, prepare,
                      [&](int round) { x.expect([&](int k) { return combined(round, me + 1, k); }); });
  tests::in_all_forms(three_forms{[&](auto... a) {
                                    world.exscan(std::move(a)..., values_on_rank_0(affine{5, 6}));
                                  },
                                  [&](auto... a) {
                                    return world.iexscan(std::move(a)..., values_on_rank_0(affine{5, 6}));
                                  },
                                  [&](auto... a) {
                                    return world.exscan_init(std::move(a)..., values_on_rank_0(affine{5, 6}));
                                  }},
                      arguments, prepare, [&](int round) {
                        if (me == 0 && (round == 2 || round == 4))
                          return;  // rank 0's value arrives with a result, which these rounds drop
                        x.expect([&](int k) { return me == 0 ? affine{5, 6} : combined(round, me, k); });
                      });
}

// Operators known by name have a loop of their own, and an identity.
void builtin_operators(const communicator& world) {
  const int me = world.rank(), p = world.size();
  std::vector<std::int8_t> rows(12, 1), sums(4, -9);
  const layout column = layout::vector(4, 1, 3, type_of<std::int8_t>());
  world.allreduce(send_buf(rows), send_type(column), send_count(1), recv_buf(sums), op(std::plus<>{}));
  check.equal(sums, std::vector<std::int8_t>(4, static_cast<std::int8_t>(p)));
  const auto before = world.exscan(send_buf(rows), send_type(column), send_count(1), op(std::plus<>{}));
  check.equal(before, std::vector<std::int8_t>(4, static_cast<std::int8_t>(me)));
  std::vector<std::int8_t> grid(12, 7);
  world.iexscan(send_buf(rows), send_recv_type(column), send_count(1), recv_buf(grid), op(std::plus<>{}))
      .wait();
  for (std::size_t i = 0; i < 12; ++i) check.equal(grid[i], i % 3 == 0 ? static_cast<std::int8_t>(me) : 7);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const auto shapes = tests::item_shapes<affine>();
    for (const item_shape& f : shapes) {
      const std::string name = f.name;
      cases("in_place/" + name, [&] { in_place(world, f); });
      for (const item_shape& t : shapes) {
        if (!tests::is_tested(shapes, f, t, world.size())) continue;
        const std::string both = name + "_to_" + t.name;
        cases("vectors/" + both, [&] { vectors(world, f, t); });
        cases("scattered/" + both, [&] { scattered(world, f, t); });
      }
    }
    cases("builtin_operators", [&] { builtin_operators(world); });
  });
}
