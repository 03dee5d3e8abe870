// SPDX-License-Identifier: Apache-2.0
//
// Tests which operators are accepted for which elements, and that accepted operators give the
// expected results.
#include <cstdint>
#include <functional>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/bsp.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

template <class T, class F>
consteval bool converts(F) {
  return detail::converts_elements<T, F>();
}
template <class T, class F>
consteval bool narrows(F) {
  return detail::narrows_result<T, F>;
}
int int_sum(int a, int b) { return a + b; }
double double_sum(const double& a, double b) noexcept { return a + b; }
struct counted_sum {
  int calls = 0;
  double operator()(double a, double b) & noexcept { return ++calls, a + b; }
};

static_assert(converts<double>(std::plus<int>{}) && converts<float>(std::plus<double>{}));
static_assert(converts<double>([](int a, int b) { return a + b; }) && converts<double>(&int_sum));
static_assert(converts<double>([](double a, float b) { return a + b; }));
static_assert(converts<long>(ops::max<int>{}) && converts<bool>(ops::logical_xor<int>{}));
static_assert(!converts<double>(std::plus<double>{}) && !converts<double>(&double_sum));
static_assert(!converts<double>(std::plus<>{}) && !converts<double>([](auto a, auto b) { return a + b; }));
static_assert(!converts<double>(counted_sum{}) && !converts<int>(ops::max<int>{}));
static_assert(detail::converts_elements<double, std::function<int(int, int)>>());
static_assert(detail::converts_elements<double, std::reference_wrapper<decltype(int_sum)>>());
static_assert(!detail::converts_elements<double, std::reference_wrapper<counted_sum>>());

// Callables with several signatures.
static_assert(converts<double>(std::bind(std::plus<int>{}, std::placeholders::_1, std::placeholders::_2)));
static_assert(converts<long long>(std::bind(std::plus<int>{}, std::placeholders::_1, std::placeholders::_2)));
static_assert(converts<double>(std::bind(std::plus<float>{}, std::placeholders::_1, std::placeholders::_2)));
static_assert(!converts<short>(std::bind(std::plus<>{}, std::placeholders::_1, std::placeholders::_2)));
static_assert(!converts<double>(std::bind(std::plus<>{}, std::placeholders::_1, std::placeholders::_2)));
static_assert(!converts<int>(std::bind(std::plus<int>{}, std::placeholders::_1, std::placeholders::_2)));
static_assert(!converts<double>([](auto a, auto b) { return a < b ? 1 : 0; }));

static_assert(narrows<int>([](int a, int b) { return 0.5 * a + b; }));
static_assert(narrows<int>([](int a, int b) { return 1L * a + b; }));
static_assert(narrows<unsigned>([](unsigned a, unsigned b) { return static_cast<int>(a + b); }));
static_assert(narrows<float>([](auto a, auto b) { return a + 1.0 * b; }));
static_assert(narrows<float>([](float a, float b) { return a < b ? 1L : 0L; }));
static_assert(!narrows<short>(std::plus<>{}) && !narrows<std::uint8_t>(std::plus<>{}));
static_assert(!narrows<bool>(std::plus<>{}) && !narrows<int>(std::logical_and<>{}));
static_assert(!narrows<float>(std::logical_or<>{}) && !narrows<double>([](double, double) { return 1; }));

void sums(communicator& world) {
  const int p = world.size();
  const std::vector<double> v = {0.5 + world.rank(), 1};
  const double expected = p * 0.5 + p * (p - 1) / 2.0;
  const auto same = [&](const std::vector<double>& got) {
    check.equal(got, std::vector<double>{expected, 1.0 * p});
  };
  same(world.allreduce(send_buf(v), op(std::plus<>{})));
  same(world.allreduce(send_buf(v), op(std::plus<double>{})));
  same(world.allreduce(send_buf(v), op([](auto a, auto b) { return a + b; })));
  same(world.allreduce(send_buf(v), op(&double_sum, ops::commutative)));
  same(world.iallreduce(send_buf(v), op(std::function<double(double, double)>(double_sum))).wait());
  using namespace std::placeholders;
  same(world.allreduce(send_buf(v), op(std::bind(double_sum, _1, _2))));
  counted_sum counted;
  same(world.allreduce(send_buf(v), op(std::ref(counted))));
  const auto last = world.allreduce_single(send_buf(counted.calls), op(ops::max<>{}));
  check.that(p == 1 || last > 0, "std::ref: the caller's own operator was called");
  bsp::context ctx(world);
  double sum = v[0];
  ctx.allreduce(sum, [](const auto& a, const auto& b) { return a + b; });
  ctx.sync();
  check.equal(sum, expected);
}

// Results of another type than the element's, without loss of information.
void other_results(communicator& world) {
  const int p = world.size();
  const std::vector<short> v = {1, 2};
  check.equal(world.allreduce(send_buf(v), op(std::plus<>{})), std::vector<int>{p, 2 * p});
  check.equal(world.allreduce(send_buf(v), op([](short a, short b) { return a + b; })),
              std::vector<int>{p, 2 * p});
  const std::vector<int> flags = {2, world.rank() == 0};
  check.equal(world.allreduce(send_buf(flags), op(std::logical_or<>{})), std::vector<int>{p == 1 ? 2 : 1, 1});
  if (p > 1) check.equal(world.allreduce(send_buf(flags), op(std::logical_and<>{})), std::vector<int>{1, 0});
  check.equal(world.allreduce_single(send_buf(true), op(std::plus<>{})), true);
  check.equal(world.exscan_single(send_buf(1.5), op(std::plus<>{}), values_on_rank_0(0)), 1.5 * world.rank());
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& run) {
    run("sums", [&] { sums(world); });
    run("other_results", [&] { other_results(world); });
  });
}
