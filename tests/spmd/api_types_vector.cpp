// SPDX-License-Identifier: Apache-2.0
//
// Tests layouts in vector forms: counts and displacements in items, as input, as output and
// inferred. Blocks have any order, with gaps that must not change, in all forms and in place.
#include "support/layout_items.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;
using tests::item_shape;
using tests::three_forms;

namespace {

using ints = std::vector<int>;
using sizes = std::vector<std::size_t>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The ints that rank r sends, and that it sends to rank s: whole items of every shape, sometimes
// none.
int length(int r) { return 4 * ((r * 7 + 2) % 3); }
int length(int r, int s) { return 4 * ((r + 2 * s + 1) % 3); }
int value(int round, int from, int to, int k) { return 100000 * round + 1000 * from + 10 * to + k + 1; }

// Blocks of items in a buffer: in descending order with an item between them, or contiguous.
struct blocks {
  const item_shape& shape;
  ints counts, displs;
  ints data;

  template <class Length>
  blocks(const item_shape& s, int n, bool gaps, Length&& ints_of) : shape(s), counts(at(n)), displs(at(n)) {
    int end = 0;
    for (int i = 0; i < n; ++i) {
      const int b = gaps ? n - 1 - i : i;
      if (gaps) ++end;
      counts[at(b)] = ints_of(b) / s.per();
      displs[at(b)] = end;
      end += counts[at(b)];
    }
    data = s.buffer(end);
  }
  sizes wide_counts() const { return {counts.begin(), counts.end()}; }
  sizes wide_displs() const { return {displs.begin(), displs.end()}; }
  void clear() { std::fill(data.begin(), data.end(), tests::untouched); }
  template <class Value>
  void fill(int b, Value&& of) {
    for (int k = 0; k < counts[at(b)] * shape.per(); ++k) data[shape.dense(displs[at(b)], k)] = of(k);
  }
  template <class Value>
  void fill_all(Value&& of) {  // of(block, k)
    for (int b = 0; b < static_cast<int>(counts.size()); ++b) fill(b, [&](int k) { return of(b, k); });
  }
  template <class Value>
  void expect(Value&& of) const {
    blocks wanted = *this;
    wanted.clear();
    wanted.fill_all(of);
    check.equal(data, wanted.data);
  }
  void expect_untouched() const { check.equal(data, ints(data.size(), tests::untouched)); }
};

void allgatherv(const communicator& world, const item_shape& f, const item_shape& t, bool gaps) {
  const int me = world.rank(), p = world.size();
  blocks from(f, 1, gaps, [&](int) { return length(me); });
  blocks to(t, p, gaps, [](int r) { return length(r); });
  // A single block is always at the beginning.
  from.displs[0] = 0;
  const auto prepare = [&](int round) {
    to.clear(), from.fill(0, [&](int k) { return value(round, me, 0, k); });
  };
  const auto verify = [&](int round) { to.expect([&](int r, int k) { return value(round, r, 0, k); }); };
  const auto wide = to.wide_displs();
  const three_forms forms{[&](auto... a) { world.allgatherv(std::move(a)...); },
                          [&](auto... a) { return world.iallgatherv(std::move(a)...); },
                          [&](auto... a) { return world.allgatherv_init(std::move(a)...); }};
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_count(from.counts[0]), recv_buf(to.data),
                    recv_type(t.item), recv_counts(to.counts), recv_displs(wide));
      },
      prepare, verify);
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(recv_displs(to.displs), send_type(f.item), send_count(from.counts[0]), recv_buf(to.data),
                    recv_type(t.item), send_buf(from.data));
      },
      prepare, verify);
  if (gaps) return;
  prepare(7);
  auto [counts, displs] =
      world
          .iallgatherv(send_buf(from.data), send_type(f.item), send_count(from.counts[0]), recv_buf(to.data),
                       recv_type(t.item), recv_counts_out(), recv_displs_out<sizes>())
          .wait();
  verify(7);
  check.equal(counts, to.counts);
  check.equal(displs, wide);
}

void gatherv(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size(), root_rank = p - 1;
  blocks from(f, 1, false, [&](int) { return length(me); });
  blocks to(t, p, true, [](int r) { return length(r); });
  const auto prepare = [&](int round) {
    to.clear(), from.fill(0, [&](int k) { return value(round, me, 0, k); });
  };
  const auto verify = [&](int round) {
    if (me == root_rank)
      to.expect([&](int r, int k) { return value(round, r, 0, k); });
    else
      to.expect_untouched();
  };
  const three_forms forms{[&](auto... a) { world.gatherv(std::move(a)...); },
                          [&](auto... a) { return world.igatherv(std::move(a)...); },
                          [&](auto... a) { return world.gatherv_init(std::move(a)...); }};
  const ints counts = me == root_rank ? to.counts : ints{};
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_count(from.counts[0]), recv_buf(to.data),
                    recv_type(t.item), recv_counts(counts), recv_displs(to.displs), root(root_rank));
      },
      prepare, verify);
  prepare(6);
  ints found(at(p), -1);
  world.gatherv(send_buf(from.data), send_type(f.item), send_count(from.counts[0]), recv_buf(to.data),
                recv_type(t.item), recv_counts_out(found), recv_displs(to.displs), root(root_rank));
  verify(6);
  check.equal(found, me == root_rank ? to.counts : ints(at(p), -1));

  // In place: the blocks of the other ranks are at the beginning of their buffers.
  ints& mine = me == root_rank ? to.data : from.data;
  blocks of_root(t, p, true, [](int r) { return length(r); });
  const item_shape& own = me == root_rank ? t : f;
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_recv_buf(mine), send_recv_type(own.item), send_count(from.counts[0]),
                    recv_counts(to.counts), recv_displs(to.displs), root(root_rank));
      },
      [&](int round) {
        prepare(round);
        to.fill(me, [&](int k) { return value(round, me, 0, k); });
      },
      [&](int round) {
        if (me == root_rank)
          to.expect([&](int r, int k) { return value(round, r, 0, k); });
        else
          from.expect([&](int, int k) { return value(round, me, 0, k); });
      });
}

void scatterv(const communicator& world, const item_shape& f, const item_shape& t) {
  const int me = world.rank(), p = world.size(), root_rank = p / 2;
  const bool at_root = me == root_rank;
  blocks from(f, p, true, [](int r) { return length(r); });
  blocks to(t, 1, false, [&](int) { return length(me); });
  const auto prepare = [&](int round) {
    to.clear(), from.clear();
    from.fill_all([&](int r, int k) { return value(round, root_rank, r, k); });
  };
  const auto verify = [&](int round) {
    to.expect([&](int, int k) { return value(round, root_rank, me, k); });
  };
  const three_forms forms{[&](auto... a) { world.scatterv(std::move(a)...); },
                          [&](auto... a) { return world.iscatterv(std::move(a)...); },
                          [&](auto... a) { return world.scatterv_init(std::move(a)...); }};
  const ints none, counts = at_root ? from.counts : none;
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_buf(at_root ? from.data : none), send_type(f.item), send_counts(counts),
                    send_displs(from.wide_displs()), recv_buf(to.data), recv_type(t.item), root(root_rank));
      },
      prepare, verify);
  prepare(6);
  int received = -1;
  world.scatterv(send_buf(from.data), send_type(f.item), send_counts(counts), send_displs(from.displs),
                 recv_buf(to.data), recv_type(t.item), recv_count_out(received), root(root_rank));
  verify(6);
  check.equal(received, to.counts[0]);
  prepare(7);
  world.scatterv(send_buf(from.data), send_type(f.item), send_counts(counts), send_displs(from.displs),
                 recv_buf(to.data), recv_type(t.item), recv_count(to.counts[0]), root(root_rank));
  verify(7);

  ints& mine = at_root ? from.data : to.data;
  const item_shape& own = at_root ? f : t;
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_recv_buf(mine), send_recv_type(own.item), send_counts(counts),
                    send_displs(from.displs), root(root_rank));
      },
      prepare,
      [&](int round) {
        if (!at_root) return verify(round);
        from.expect([&](int r, int k) { return value(round, root_rank, r, k); });
      });
}

void alltoallv(const communicator& world, const item_shape& f, const item_shape& t, bool gaps) {
  const int me = world.rank(), p = world.size();
  blocks from(f, p, gaps, [&](int s) { return length(me, s); });
  blocks to(t, p, gaps, [&](int r) { return length(r, me); });
  const auto prepare = [&](int round) {
    to.clear(), from.fill_all([&](int s, int k) { return value(round, me, s, k); });
  };
  const auto verify = [&](int round) { to.expect([&](int r, int k) { return value(round, r, me, k); }); };
  const three_forms forms{[&](auto... a) { world.alltoallv(std::move(a)...); },
                          [&](auto... a) { return world.ialltoallv(std::move(a)...); },
                          [&](auto... a) { return world.alltoallv_init(std::move(a)...); }};
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_counts(from.counts),
                    send_displs(from.displs), recv_buf(to.data), recv_type(t.item),
                    recv_counts(to.wide_counts()), recv_displs(to.displs));
      },
      prepare, verify);
  tests::in_all_forms(
      forms,
      [&](auto&& call) {
        return call(send_buf(from.data), send_type(f.item), send_counts(from.wide_counts()),
                    send_displs(from.wide_displs()), recv_buf(to.data), recv_type(t.item),
                    recv_displs(to.displs));
      },
      prepare, verify);
  if (gaps) return;
  prepare(7);
  auto result =
      world.alltoallv(send_buf(from.data), send_type(f.item), send_counts(from.counts), recv_buf(to.data),
                      recv_type(t.item), recv_displs_out(), recv_counts_out<sizes>(), send_displs_out());
  verify(7);
  check.equal(result.extract_recv_counts(), to.wide_counts());
  check.equal(result.extract_recv_displs(), to.displs);
  check.equal(result.extract_send_displs(), from.displs);
}

void in_place(const communicator& world, const item_shape& f, bool gaps) {
  const int me = world.rank(), p = world.size();
  blocks all(f, p, gaps, [](int r) { return length(r); });
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.allgatherv(std::move(a)...); },
                  [&](auto... a) { return world.iallgatherv(std::move(a)...); },
                  [&](auto... a) { return world.allgatherv_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_recv_buf(all.data), send_recv_type(f.item), recv_counts(all.counts),
                    recv_displs(all.displs));
      },
      [&](int round) { all.clear(), all.fill(me, [&](int k) { return value(round, me, 0, k); }); },
      [&](int round) { all.expect([&](int r, int k) { return value(round, r, 0, k); }); });
  // The same length in both directions.
  blocks each(f, p, gaps, [&](int r) { return std::max(length(r, me), length(me, r)); });
  tests::in_all_forms(
      three_forms{[&](auto... a) { world.alltoallv(std::move(a)...); },
                  [&](auto... a) { return world.ialltoallv(std::move(a)...); },
                  [&](auto... a) { return world.alltoallv_init(std::move(a)...); }},
      [&](auto&& call) {
        return call(send_recv_buf(each.data), send_recv_type(f.item), recv_counts(each.counts),
                    recv_displs(each.wide_displs()));
      },
      [&](int round) { each.clear(), each.fill_all([&](int r, int k) { return value(round, me, r, k); }); },
      [&](int round) { each.expect([&](int r, int k) { return value(round, r, me, k); }); });
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const auto shapes = tests::item_shapes();
    for (const item_shape& f : shapes) {
      const std::string name = f.name;
      for (const bool gaps : {false, true})
        cases("in_place/" + name + (gaps ? "/gaps" : "/dense"), [&] { in_place(world, f, gaps); });
      for (const item_shape& t : shapes) {
        if (!tests::is_tested(shapes, f, t, world.size())) continue;
        const std::string both = name + "_to_" + t.name;
        cases("gatherv/" + both, [&] { gatherv(world, f, t); });
        cases("scatterv/" + both, [&] { scatterv(world, f, t); });
        for (const bool gaps : {false, true}) {
          const char* how = gaps ? "/gaps" : "/dense";
          cases("allgatherv/" + both + how, [&] { allgatherv(world, f, t, gaps); });
          cases("alltoallv/" + both + how, [&] { alltoallv(world, f, t, gaps); });
        }
      }
    }
  });
}
