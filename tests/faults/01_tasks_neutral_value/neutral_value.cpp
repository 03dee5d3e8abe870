// SPDX-License-Identifier: Apache-2.0
//
// Tests reductions of tasks by operators whose neutral element is not T{}: the initial value of
// contributions, and the result, compared with a serial run.
#include <complex>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

using tests::check;
namespace tasks = tutti::tasks;

namespace {

// Two tasks of each rank change their contribution with `op` itself. The data handle begins with
// `first`.
template <class T, class Op, class... Neutral>
void combined(tutti::communicator& world, T first, Op op, const std::function<T(int)>& of,
              Neutral... neutral) {
  const int p = world.size();
  for (int owner = 0; owner<p; owner += p> 3 ? 3 : 1) {
    tasks::runtime rt(world);
    T x = first, expected = first;
    const auto h = world.rank() == owner ? rt.data(x, owner) : rt.data<T>(owner);
    for (int i = 0; i < 2 * p; ++i) {
      const T one = of(i);
      rt.insert([one, op](T& mine) { mine = op(mine, one); }, tasks::name("contribution"),
                tasks::reduce(h, op, neutral...), tasks::on(i % p));
      expected = op(expected, one);
    }
    rt.wait_all();
    if (world.rank() == owner) check.that(x == expected, "what the tasks have combined");
  }
}

void products(tutti::communicator& world) {
  const auto times = [](int a, int b) { return a * b % 10007; };
  combined<int>(
      world, 5, times, [](int i) { return i + 2; }, tasks::neutral(1));
  combined<double>(
      world, 0.5, [](auto a, auto b) { return a * b; }, [](int i) { return i % 2 ? 2.0 : 0.25; },
      tasks::neutral(1));
  combined<std::complex<double>>(world, {0, 1}, std::multiplies<>{},
                                 [](int) { return std::complex<double>(0, 1); });
}

void extremes_of_one_sign(tutti::communicator& world) {
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const auto larger = [](int a, int b) { return a < b ? b : a; };
  using limits = std::numeric_limits<int>;
  combined<int>(
      world, 1000, smaller, [](int i) { return 100 + i; }, tasks::neutral(limits::max()));
  combined<int>(
      world, -1000, larger, [](int i) { return -100 - i; }, tasks::neutral(limits::lowest()));
  combined<int>(world, 1000, tutti::ops::min<>{}, [](int i) { return 100 + i; });
  combined<int>(world, -1000, tutti::ops::max<int>{}, [](int i) { return -100 - i; });
}

// For every functor that is known by name, the initial value is its neutral element.
template <class T, class Op>
void keeps_value(tutti::communicator& world, Op op, T sample) {
  tasks::runtime rt(world);
  T x = sample;
  const auto h = world.is_root() ? rt.data(x, 0) : rt.data<T>(0);
  for (int r = 0; r < world.size(); ++r) rt.insert([](T&) {}, tasks::reduce(h, op), tasks::on(r));
  rt.wait_all();
  if (world.is_root()) check.that(x == sample, "contributions that nothing was written to change nothing");
}
void functors(tutti::communicator& world) {
  keeps_value(world, std::plus<>{}, 7);
  keeps_value(world, std::multiplies<>{}, 7.5);
  keeps_value(world, tutti::ops::min<>{}, -3);
  keeps_value(world, tutti::ops::max<>{}, 3u);
  keeps_value(world, std::bit_and<>{}, 0x55u);
  keeps_value(world, std::bit_or<>{}, 0x55);
  keeps_value(world, std::bit_xor<>{}, 0x55);
  keeps_value(world, std::logical_and<>{}, true);
  keeps_value(world, std::logical_and<>{}, false);
  keeps_value(world, std::logical_or<>{}, 1);
  keeps_value(world, tutti::ops::logical_xor<>{}, true);
  keeps_value(world, std::bit_and<>{}, std::byte{0x5a});
  keeps_value(world, std::bit_xor<std::byte>{}, std::byte{0x5a});
  keeps_value(world, std::plus<>{}, std::complex<float>(1, 2));
}

struct alignas(64) rotation {
  int turns, of;
  friend bool operator==(const rotation&, const rotation&) = default;
};
struct add_turns {
  rotation operator()(const rotation& a, const rotation& b) const {
    return {(a.turns + b.turns) % a.of, a.of};
  }
};

void own_types_and_spans(tutti::communicator& world) {
  combined<rotation>(
      world, {3, 12}, add_turns{},
      [](int i) {
        return rotation{i % 12, 12};
      },
      tasks::neutral(rotation{0, 12}));
  const int p = world.size();
  tasks::runtime rt(world);
  std::vector<long> v(300, 2);
  int sum = 0;
  const auto h = world.is_root() ? rt.data(v, 0) : rt.data<std::span<long>>(0, v.size());
  const auto s = world.is_root() ? rt.data(sum, 0) : rt.data<int>(0);
  const auto times = [](long a, long b) { return a * b % 1000003; };
  const std::string state(100, 'k');  // the kernel has state to destroy
  for (int r = 0; r < p; ++r)
    rt.insert(
        [state](std::span<long> mine, int& one) {
          for (long& x : mine) x = x * static_cast<long>(state.size()) % 1000003;
          ++one;
        },
        tasks::on(r), tasks::reduce(h, times, tasks::neutral(1L)), tasks::reduce(s, std::plus<>{}));
  rt.wait_all();
  long expected = 2;
  for (int r = 0; r < p; ++r) expected = expected * 100 % 1000003;
  if (world.is_root()) {
    check.equal(v, std::vector<long>(300, expected));
    check.equal(sum, p);
  }
}

// Another state of the same operator has another neutral element. Both keep operands unchanged, so
// no contribution is lost.
void two_values(tutti::communicator& world) {
  const auto larger = [](int a, int b) { return a < b ? b : a; };
  tasks::runtime rt(world);
  int x = 1;
  const auto h = world.is_root() ? rt.data(x, 0) : rt.data<int>(0);
  for (int r = 0; r < world.size(); ++r) {
    rt.insert([r](int& mine) { mine = mine < r ? r : mine; }, tasks::on(r),
              tasks::reduce(h, larger, tasks::neutral(0)));
    rt.insert([r](int& mine) { mine = mine < 10 * r ? 10 * r : mine; }, tasks::on(r),
              tasks::reduce(h, larger, tasks::neutral(-1)));
  }
  rt.wait_all();
  if (world.is_root()) check.equal(x, world.size() == 1 ? 1 : 10 * (world.size() - 1));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& run) {
    run("products", [&] { products(world); });
    run("extremes_of_one_sign", [&] { extremes_of_one_sign(world); });
    run("functors", [&] { functors(world); });
    run("own_types_and_spans", [&] { own_types_and_spans(world); });
    run("two_values", [&] { two_values(world); });
  });
}
