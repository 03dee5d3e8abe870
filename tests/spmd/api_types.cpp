// SPDX-License-Identifier: Apache-2.0
//
// Tests layouts in collectives with blocks of equal length: every pair of layouts, in all forms and
// in place, with gaps that must not change. Also tests properties of layouts, and element types
// that differ.
#include "support/layout_items.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;
using tests::item_shape;
using tests::three_forms;

namespace {

using ints = std::vector<int>;
constexpr int length = 4;  // ints in a block

int value(int round, int from, int to, int k) { return 100000 * round + 1000 * from + 10 * to + k + 1; }

// `many` blocks of `length` ints, as items of one shape.
struct blocks {
  const item_shape& shape;
  int many;
  ints data;

  blocks(const item_shape& s, int n) : shape(s), many(n), data(s.buffer(n * length / s.per())) {}
  int items() const { return length / shape.per(); }  // in a block
  void clear() { std::fill(data.begin(), data.end(), tests::untouched); }
  template <class Value>
  void fill(int block, Value&& of) {
    for (int k = 0; k < length; ++k) data[shape.dense(block * items(), k)] = of(k);
  }
  template <class Value>
  void expect(Value&& of) const {  // of(block, k)
    blocks wanted(shape, many);
    for (int b = 0; b < many; ++b) wanted.fill(b, [&](int k) { return of(b, k); });
    check.equal(data, wanted.data);
  }
  void expect_untouched() const { check.equal(data, ints(data.size(), tests::untouched)); }
};

void bcast(const communicator& world, const item_shape& f) {
  for (int root_rank : {0, world.size() - 1}) {
    blocks x(f, 1);
    tests::in_all_forms(
        three_forms{[&](auto... a) { world.bcast(std::move(a)...); },
                    [&](auto... a) { return world.ibcast(std::move(a)...); },
                    [&](auto... a) { return world.bcast_init(std::move(a)...); }},
        [&](auto&& call) {
          return call(send_recv_buf(x.data), send_recv_type(f.item), send_recv_count(x.items()),
                      root(root_rank));
        },
        [&](int round) {
          x.clear();
          if (world.rank() == root_rank) x.fill(0, [&](int k) { return value(round, root_rank, 0, k); });
        },
        [&](int round) { x.expect([&](int, int k) { return value(round, root_rank, 0, k); }); });
  }
}

void gather(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size(), root_rank = p / 2;
  blocks from(f, 1), to(t, p);
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.gather(std::move(a)...); },
                  [&](auto... a) { return world.igather(std::move(a)...); },
                  [&](auto... a) { return world.gather_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_count(from.items()), root(root_rank),
                    recv_buf(to.data), recv_type(t.item));
      },
      [&](int round) { to.clear(), from.fill(0, [&](int k) { return value(round, me, 0, k); }); },
      [&](int round) {
        if (me != root_rank) return to.expect_untouched();
        to.expect([&](int r, int k) { return value(round, r, 0, k); });
      });
}

void scatter(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size(), root_rank = p / 2;
  const bool at_root = me == root_rank;
  blocks from(f, p), to(t, 1);
  ints none;
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.scatter(std::move(a)...); },
                  [&](auto... a) { return world.iscatter(std::move(a)...); },
                  [&](auto... a) { return world.scatter_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(at_root ? from.data : none), send_type(f.item), send_count(from.items()),
                    root(root_rank), recv_buf(to.data), recv_type(t.item));
      },
      [&](int round) {
        to.clear();
        for (int r = 0; r < p; ++r) from.fill(r, [&](int k) { return value(round, root_rank, r, k); });
      },
      [&](int round) { to.expect([&](int, int k) { return value(round, root_rank, me, k); }); });
  // The receive count is given, so no exchange is needed.
  to.clear();
  world.scatter(send_buf(from.data), send_type(f.item), send_count(from.items()), root(root_rank),
                recv_buf(to.data), recv_type(t.item), recv_count(to.items()));
  to.expect([&](int, int k) { return value(5, root_rank, me, k); });
}

void allgather(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size();
  blocks from(f, 1), to(t, p);
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.allgather(std::move(a)...); },
                  [&](auto... a) { return world.iallgather(std::move(a)...); },
                  [&](auto... a) { return world.allgather_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_count(from.items()), recv_buf(to.data),
                    recv_type(t.item));
      },
      [&](int round) { to.clear(), from.fill(0, [&](int k) { return value(round, me, 0, k); }); },
      [&](int round) { to.expect([&](int r, int k) { return value(round, r, 0, k); }); });
}

void alltoall(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size();
  blocks from(f, p), to(t, p);
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.alltoall(std::move(a)...); },
                  [&](auto... a) { return world.ialltoall(std::move(a)...); },
                  [&](auto... a) { return world.alltoall_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_count(from.items()), recv_buf(to.data),
                    recv_type(t.item));
      },
      [&](int round) {
        to.clear();
        for (int r = 0; r < p; ++r) from.fill(r, [&](int k) { return value(round, me, r, k); });
      },
      [&](int round) { to.expect([&](int r, int k) { return value(round, r, me, k); }); });
}

void in_place(const communicator& world, const item_shape& f) {
  const int me = world.rank(), p = world.size(), root_rank = p - 1;
  const bool at_root = me == root_rank;
  blocks all(f, p), own(f, 1);
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.allgather(std::move(a)...); },
                  [&](auto... a) { return world.iallgather(std::move(a)...); },
                  [&](auto... a) { return world.allgather_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_recv_buf(all.data), send_recv_type(f.item), send_recv_count(all.items()));
      },
      [&](int round) { all.clear(), all.fill(me, [&](int k) { return value(round, me, 0, k); }); },
      [&](int round) { all.expect([&](int r, int k) { return value(round, r, 0, k); }); });
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.alltoall(std::move(a)...); },
                  [&](auto... a) { return world.ialltoall(std::move(a)...); },
                  [&](auto... a) { return world.alltoall_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_recv_buf(all.data), send_recv_type(f.item), send_count(all.items()));
      },
      [&](int round) {
        for (int r = 0; r < p; ++r) all.fill(r, [&](int k) { return value(round, me, r, k); });
      },
      [&](int round) { all.expect([&](int r, int k) { return value(round, r, me, k); }); });
  ints& mine = at_root ? all.data : own.data;
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.gather(std::move(a)...); },
                  [&](auto... a) { return world.igather(std::move(a)...); },
                  [&](auto... a) { return world.gather_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_recv_buf(mine), send_recv_type(f.item), send_recv_count(all.items()),
                    root(root_rank));
      },
      [&](int round) {
        all.clear(),
            (at_root ? all : own).fill(at_root ? me : 0, [&](int k) { return value(round, me, 0, k); });
      },
      [&](int round) {
        own.expect([&](int, int k) { return at_root ? tests::untouched : value(round, me, 0, k); });
        if (at_root) all.expect([&](int r, int k) { return value(round, r, 0, k); });
      });
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.scatter(std::move(a)...); },
                  [&](auto... a) { return world.iscatter(std::move(a)...); },
                  [&](auto... a) { return world.scatter_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_recv_buf(mine), send_recv_type(f.item), send_recv_count(all.items()),
                    root(root_rank));
      },
      [&](int round) {
        own.clear(), all.clear();
        for (int r = 0; r < p; ++r) all.fill(r, [&](int k) { return value(round, me, r, k); });
      },
      [&](int round) {
        if (at_root) return all.expect([&](int r, int k) { return value(round, me, r, k); });
        own.expect([&](int, int k) { return value(round, root_rank, me, k); });
      });
}

// Ranks with a layout and ranks without one take part in one call.
void types_on_some_ranks(const communicator& world, const item_shape& f) {
  const int me = world.rank(), p = world.size();
  blocks items(f, p);
  ints dense(static_cast<std::size_t>(length));
  for (int k = 0; k < length; ++k) dense[static_cast<std::size_t>(k)] = value(0, me, 0, k);
  if (me == 0)
    world.gather(send_buf(dense), recv_buf(items.data), recv_type(f.item));
  else
    world.gather(send_buf(dense));
  if (me == 0) items.expect([&](int r, int k) { return value(0, r, 0, k); });

  // A container that the call creates holds the elements contiguously.
  for (int r = 0; r < p; ++r) items.fill(r, [&](int k) { return value(1, me, r, k); });
  const auto made = world.alltoall(send_buf(items.data), send_type(f.item), send_count(items.items()));
  check.equal(made.size(), static_cast<std::size_t>(p * length));
  for (int r = 0; r < p; ++r)
    for (int k = 0; k < length; ++k)
      check.equal(made[static_cast<std::size_t>(r * length + k)], value(1, r, me, k));

  // Output counts are in items.
  blocks to(f, p);
  auto lengths = world.allgather(send_buf(dense), recv_buf(to.data), recv_type(f.item), recv_count_out(),
                                 send_count_out(), send_type_out());
  check.equal(lengths.extract_recv_count(), to.items());
  check.equal(lengths.extract_send_count(), length);
  check.that(lengths.extract_send_type() == type_of<int>());
  to.expect([&](int r, int k) { return value(0, r, 0, k); });
}

// If no layout is given, the output layout is that of an element.
void types_out(const communicator& world) {
  struct point {
    char name;
    double x, y;
  };
  const std::vector<point> v(2, {'a', 1.0, 2.0});
  auto [all, sent, received] = world.allgather(send_buf(v), send_type_out(), recv_type_out());
  check.equal(all.size(), 2 * static_cast<std::size_t>(world.size()));
  check.that(sent == layout::contiguous(sizeof(point)) && received == type_of<point>());

  layout here, there = layout::vector(3, 1, 2);
  world.iallreduce(send_buf(1), op(std::plus<>{}), recv_type_out(here), send_type_out(there)).wait();
  check.that(here == type_of<int>() && there == type_of<int>());

  int x = world.rank();
  auto plan = world.bcast_init(send_recv_buf(x), send_recv_type_out());
  for (int i = 0; i < 2; ++i) {
    plan.start();
    auto result = plan.wait();
    check.that(result.extract_send_recv_type() == type_of<int>());
  }
  check.equal(x, 0);

  auto kept = world.gather(send_buf(v), send_type_out(layout()));
  check.that(kept.extract_send_type() == type_of<point>());
}

struct sample {
  float weight;
  short kind[2];
  double value;
};

// A layout selects the bytes of a buffer. The element type of the container does not matter.
void other_elements(const communicator& world) {
  const int me = world.rank(), p = world.size();
  std::vector<sample> samples(3);
  for (int i = 0; i < 3; ++i)
    samples[static_cast<std::size_t>(i)] = {0.5f, {1, static_cast<short>(me)}, 10.0 * me + i};
  const layout values = layout::structure({{offsetof(sample, value), layout::of<double>()}}, sizeof(sample));

  // Sends only the values, as doubles: the elements of the call are those of the buffer without a
  // layout.
  std::vector<double> doubles(static_cast<std::size_t>(3 * p), -1);
  world.allgather(send_buf(samples), send_type(values), send_count(3), recv_buf(doubles));
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < 3; ++i) check.equal(doubles[static_cast<std::size_t>(3 * r + i)], 10.0 * r + i);

  // Layouts on both sides: 8 bytes are no multiple of the 16-byte element, so the call transfers
  // bytes.
  std::fill(doubles.begin(), doubles.end(), -1);
  world
      .iallgather(send_buf(samples), send_type(values), send_count(3), recv_buf(doubles),
                  recv_type(type_of<double>()))
      .wait();
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < 3; ++i) check.equal(doubles[static_cast<std::size_t>(3 * r + i)], 10.0 * r + i);

  // Receives into the structs; other members must not change.
  std::vector<sample> into(static_cast<std::size_t>(p), {7.0f, {8, 9}, -1});
  auto counted = world.allgatherv(send_buf(doubles[static_cast<std::size_t>(3 * me)]), recv_buf(into),
                                  recv_type(values), recv_counts_out());
  check.equal(counted.extract_recv_counts(), ints(static_cast<std::size_t>(p), 1));
  for (int r = 0; r < p; ++r) {
    const sample& s = into[static_cast<std::size_t>(r)];
    check.that(s.value == 10.0 * r && s.weight == 7.0f && s.kind[0] == 8 && s.kind[1] == 9);
  }

  // A contiguous layout of another type only changes the counts.
  int words[2] = {me, -me};
  std::vector<std::byte> bytes(2 * sizeof(int) * static_cast<std::size_t>(p));
  world.allgather(send_buf(words), send_type(type_of<std::byte>()), send_count(sizeof words), recv_buf(bytes),
                  recv_type(type_of<int>()), recv_count(2));
  for (int r = 0; r < p; ++r) {
    int got[2];
    std::memcpy(got, bytes.data() + static_cast<std::size_t>(r) * sizeof got, sizeof got);
    check.that(got[0] == r && got[1] == -r);
  }

  // Sends one field of a struct. The call keeps a layout that is moved into it.
  sample single = {static_cast<float>(me), {0, 0}, 1.0};
  auto under_way = world.ibcast(send_recv_buf(single), send_recv_count(1), root(p - 1),
                                send_recv_type(layout::structure({{0, type_of<float>()}}, sizeof(sample))));
  under_way.wait();
  check.that(single.weight == static_cast<float>(p - 1) && single.value == 1.0);
  // A moved container is returned with the bytes between the items.
  auto back = world
                  .ibcast(send_recv_buf(std::move(samples)), send_recv_count(2),
                          send_recv_type(values.resized(sizeof(sample))))
                  .wait();
  check.that(back.size() == 3 && back[1].value == 1.0 && back[1].kind[1] == me &&
             back[2].value == 10.0 * me + 2);

  // Empty layouts and counts of zero.
  world.allgather(send_buf(words), send_type(layout()), send_count(5), recv_buf(bytes), recv_type(layout()));
  world.allgather(send_buf(words), send_type(type_of<int>()), send_count(0), recv_buf(bytes),
                  recv_type(type_of<int>()));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const auto shapes = tests::item_shapes();
    for (const item_shape& f : shapes) {
      const std::string name = f.name;
      cases("bcast/" + name, [&] { bcast(world, f); });
      cases("in_place/" + name, [&] { in_place(world, f); });
      cases("types_on_some_ranks/" + name, [&] { types_on_some_ranks(world, f); });
      for (const item_shape& t : shapes) {
        if (!tests::is_tested(shapes, f, t, world.size())) continue;
        const std::string both = name + "_to_" + t.name;
        cases("gather/" + both, [&] { gather(world, f, t); });
        cases("scatter/" + both, [&] { scatter(world, f, t); });
        cases("allgather/" + both, [&] { allgather(world, f, t); });
        cases("alltoall/" + both, [&] { alltoall(world, f, t); });
      }
    }
    cases("types_out", [&] { types_out(world); });
    cases("other_elements", [&] { other_elements(world); });
  });
}
