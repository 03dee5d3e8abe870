// SPDX-License-Identifier: Apache-2.0
//
// Tests reproducible reductions against the tree that one process evaluates level by level. The
// bits must not depend on the distribution. Covers operators known by name, user operators,
// non-associative operators, operators with state, and small and large elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "support/check.hpp"
#include "support/program.hpp"
#include "support/seed.hpp"
#include "tutti/reproducible.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

template <class T, class F>
T oracle(std::vector<T> v, F f) {
  for (std::size_t width = 1; width < v.size(); width *= 2)
    for (std::size_t i = 0; i + width < v.size(); i += 2 * width) v[i] = f(v[i], v[i + width]);
  return v[0];
}

template <class T>
bool same_bits(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, long double>)  // six of its bytes are padding
    return a == b;
  else
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The number of elements of each rank, in several ways.
std::vector<std::vector<std::size_t>> distributions(std::size_t n, std::size_t p, std::mt19937& random) {
  std::vector<std::vector<std::size_t>> all;
  std::vector<std::size_t> even(p);
  for (std::size_t r = 0; r < p; ++r) even[r] = n * (r + 1) / p - n * r / p;
  all.push_back(even);
  for (const std::size_t who : {std::size_t{0}, p / 2, p - 1}) {
    std::vector<std::size_t> one(p);
    one[who] = n;
    all.push_back(one);
  }
  for (int i = 0; i < 3; ++i) {  // random cuts, many of them equal
    std::vector<std::size_t> cuts{0, n};
    for (std::size_t r = 1; r < p; ++r) cuts.push_back(random() % 3 == 0 ? n / 2 : random() % (n + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::size_t> drawn(p);
    for (std::size_t r = 0; r < p; ++r) drawn[r] = cuts[r + 1] - cuts[r];
    all.push_back(drawn);
  }
  return all;
}

// All forms, on one array of which this rank has counts[rank] elements.
template <class T, class F>
void reduce_all_forms(communicator& world, const std::vector<T>& whole,
                      const std::vector<std::size_t>& counts, F f, const T& right) {
  const auto me = static_cast<std::size_t>(world.rank());
  std::size_t begin = 0;
  for (std::size_t r = 0; r < me; ++r) begin += counts[r];
  const auto from = whole.begin() + static_cast<std::ptrdiff_t>(begin);
  const std::vector<T> mine(from, from + static_cast<std::ptrdiff_t>(counts[me]));
  const reproducible array(world, mine.size());
  check.equal(array.size(), whole.size());
  check.equal(array.begin(), begin);
  for (int twice = 0; twice < 2; ++twice)
    check.that(same_bits(array.allreduce(send_buf(mine), op(f)), right), "allreduce");
  const int last = world.size() - 1;
  const auto at_last = array.reduce(op(f, ops::non_commutative), root(last), send_buf(mine));
  check.equal(at_last.has_value(), world.rank() == last);
  if (at_last) check.that(same_bits(*at_last, right), "reduce");
  check.that(same_bits(reproducible_allreduce(world, op(f), send_buf(mine)), right), "at once");
  const auto at_first = reproducible_reduce(world, send_buf(mine), op(f));
  check.equal(at_first.has_value(), world.is_root());
  if (at_first) check.that(same_bits(*at_first, right), "reduce at once");
}

template <class T, class F, class Draw>
void reduce_everywhere(communicator& world, std::mt19937& random, const std::vector<std::size_t>& sizes, F f,
                       Draw draw) {
  for (const std::size_t n : sizes) {
    std::vector<T> whole(n);
    for (T& one : whole) one = draw(random);
    const T right = oracle(whole, f);
    for (const auto& counts : distributions(n, static_cast<std::size_t>(world.size()), random))
      reduce_all_forms(world, whole, counts, f, right);
  }
}

double wide(std::mt19937& random) {
  const double x = static_cast<double>(random()) / 4e9 - 0.5;
  return std::ldexp(x, static_cast<int>(random() % 60));
}

struct matrix {  // products of these neither commute nor are exact
  double a[2][2];
};
matrix product(const matrix& x, const matrix& y) {
  matrix z;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) z.a[i][j] = x.a[i][0] * y.a[0][j] + x.a[i][1] * y.a[1][j];
  return z;
}

void operators(communicator& world, std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const std::vector<std::size_t> sizes{1, 2, 3, 5, 8, 13, 64, 100, 1023, 1025}, few{1, 7, 130};
  reduce_everywhere<double>(world, random, sizes, std::plus<>{}, wide);
  reduce_everywhere<float>(world, random, few, std::multiplies<>{},
                           [](std::mt19937& r) { return 0.5f + static_cast<float>(r() % 1000) / 999; });
  reduce_everywhere<long double>(world, random, few, std::plus<>{}, wide);
  // An operator that is not associative even in exact arithmetic, with state.
  const double k = 0.75;
  reduce_everywhere<double>(
      world, random, few, [k](double a, double b) { return a - k * b; }, wide);
  reduce_everywhere<matrix>(world, random, few, product, [](std::mt19937& r) {
    const auto x = [&] { return static_cast<double>(r()) / 4e9; };
    return matrix{{{x(), x()}, {x(), x()}}};
  });
  using large = std::array<double, 40>;  // a forest of these does not fit on the stack
  const auto add = [](const large& a, const large& b) {
    large c;
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i];
    return c;
  };
  reduce_everywhere<large>(world, random, few, add, [](std::mt19937& r) {
    large c;
    for (double& x : c) x = wide(r);
    return c;
  });
}

// The values give other bits in another order; otherwise the test would prove nothing.
void sensitive(communicator& world) {
  std::mt19937 random(5);
  std::vector<double> whole(1000);
  for (double& x : whole) x = wide(random);
  double in_turn = 0;
  for (const double x : whole) in_turn += x;
  check.that(!same_bits(in_turn, oracle(whole, std::plus<>{})), "these sums are all the same");
  const std::vector<double> mine = world.is_root() ? whole : std::vector<double>();
  check.that(!same_bits(reproducible_allreduce(world, send_buf(mine), op(std::plus<>{})), in_turn));
}

void usage_errors(communicator& world) {
  const reproducible array(world, 2);
  const std::vector<double> three(3), two{1, 2};
  check.throws<usage_error>([&] { array.allreduce(send_buf(three), op(std::plus<>{})); },
                            {"reproducible::allreduce", "send_buf", "3 elements", "has 2"});
  check.throws<usage_error>([&] { (void)array.reduce(send_buf(two), op(std::plus<>{}), root(world.size())); },
                            {"root", std::to_string(world.size()).c_str()});
  const std::vector<double> none;
  check.throws<usage_error>([&] { reproducible_allreduce(world, send_buf(none), op(std::plus<>{})); },
                            {"reproducible_allreduce", "send_buf", "no rank has any element"});
  check.equal(array.allreduce(send_buf({1.0, 2.0}), op(std::plus<>{})), 3.0 * world.size());
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const std::uint64_t seed = tests::selected_seed().value_or(3);
    cases("operators/seed_" + std::to_string(seed), [&] { operators(world, seed); });
    cases("sensitive", [&] { sensitive(world); });
    cases("usage_errors", [&] { usage_errors(world); });
  });
}
