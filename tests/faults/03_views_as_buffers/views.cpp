// SPDX-License-Identifier: Apache-2.0
//
// Tests views and references as buffers: their elements are sent and written, in every place that
// accepts a container.
#include <array>
#include <complex>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/bsp.hpp"
#include "tutti/reproducible.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;
namespace views = std::views;
using ints = std::vector<int>;

namespace {

// --- elements that are known to contain addresses
template <class... T>
inline constexpr bool all_hold_addresses = (detail::holds_address<T>() && ...);
template <class... T>
inline constexpr bool all_travel = (detail::is_sendable<T> && ...);
struct plain {
  int a;
  double b;
};
static_assert(all_hold_addresses<int*, const char*, void (*)(), void (plain::*)(), std::string_view,
                                 std::span<int>, std::span<int, 3>, std::reference_wrapper<int>,
                                 std::initializer_list<int>, ints::iterator, std::reverse_iterator<int*>,
                                 std::ranges::subrange<int*>, std::ranges::ref_view<ints>, std::nullptr_t>);
static_assert(all_hold_addresses<std::pair<int, const char*>, std::tuple<int, std::span<int>>,
                                 std::array<std::string_view, 3>, std::optional<int*>,
                                 std::variant<int, std::string_view>,
                                 std::pair<int, std::array<std::optional<char*>, 2>>, int* [3]>);
static_assert(all_travel<int, plain, std::byte, std::pair<int, double>, std::tuple<int, plain>,
                         std::array<plain, 100000>, std::optional<plain>, std::variant<int, plain>,
                         std::complex<float>, int plain::*>);
static_assert(!all_travel<std::vector<int>>);

ints first(int n, int from) {
  ints v;
  for (int i = 0; i < n; ++i) v.push_back(from + i);
  return v;
}
// The result of an allgather in which rank r sends `from + 100 r` and the following numbers.
ints of_all(int p, int n, int from) {
  ints all;
  for (int r = 0; r < p; ++r)
    for (int x : first(n, from + 100 * r)) all.push_back(x);
  return all;
}

void sent(communicator& world) {
  const int p = world.size(), me = world.rank();
  ints v = first(5, 100 * me);
  const ints two = of_all(p, 2, 0), last_three = of_all(p, 3, 2), all = of_all(p, 5, 0);
  check.equal(world.allgather(send_buf(std::ranges::subrange(v.begin(), v.begin() + 2))), two);
  check.equal(world.allgather(send_buf(v | views::take(2))), two);
  check.equal(world.allgather(send_buf(v | views::drop(2))), last_three);
  check.equal(world.allgather(send_buf(v | views::drop(1) | views::take(2) | views::drop(0))),
              of_all(p, 2, 1));
  check.equal(world.allgather(send_buf(v | views::drop_while([&](int x) { return x < 100 * me + 2; }))),
              last_three);
  check.equal(world.allgather(send_buf(views::all(v))), all);
  // The view owns its elements.
  check.equal(world.allgather(send_buf(first(5, 100 * me) | views::take(2))), two);
  check.equal(world.allgather(send_buf(views::counted(v.begin(), 2))), two);
  check.equal(world.allgather(send_buf(views::single(me))).size(), std::size_t(p));
  check.equal(world.allgather(send_buf(std::ref(v))), all);
  check.equal(world.allgather(send_buf(std::cref(v))), all);
  check.equal(world.allgather(send_buf(std::ref(me))).size(), std::size_t(p));
  const std::initializer_list<int> list = {7, 8};
  check.equal(world.allgather(send_buf(list)).size(), 2 * std::size_t(p));
  const auto some = views::take(v, 2);
  check.equal(world.allgatherv(send_buf(some)), two);
  check.equal(world.iallgather(send_buf(v | views::take(2))).wait(), two);
  auto plan = world.allgather_init(send_buf(v | views::take(2)));
  plan.start();
  check.equal(plan.wait(), two);
  const auto sum = world.allreduce(send_buf(v | views::take(2)), op(std::plus<>{}));
  check.equal(sum, ints{100 * p * (p - 1) / 2, 100 * p * (p - 1) / 2 + p});
  check.equal(reproducible_allreduce(world, send_buf(v | views::take(1)), op(std::plus<>{})), sum[0]);
}

void received(communicator& world) {
  const int p = world.size(), me = world.rank();
  const ints v = first(2, 100 * me), right = of_all(p, 2, 0);
  const auto expect = [&](const ints& out) {
    check.equal(out.front(), -1), check.equal(out.back(), -1);
    check.equal(ints(out.begin() + 1, out.end() - 1), right);
  };
  const auto fresh = [&] { return ints(right.size() + 2, -1); };
  ints out = fresh();
  world.allgather(send_buf(v), recv_buf(out | views::drop(1)));
  expect(out);
  out = fresh();
  const auto inside = std::ranges::subrange(out.begin() + 1, out.end() - 1);
  world.iallgather(send_buf(v), recv_buf(inside)).wait();
  expect(out);
  out = fresh();
  const ints counts(std::size_t(p), 2);
  world.allgatherv(send_buf(v), recv_buf(std::span(out).subspan(1)), recv_counts(counts | views::take(p)));
  expect(out);
  ints made;
  world.allgather(send_buf(v), recv_buf<resize_to_fit>(std::ref(made)));
  check.equal(made, right);
  check.throws<usage_error>([&] { world.allgather(send_buf(v), recv_buf(made | views::take(2 * p - 1))); },
                            {"recv_buf", "elements"});
  // In place on a part of a container; the rest must not change.
  ints array = {-1, me, me, -1};
  world.allreduce(send_recv_buf(array | views::drop(1) | views::take(2)), op(std::plus<>{}));
  check.equal(array, ints{-1, p * (p - 1) / 2, p * (p - 1) / 2, -1});
  array = {-1, me == 0 ? 5 : 0, -1};
  world.bcast(send_recv_buf(array | views::drop(1) | views::take(1)), send_recv_count(1));
  check.equal(array, ints{-1, 5, -1});
}

void exchanged(communicator& world) {
  const int p = world.size(), me = world.rank();
  const int next = (me + 1) % p, before = (me + p - 1) % p;
  const ints v = first(4, 100 * me);
  ints got(6, -1);
  auto pending = world.isend(send_buf(v | views::drop(2)), destination(next));
  world.recv(recv_buf(got | views::drop(1) | views::take(2)), source(before));
  pending.wait();
  check.equal(got, ints{-1, 100 * before + 2, 100 * before + 3, -1, -1, -1});
  ints all;
  world.sendrecv(send_buf(std::ref(v)), recv_buf<resize_to_fit>(std::ref(all)), destination(next),
                 source(before));
  check.equal(all, first(4, 100 * before));
}

void other_front_ends(communicator& world) {
  const int p = world.size(), me = world.rank();
  ints v = first(4, 100 * me), out(2 * std::size_t(p) + 1, -1);
  bsp::context ctx(world);
  ctx.allgather(v | views::take(2), out | views::drop(1));
  ctx.sync();
  check.equal(ints(out.begin() + 1, out.end()), of_all(p, 2, 0));
  tasks::runtime rt(world);
  const auto h = me == 0 ? rt.data(v | views::drop(2), 0) : rt.data<std::span<int>>(0, 2);
  rt.insert([](std::span<int> x) { x[0] = x[1] = 9; }, tasks::read_write(h), tasks::on(p - 1));
  rt.wait_all();
  if (me == 0) check.equal(v, ints{0, 1, 9, 9});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& run) {
    run("sent", [&] { sent(world); });
    run("received", [&] { received(world); });
    run("messages", [&] { exchanged(world); });
    run("other_front_ends", [&] { other_front_ends(world); });
  });
}
