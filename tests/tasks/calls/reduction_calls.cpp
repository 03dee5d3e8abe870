// SPDX-License-Identifier: Apache-2.0
//
// Tests reductions: contributions of tasks on any ranks.
#include <algorithm>

#include "calls/call_tests.hpp"

namespace calls {
namespace {

struct longest {
  int begin, length;
};
struct longer {
  longest operator()(const longest& a, const longest& b) const {
    return a.length > b.length || (a.length == b.length && a.begin < b.begin) ? a : b;
  }
};

// One contribution of each rank to data that begin with `first`.
template <class T, class Op, class... Neutral>
void one_of_each(communicator& world, T first, Op op, T neutral, const std::function<T(int)>& of,
                 Neutral... given) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  for (int owner = 0; owner < p; owner += std::max(1, p / 3)) {
    T x = first, right = first;
    const auto h = rt.data(x, owner);
    for (int r = 0; r < p; ++r) {
      rt.insert(
          [&, r, neutral](T& mine) {
            check.that(mine == neutral, "a contribution begins as what the operator leaves alone");
            mine = of(r);
          },
          tasks::reduce(h, op, given...), tasks::on(r));
      right = op(right, of(r));
    }
    std::vector<T> seen(at(p), first);
    for (int r = 0; r < p; ++r)
      rt.insert([&s = seen[at(r)]](const T& v) { s = v; }, tasks::read(h), tasks::on(r));
    rt.wait_all();
    check.that(seen[at(me)] == right, "what was combined is read");
    if (me == owner) check.that(x == right);
  }
}

void operators(communicator& world) {
  one_of_each<int>(world, 5, std::plus<>{}, 0, [](int r) { return r + 1; });
  one_of_each<unsigned>(world, 1, std::multiplies<>{}, 1, [](int r) { return r % 3 + 1u; });
  one_of_each<int>(world, -50, tutti::ops::max(), std::numeric_limits<int>::lowest(),
                   [](int r) { return 7 * r % 11; });
  one_of_each<double>(world, 3.5, tutti::ops::min(), std::numeric_limits<double>::infinity(),
                      [](int r) { return 9.0 - r; });
  one_of_each<std::uint64_t>(world, 0, std::bit_or<>{}, 0,
                             [](int r) { return std::uint64_t{1} << (r % 60); });
  one_of_each<std::uint8_t>(world, 0xff, std::bit_and<>{}, 0xff,
                            [](int r) { return static_cast<std::uint8_t>(~(1 << r % 8)); });
  one_of_each<int>(
      world, 4, [](int a, int b) { return a * b % 1009; }, 1, [](int r) { return r + 2; },
      tasks::neutral(1));  // any callable
}

// A type and an operator of the program.
void own_type(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  longest x{100, 1};
  const auto h = rt.data(x, p - 1);
  for (int r = 0; r < p; ++r)
    rt.insert(
        [r](longest& mine) {
          check.that(mine.begin == 0 && mine.length == 0);
          mine = {r, 2 + r % 4};
        },
        tasks::reduce(h, longer(), tasks::neutral(longest{0, 0})), tasks::on(r));
  rt.wait_all();
  longest right{100, 1};
  for (int r = 0; r < p; ++r) right = longer()(right, {r, 2 + r % 4});
  if (me == p - 1) check.that(x.begin == right.begin && x.length == right.length);
}

// wait_all() completes the reduction, without another use.
void complete_after_wait_all(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int x = 0;
  const auto h = rt.data(x, 0);
  for (int round = 1; round <= 5; ++round) {
    for (int r = 0; r < p; ++r)
      rt.insert([](int& v) { v += 1; }, tasks::reduce(h, std::plus<>{}), tasks::on(r));
    rt.wait_all();
    if (me == 0) check.equal(x, round * p);
  }
}

// Many contributions of each rank to spans, with reads and writes in between.
void many_between_other_uses(communicator& world) {
  for (const std::size_t n : {1u, 300u, 20000u}) {
    tasks::runtime rt(world);
    const int p = rt.size(), me = rt.rank();
    std::vector<double> sum(n, 1);
    const auto h = rt.data(sum, p / 2);
    double right = 1;
    std::vector<double> seen;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 3 * p; ++i) {
        rt.insert(
            [i](std::span<double> v) {
              for (double& y : v) y += i;
            },
            tasks::reduce(h, std::plus<>{}), tasks::on(i * 5 % p));
        right += i;
      }
      rt.insert([expected = right](std::span<const double> v) { check.equal(v.back(), expected); },
                tasks::read(h), tasks::on(round % p));
      if (round == 1) {
        rt.insert(
            [](std::span<double> v) {
              for (double& y : v) y *= 2;
            },
            tasks::read_write(h), tasks::on(p - 1));
        right *= 2;
      }
      if (round == 2) {  // the contributions are overwritten
        rt.insert(
            [](std::span<double> v) {
              for (double& y : v) y += 1000;
            },
            tasks::reduce(h, std::plus<>{}), tasks::on(0));
        rt.insert([](std::span<double> v) { std::ranges::fill(v, 3); }, tasks::write(h));
        right = 3;
      }
    }
    rt.wait_all();
    if (me == p / 2) check.equal(sum, std::vector<double>(n, right));
  }
}

void one_operator_after_another(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  unsigned x = 3, right = 3;
  const auto h = rt.data(x, p - 1);
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < p; ++r)
      rt.insert([](unsigned& v) { v += 2; }, tasks::reduce(h, std::plus<>{}), tasks::on(r));
    right += 2 * static_cast<unsigned>(p);
    for (int r = 0; r < p; ++r) {
      rt.insert([](unsigned& v) { v *= 3; }, tasks::reduce(h, std::multiplies<>{}), tasks::on(r));
      right *= 3;
    }
  }
  rt.wait_all();
  if (me == p - 1) check.equal(x, right);
}

// Contributions that also read one data handle and write another.
void beside_other_data(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  if (p == 1) return;
  int mine = me + 1;
  const auto all = one_each(rt, mine);
  long dot = 0;
  const auto sum = rt.data(dot, 0);
  for (int round = 0; round < 3; ++round)
    for (int r = 0; r < p; ++r)
      rt.insert([](long& s, int& x, int y) { s += x * y, ++x; }, tasks::reduce(sum, std::plus<>{}),
                tasks::on_owner_of(all[at(r)]), tasks::read_write(all[at(r)]),
                tasks::read(all[at((r + 1) % p)]));
  rt.wait_all();
  std::vector<int> v(at(p));
  for (int r = 0; r < p; ++r) v[at(r)] = r + 1;
  long right = 0;
  for (int round = 0; round < 3; ++round)
    for (int r = 0; r < p; ++r) right += v[at(r)] * v[at((r + 1) % p)], ++v[at(r)];
  if (me == 0) check.equal(dot, right);
}

}  // namespace

void add_reductions(list& all) {
  all.insert(all.end(), {{"operators", operators},
                         {"own_type", own_type},
                         {"complete_after_wait_all", complete_after_wait_all},
                         {"many_between_other_uses", many_between_other_uses},
                         {"one_operator_after_another", one_operator_after_another},
                         {"beside_other_data", beside_other_data}});
}

}  // namespace calls
