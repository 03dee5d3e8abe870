// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels: any callable, on the rank that the arguments select, with data in any order among
// them.
#include <array>
#include <atomic>
#include <memory>

#include "calls/call_tests.hpp"

namespace calls {
namespace {

void add_one(int& x) { ++x; }
int add_noexcept(int& x, const int& y) noexcept { return x += y; }
struct times {
  int factor;
  void operator()(int& x) const { x *= factor; }
};
struct once {
  std::unique_ptr<int> owned;  // move-only
  void operator()(int& x) { x += (*owned)++; }
};

void callables(communicator& world) {
  tasks::runtime rt(world);
  const int me = rt.rank(), last = rt.size() - 1;
  int x = me == last ? 1 : -1, y = me == last ? 10 : -1;
  const auto hx = rt.data(x, last), hy = rt.data(y, last);
  rt.insert(add_one, tasks::read_write(hx));                                                  // 2
  rt.insert(&add_one, tasks::read_write(hx));                                                 // 3
  rt.insert(add_noexcept, tasks::read_write(hx), tasks::read(hy));                            // 13
  rt.insert(times{3}, tasks::read_write(hx));                                                 // 39
  rt.insert(once{std::make_unique<int>(2)}, tasks::read_write(hx));                           // 41
  rt.insert([](auto& a, auto b) { a = 2 * a + b; }, tasks::read_write(hx), tasks::read(hy));  // 92
  rt.insert([](auto&&... all) { std::get<1>(std::tie(all...)) += 1; }, tasks::read(hy),
            tasks::read_write(hx));                                         // 93
  rt.insert([n = 0](int& a) mutable { a += ++n; }, tasks::read_write(hx));  // 94
  const times twice{2};
  rt.insert(twice, tasks::read_write(hx));  // 188
  std::function<void(int&)> erased = [](int& a) { --a; };
  rt.insert(erased, tasks::read_write(hx));             // 187
  rt.insert(std::move(erased), tasks::read_write(hx));  // 186
  rt.wait_all();
  check.equal(x, me == last ? 186 : -1);
  check.equal(rt.statistics().tasks_run, me == last ? 11u : 0u);
}

// A kernel that never ran is destroyed too; a kernel that ran is destroyed once.
void ended_once(communicator& world) {
  auto counted = std::make_shared<int>(0);
  {
    tasks::runtime rt(world);
    int x = 0;
    const auto h = rt.data(x, 0);
    std::array<char, 5000> large{};
    for (int i = 0; i < 50; ++i) {
      rt.insert([counted](int& v) { ++v; }, tasks::read_write(h));
      rt.insert([counted, large](const int&) { check.equal(large[4999], 0); }, tasks::read(h),
                tasks::on(rt.size() - 1));
    }
    rt.wait_all();
    check.equal(counted.use_count(), 1);
    for (int i = 0; i < 10; ++i) rt.insert([counted](int& v) { ++v; }, tasks::read_write(h));
  }  // the destructor waits
  check.equal(counted.use_count(), 1);
}

struct alignas(64) aligned {
  double a[8];
};

void alignment(communicator& world) {
  tasks::runtime rt(world);
  const int last = rt.size() - 1;
  const auto h = rt.data<aligned>(0);
  const auto s = rt.data<std::span<aligned>>(0, 3);
  const auto is_aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; };
  std::atomic<int> ran = 0;
  for (const int r : {0, last})
    rt.insert(
        [&](aligned& one, std::span<const aligned> more) {
          check.that(is_aligned(&one) && is_aligned(more.data()));
          ++ran;
        },
        tasks::read_write(h), tasks::read(s), tasks::on(r));
  const aligned captured{};
  rt.insert([&, captured](aligned& one) { check.that(is_aligned(&captured) && is_aligned(&one)), ++ran; },
            tasks::reduce(
                h, [](const aligned& a, const aligned&) { return a; }, tasks::neutral(aligned{})),
            tasks::on(last));
  rt.wait_all();
  check.equal(ran.load(), (rt.rank() == 0 ? 1 : 0) + (rt.rank() == last ? 2 : 0));
}

// A task runs on the owner of the written data, on the named rank, or on the owner of the named
// data. The named data need not be an argument of the task.
void executing_rank(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1, mid = p / 2;
  int x = me == 0, y = me == last ? 2 : 0, z = me == mid ? 3 : 0;
  const auto hx = rt.data(x, 0), hy = rt.data(y, last), hz = rt.data(z, mid);
  std::vector<int> ran(9, 0), right(9, 0);
  const auto task = [&](int i, int on, const auto&... arguments) {
    rt.insert([&r = ran[at(i)]](auto&&...) { ++r; }, arguments...);
    right[at(i)] = on == me || on < 0;
  };
  task(0, 0, tasks::read_write(hx), tasks::read(hy));
  task(1, last, tasks::read(hx), tasks::read_write(hy), tasks::read(hz));
  task(2, last, tasks::read(hy));  // nothing is written, and all data have one owner
  task(3, mid, tasks::on(mid), tasks::read(hx), tasks::read(hy));
  task(4, mid, tasks::read_write(hx), tasks::on_owner_of(hz), tasks::read_write(hy));
  task(5, last, tasks::read(hx), tasks::on_owner_of(hy), tasks::name("five"));
  task(6, -1);  // no data: the rank that inserts it
  task(7, last, tasks::on(last));
  task(8, 0, tasks::name("eight"), tasks::reduce(hx, std::plus<>{}), tasks::read(hz));
  rt.wait_all();
  check.equal(ran, right);
}

// Results for data of several owners are sent home, and all later tasks see them.
void several_owners(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int mine = me;
  std::vector<int> row(2000, me);
  const auto ones = one_each(rt, mine);
  std::vector<tasks::handle<std::span<int>>> rows;
  for (int r = 0; r < p; ++r) rows.push_back(r == me ? rt.data(row, r) : rt.data<std::span<int>>(r, 2000));
  std::vector<int> right(at(p)), right_rows(at(p));
  for (int r = 0; r < p; ++r) right[at(r)] = right_rows[at(r)] = r;
  for (int i = 0; i < 4 * p; ++i) {
    const int a = i % p, b = (i + 1) % p, who = (3 * i + 2) % p;
    if (a == b) break;
    rt.insert(
        [](int& x, int& y, std::span<int> v, std::span<int> w) {
          std::swap(x, y);
          x += v[0];
          for (int& e : v) ++e;
          for (int& e : w) e = y;
        },
        tasks::on(who), tasks::read_write(ones[at(a)]), tasks::read_write(ones[at(b)]),
        tasks::read_write(rows[at(a)]), tasks::write(rows[at(b)]));
    std::swap(right[at(a)], right[at(b)]);
    right[at(a)] += right_rows[at(a)]++;
    right_rows[at(b)] = right[at(b)];
    if (i % 5 == 4) {
      rt.wait_all();
      check.equal(mine, right[at(me)]);
    }
  }
  rt.wait_all();
  check.equal(mine, right[at(me)]);
  check.equal(row, std::vector<int>(2000, right_rows[at(me)]));
}

// Reads are unordered among themselves, and writes wait for all earlier reads.
void reads_beside_writes(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size();
  int x = 0;
  const auto h = rt.data(x, 0);
  const auto sums = rt.data<std::span<int>>(p - 1, p);
  for (int round = 0; round < 20; ++round) {
    rt.insert([](int& v) { ++v; }, tasks::read_write(h));
    for (int r = 0; r < p; ++r)
      rt.insert([round](const int& v) { check.equal(v, round + 1); }, tasks::read(h), tasks::on(r));
    rt.insert(
        [round](std::span<int> s, int v) {
          for (int& y : s) y += v - round;
        },
        tasks::read_write(sums), tasks::read(h));
  }
  rt.wait_all();
  if (rt.rank() == p - 1) check.equal(rt.acquire(sums, tasks::access::read).get()[0], 20);
}

// More tasks than may be pending: insert() runs some of them.
void more_than_pending(communicator& world) {
  for (const std::size_t most : {1u, 7u, 1000u}) {
    tasks::runtime rt(world, {.max_pending = most});
    const int p = rt.size();
    long x = 0;
    const auto h = rt.data(x, p - 1);
    const auto last = rt.data<long>(0);
    for (int i = 0; i < 5000; ++i) {
      rt.insert([](long& v) { ++v; }, tasks::read_write(h));
      if (i % 100 == 0) rt.insert([](long& l, long v) { l += v; }, tasks::read_write(last), tasks::read(h));
    }
    rt.wait_all();
    if (rt.rank() == p - 1) check.equal(x, 5000);
    if (rt.rank() == 0) check.equal(*rt.acquire(last, tasks::access::read), 50 + 100 * 49 * 50 / 2);
  }
}

// Ranks that a task does not concern may omit it: they own none of its data and hold no copy.
void left_out(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int mine = me;
  const auto all = one_each(rt, mine);
  for (int round = 0; round < 10; ++round)
    for (int r = 0; r < p; ++r) {
      const int s = (r + 1) % p;
      if (r == s || (me != r && me != s && (me + 1) % p != r)) continue;
      rt.insert([](int& x, int y) { x = (3 * x + y) % 1009; }, tasks::read_write(all[at(r)]),
                tasks::read(all[at(s)]));
    }
  rt.wait_all();
  std::vector<int> right(at(p));
  for (int r = 0; r < p; ++r) right[at(r)] = r;
  for (int round = 0; round < 10 && p > 1; ++round)
    for (int r = 0; r < p; ++r) right[at(r)] = (3 * right[at(r)] + right[at((r + 1) % p)]) % 1009;
  check.equal(mine, right[at(me)]);
}

}  // namespace

void add_kernels(list& all) {
  all.insert(all.end(), {{"callables", callables},
                         {"ended_once", ended_once},
                         {"alignment", alignment},
                         {"executing_rank", executing_rank},
                         {"several_owners", several_owners},
                         {"reads_beside_writes", reads_beside_writes},
                         {"more_than_pending", more_than_pending},
                         {"left_out", left_out}});
}

}  // namespace calls
