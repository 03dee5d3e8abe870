// SPDX-License-Identifier: Apache-2.0
//
// Tests supersteps in C++ (tutti/bsp.hpp) against their definition: puts, gets, every collective on
// all processes and on subsets, with containers, values and slots. They also run beside other
// traffic, and in several contexts.
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/bsp.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

struct point {
  float x;
  std::int16_t y;
  friend bool operator==(const point&, const point&) = default;
};

int value_of(int from, int to, int i) { return from * 10000 + to * 100 + i; }

// --- puts and gets
void puts_of_values(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid();
  std::vector<int> received(static_cast<std::size_t>(2 * p), -1);
  std::vector<point> points(static_cast<std::size_t>(p));
  bsp::global_slot<int> slot = ctx.registered(received);
  auto point_slot = ctx.registered(points);
  ctx.sync();
  for (int k = 0; k < p; ++k) {
    int sent = value_of(me, k, 0);
    ctx.put(sent, k, slot, static_cast<std::size_t>(2 * me));
    sent = -7;  // the value has been copied
    ctx.put(value_of(me, k, 1), k, slot, static_cast<std::size_t>(2 * me + 1));
    ctx.put(point{1.0f * static_cast<float>(me), static_cast<std::int16_t>(k)}, k, point_slot,
            static_cast<std::size_t>(me));
  }
  ctx.sync();
  for (int k = 0; k < p; ++k) {
    check.equal(received[static_cast<std::size_t>(2 * k)], value_of(k, me, 0));
    check.equal(received[static_cast<std::size_t>(2 * k + 1)], value_of(k, me, 1));
    check.that(points[static_cast<std::size_t>(k)] ==
               point{1.0f * static_cast<float>(k), static_cast<std::int16_t>(me)});
  }
}

void puts_of_containers(bsp::context& ctx, std::size_t n) {
  const int p = ctx.nprocs(), me = ctx.pid();
  std::vector<int> received(n * static_cast<std::size_t>(p), -1), sent(n * static_cast<std::size_t>(p));
  for (int k = 0; k < p; ++k)
    for (std::size_t i = 0; i < n; ++i)
      sent[n * static_cast<std::size_t>(k) + i] = value_of(me, k, static_cast<int>(i));
  auto slot = ctx.registered(received);
  ctx.sync();
  for (int k = 0; k < p; ++k)
    ctx.put(std::span(sent).subspan(n * static_cast<std::size_t>(k), n), k, slot,
            n * static_cast<std::size_t>(me));
  ctx.sync();
  for (int k = 0; k < p; ++k)
    for (std::size_t i = 0; i < n; ++i)
      check.equal(received[n * static_cast<std::size_t>(k) + i], value_of(k, me, static_cast<int>(i)));
}

void gets(bsp::context& ctx, std::size_t n) {
  const int p = ctx.nprocs(), me = ctx.pid();
  std::vector<int> mine(n + 1);
  for (std::size_t i = 0; i <= n; ++i) mine[i] = value_of(me, 0, static_cast<int>(i));
  auto slot = ctx.registered(mine);
  ctx.sync();
  std::vector<std::vector<int>> received(static_cast<std::size_t>(p), std::vector<int>(n, -1));
  int one = -1;
  std::array<int, 1> other{-1};
  for (int k = 0; k < p; ++k) ctx.get(k, slot, 1, received[static_cast<std::size_t>(k)]);
  ctx.get(p - 1, slot, n, one);
  ctx.get(0, slot, 0, other);
  ctx.sync();
  for (int k = 0; k < p; ++k)
    for (std::size_t i = 0; i < n; ++i)
      check.equal(received[static_cast<std::size_t>(k)][i], value_of(k, 0, static_cast<int>(i) + 1));
  check.equal(one, value_of(p - 1, 0, static_cast<int>(n)));
  check.equal(other[0], value_of(0, 0, 0));
}

// All processes write to the same elements. Afterwards these contain one complete message.
void overlapping(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid();
  std::vector<int> received(1000, -1), sent(1000, me);
  auto slot = ctx.registered(received);
  ctx.sync();
  for (int k = 0; k < p; ++k) ctx.put(sent, k, slot);
  ctx.sync();
  check.that(received[0] >= 0 && received[0] < p);
  check.equal(received, std::vector<int>(1000, received[0]));
}

void text_and_views(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid(), next = (me + 1) % p, previous = (me + p - 1) % p;
  std::string text(20, '.');
  char letters[3] = {'.', '.', '.'};
  const std::string sent = "from " + std::to_string(me);
  auto slot = ctx.registered(text);
  auto small = ctx.registered(letters);
  ctx.sync();
  ctx.put(std::string_view(sent), next, slot);
  ctx.put("ab", next, small);
  ctx.sync();
  const std::string expected = "from " + std::to_string(previous);
  check.equal(text, expected + std::string(20 - expected.size(), '.'));
  check.equal(std::string_view(letters, 3), std::string_view("ab", 3));
}

// --- slots
void slots(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid(), next = (me + 1) % p, previous = (me + p - 1) % p;
  int a = -1, b = -1, sent = me;
  bsp::global_slot<int> first = ctx.registered(a), moved;
  {
    auto second = ctx.registered(b);
    check.that(second.number() != first.number() && second.data() == &b && second.size() == 1);
    moved = std::move(second);
    check.that(second.size() == 0 && second.number() == bsp::no_slot);
  }
  bsp::local_slot<int> local = ctx.registered_locally(sent);
  ctx.sync();
  ctx.put(local, next, first);
  ctx.put(me + 1000, next, moved);
  ctx.sync();
  check.equal(a, previous);
  check.equal(b, previous + 1000);
  first.deregister();
  check.equal(first.size(), 0u);
  std::array<int, 5> c{};
  first = ctx.registered(c);  // replaces the first slot
  ctx.sync();
  ctx.put(me, next, first, 4);
  ctx.get(previous, moved, 0, a);
  ctx.sync();
  check.equal(c[4], previous);
  check.equal(a, (previous + p - 1) % p + 1000);
  first[0] = 3;
  check.equal(std::accumulate(first.begin(), first.end(), 0), 3 + previous);
}

// Lengths differ and may be zero. The program creates and destroys many slots.
void registering(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid();
  std::vector<int> mine(static_cast<std::size_t>(me) % 3, me);
  auto area = ctx.registered(mine);
  std::vector<int> many(100, -1);
  std::vector<bsp::global_slot<int>> each;
  for (int& one : many) each.push_back(ctx.registered(one));
  ctx.sync();
  std::vector<int> received(2, -1);
  const int from = (me + 1) % p;
  ctx.get(from, area, 0, std::span(received).first(static_cast<std::size_t>(from) % 3));
  for (std::size_t i = 0; i < many.size(); ++i) ctx.put(me * 1000 + static_cast<int>(i), from, each[i]);
  ctx.sync();
  for (int i = 0; i < 2; ++i) check.equal(received[static_cast<std::size_t>(i)], i < from % 3 ? from : -1);
  const int previous = (me + p - 1) % p;
  for (std::size_t i = 0; i < many.size(); ++i) check.equal(many[i], previous * 1000 + static_cast<int>(i));
}

// --- collectives of a subset or of all

// Each process syncs p times, whatever the size of its subset.
void rooted(bsp::context& ctx, bsp::subset& set) {
  const int n = set.nprocs(), me = set.pid();
  const auto blocks = static_cast<std::size_t>(n);
  for (int round = 0; round < ctx.nprocs(); ++round) {
    const int root = round % n;
    std::vector<int> data{me, me + 1, me + 2};
    int one = me;
    std::vector<int> gathered(me == root ? 2 * blocks : 0, -1), in_place(me == root ? blocks : 0, -1);
    std::vector<int> to_scatter(me == root ? 2 * blocks : 0), scattered(2, -1);
    std::iota(to_scatter.begin(), to_scatter.end(), root);
    const std::array<int, 2> mine{me, -me};
    int contribution = me + 5, part = -1;
    if (me == root) in_place[static_cast<std::size_t>(me)] = contribution;
    set.broadcast(data, root);
    set.broadcast(one, root);
    set.gather(mine, gathered, root);
    if (me == root)
      set.gather(std::span(in_place).subspan(static_cast<std::size_t>(me), 1), in_place, root);
    else
      set.gather(contribution, in_place, root);
    set.scatter(to_scatter, scattered, root);
    set.scatter(std::span(to_scatter).first(me == root ? blocks : 0), part, root);
    ctx.sync();
    check.equal(data, std::vector<int>{root, root + 1, root + 2});
    check.equal(one, root);
    check.equal(scattered, std::vector<int>{root + 2 * me, root + 2 * me + 1});
    check.equal(part, root + me);
    for (std::size_t k = 0; me == root && k < blocks; ++k) {
      check.equal(gathered[2 * k], static_cast<int>(k));
      check.equal(gathered[2 * k + 1], -static_cast<int>(k));
      check.equal(in_place[k], static_cast<int>(k) + 5);
    }
  }
}

void unrooted(bsp::context& ctx, bsp::subset& set, std::size_t count) {
  const int n = set.nprocs(), me = set.pid();
  const auto blocks = static_cast<std::size_t>(n);
  std::vector<int> mine(count), all(count * blocks, -1), in_place(blocks, -1);
  std::vector<int> sent(count * blocks), received(count * blocks, -1);
  for (std::size_t i = 0; i < count; ++i) mine[i] = value_of(me, 0, static_cast<int>(i));
  for (std::size_t k = 0; k < blocks; ++k)
    for (std::size_t i = 0; i < count; ++i)
      sent[k * count + i] = value_of(me, static_cast<int>(k), static_cast<int>(i));
  in_place[static_cast<std::size_t>(me)] = me;
  set.allgather(mine, all);
  set.allgather(std::span(in_place).subspan(static_cast<std::size_t>(me), 1), in_place);
  set.alltoall(sent, received);
  ctx.sync();
  for (std::size_t k = 0; k < blocks; ++k) {
    check.equal(in_place[k], static_cast<int>(k));
    for (std::size_t i = 0; i < count; ++i) {
      check.equal(all[k * count + i], value_of(static_cast<int>(k), 0, static_cast<int>(i)));
      check.equal(received[k * count + i], value_of(static_cast<int>(k), me, static_cast<int>(i)));
    }
  }
}

void combining(bsp::context& ctx, bsp::subset& set, std::size_t count) {
  const int n = set.nprocs(), me = set.pid(), sum = n * (n - 1) / 2;
  for (int round = 0; round < ctx.nprocs(); ++round) {
    const int root = round % n;
    int added = me, everywhere = me;
    double largest = me, product = 2;
    std::vector<long> here(count, me), all(count, me);
    std::vector<int> modulo(count, me + 1);
    set.reduce(added, std::plus<>{}, root);
    set.allreduce(everywhere, std::plus<int>{});
    set.allreduce(largest, ops::max<>{});
    set.allreduce(product, [](double a, double b) { return a * b; });
    set.combine(here, std::plus<>{}, root);
    set.allcombine(all, ops::min<>{});
    {
      const std::vector<int> by(1, 7);  // owned by the callable, which the context keeps
      set.allcombine(modulo, [by](int a, int b) { return (a + b) % by[0]; });
    }
    ctx.sync();
    check.equal(added, me == root ? sum : me);
    check.equal(everywhere, sum);
    check.equal(largest, n - 1.0);
    check.equal(product, std::ldexp(1.0, n));
    if (me == root) check.equal(here, std::vector<long>(count, sum));
    check.equal(all, std::vector<long>(count, 0));
    check.equal(modulo, std::vector<int>(count, n * (n + 1) / 2 % 7));
  }
}

struct total {
  double sum;
  std::int32_t min;
};
total join(const total& a, const total& b) { return {a.sum + b.sum, std::min(a.min, b.min)}; }

// A user type, a function, a slot in place of a container, and a combination in a registered area.
void user_types(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid();
  total all{1.0 * me, -me};
  std::vector<float> area(64, 1);
  auto slot = ctx.registered(area);
  auto local = ctx.registered_locally(all);
  ctx.sync();
  ctx.allcombine(local, join);
  ctx.allcombine(slot, std::plus<>{});
  ctx.sync();
  check.equal(all.sum, p * (p - 1) / 2.0);
  check.equal(all.min, -(p - 1));
  check.equal(area, std::vector<float>(64, static_cast<float>(p)));
  ctx.broadcast(slot, p - 1);
  ctx.sync();
  check.equal(area, std::vector<float>(64, static_cast<float>(p)));
}

void subsets(bsp::context& ctx, std::size_t count) {
  const int p = ctx.nprocs(), me = ctx.pid();
  bsp::subset parity = ctx.members(me % 2, p, 2);
  bsp::subset half = me < p / 2 ? ctx.members(0, p / 2) : ctx.members(p / 2, p);
  ctx.sync();
  check.equal(parity.nprocs(), (p + 1 - me % 2) / 2);
  check.equal(parity.pid(), me / 2);
  check.equal(half.pid(), me < p / 2 ? me : me - p / 2);
  rooted(ctx, parity);
  combining(ctx, half, count);
  unrooted(ctx, parity, count);
  unrooted(ctx, half, count);
  // collectives of both subsets, and of all processes, in one superstep
  int a = me, b = me, c = me, alone = me;
  half.allreduce(b, std::plus<>{});
  parity.allreduce(a, std::plus<>{});
  ctx.allreduce(c, std::plus<>{});
  {
    bsp::subset short_lived = std::move(parity);
    parity = std::move(short_lived);
    bsp::subset single = ctx.members(me, me + 1);
    single.allreduce(alone, std::plus<>{});  // the subset is destroyed before the sync
  }
  ctx.sync();
  int even = 0, low = 0;
  for (int k = me % 2; k < p; k += 2) even += k;
  for (int k = me < p / 2 ? 0 : p / 2; k < (me < p / 2 ? p / 2 : p); ++k) low += k;
  check.equal(a, even);
  check.equal(b, low);
  check.equal(c, p * (p - 1) / 2);
  check.equal(alone, me);
}

// --- concurrent communication
void concurrent_traffic(communicator& world) {
  const int p = world.size(), me = world.rank(), next = (me + 1) % p, previous = (me + p - 1) % p;
  auto sum = world.iallreduce(send_buf(me), op(std::plus<>{}));
  auto p2p = world.irecv<int>(source(previous));
  bsp::context ctx(world), other(world);
  std::vector<int> received(2, -1);
  auto slot = ctx.registered(received);
  int other_value = -1;
  auto other_slot = other.registered(other_value);
  ctx.sync();
  ctx.put(me, next, slot);
  world.send(send_buf(me + 7), destination(next));
  other.sync();
  other.put(me + 1, next, other_slot);
  int total = me;
  other.allreduce(total, std::plus<>{});
  check.equal(world.allgather(send_buf(me))[static_cast<std::size_t>(next)], next);
  ctx.put(me, next, slot, 1);
  ctx.sync();
  check.equal(received, std::vector<int>(2, previous));
  check.equal(other_value, -1);
  other.sync();
  check.equal(other_value, previous + 1);
  check.equal(total, p * (p - 1) / 2);
  check.equal(p2p.wait()[0], previous + 7);
  check.equal(sum.wait()[0], p * (p - 1) / 2);
}

void on_a_subgroup(communicator& world) {
  communicator part =
      world.range(world.rank() % 2, world.size() - 1 - (world.size() - 1 - world.rank()) % 2, 2);
  bsp::context ctx(part);
  check.equal(ctx.nprocs(), part.size());
  check.equal(ctx.pid(), part.rank());
  puts_of_values(ctx);
  unrooted(ctx, ctx, 3);
}

void costs(communicator& world, bsp::context& ctx) {
  for (const std::size_t bytes : {0, 1, 8, 100000}) {
    const bsp::costs mine = ctx.cost(bytes);
    check.that(mine.g > 0 && mine.l > 0 && std::isfinite(mine.g) && std::isfinite(mine.l));
    double g = mine.g, l = mine.l;
    world.bcast(send_recv_buf(g));
    world.bcast(send_recv_buf(l));
    check.that(g == mine.g && l == mine.l, "the same on all processes");
  }
  check.that(ctx.cost(8).g >= ctx.cost(100000).g);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    bsp::context ctx(world);
    for (const std::size_t n : {0, 1, 5, 3000}) {
      const std::string of_n = "/" + std::to_string(n);
      cases("puts_of_containers" + of_n, [&] { puts_of_containers(ctx, n); });
      cases("gets" + of_n, [&] { gets(ctx, n); });
      cases("unrooted" + of_n, [&] { unrooted(ctx, ctx, n); });
      cases("combining" + of_n, [&] { combining(ctx, ctx, n); });
      cases("subsets" + of_n, [&] { subsets(ctx, n); });
    }
    cases("puts_of_values", [&] { puts_of_values(ctx); });
    cases("overlapping", [&] { overlapping(ctx); });
    cases("text_and_views", [&] { text_and_views(ctx); });
    cases("slots", [&] { slots(ctx); });
    cases("registering", [&] { registering(ctx); });
    cases("rooted", [&] { rooted(ctx, ctx); });
    cases("user_types", [&] { user_types(ctx); });
    cases("concurrent_traffic", [&] { concurrent_traffic(world); });
    cases("on_a_subgroup", [&] { on_a_subgroup(world); });
    cases("costs", [&] { costs(world, ctx); });
  });
}
