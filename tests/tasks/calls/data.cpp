// SPDX-License-Identifier: Apache-2.0
//
// Tests data handles: creation, sequence numbers, tags, change of owner, removal.
#include <array>
#include <memory>
#include <string>

#include "calls/call_tests.hpp"

namespace calls {
namespace {

struct point {
  double x;
  std::int16_t y;
  friend bool operator==(const point&, const point&) = default;
};
enum class color : std::uint8_t { red, green };

// Every kind of object, owned by the last rank and read by all.
void kinds(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int x = me == last ? 7 : -1;
  point where{me == last ? 1.5 : 0, 3};
  color c = me == last ? color::green : color::red;
  std::vector<float> row(1000, me == last ? 2.5f : 0);
  std::array<char, 3> letters{'a', 'b', me == last ? 'c' : '?'};
  int fixed[4] = {me, me, me, me};
  std::string text = me == last ? "some text" : ".........";
  std::vector<int> none;
  const auto hx = rt.data(x, last);
  const auto hp = rt.data(where, last);
  const auto hc = rt.data(c, last);
  const auto hr = rt.data(row, last);
  const auto hl = rt.data(letters, last);
  const auto hf = rt.data(fixed, last);
  const auto ht = rt.data(text, last);
  const auto hs = rt.data(std::span(row).subspan(0, 10), last);  // a view may be a temporary
  const auto hn = rt.data(none, last);
  static_assert(std::is_same_v<decltype(hx), const tasks::handle<int>>);
  static_assert(std::is_same_v<decltype(hr), const tasks::handle<std::span<float>>>);
  static_assert(std::is_same_v<decltype(ht), const tasks::handle<std::span<char>>>);
  check.that(rt.count(hx) == 1 && rt.count(hr) == 1000 && rt.count(hf) == 4 && rt.count(hs) == 10 &&
             rt.count(hn) == 0);
  for (int r = 0; r < p; ++r)
    rt.insert(
        [&, last](const int& i, const point& q, color k, std::span<const float> v, std::span<const char> w,
                  std::span<const int> f, std::span<const char> t, std::span<const int> n) {
          check.equal(i, 7);
          check.that(q == point{1.5, 3} && k == color::green);
          check.equal(std::vector<float>(v.begin(), v.end()), std::vector<float>(1000, 2.5f));
          check.equal(std::string(w.begin(), w.end()), "abc");
          check.equal(std::vector<int>(f.begin(), f.end()), std::vector<int>(4, last));
          check.equal(std::string(t.begin(), t.end()), "some text");
          check.equal(n.size(), 0u);
        },
        tasks::read(hx), tasks::read(hp), tasks::read(hc), tasks::read(hr), tasks::read(hl), tasks::read(hf),
        tasks::read(ht), tasks::read(hn), tasks::on(r));
  rt.wait_all();
  check.equal(rt.statistics().tasks_run, 1u);
}

// The rank that runs a task gets memory; the owner's memory begins with zeros.
void memory_of_the_runtime(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  const auto one = rt.data<int>(0);
  const auto many = rt.data<std::span<double>>(p - 1, 3000);
  int x = -1;
  double sum = -1;
  rt.insert(
      [&](const int& a, std::span<const double> b) {
        x = a;
        sum = 0;
        for (double y : b) sum += y;
      },
      tasks::read(one), tasks::read(many), tasks::on(p / 2));
  rt.insert([](int& a) { a += 5; }, tasks::read_write(one));
  rt.insert([](std::span<double> b) { b.back() += 3; }, tasks::read_write(many), tasks::on(p / 2));
  rt.wait_all();
  check.equal(x, me == p / 2 ? 0 : -1);
  check.equal(sum, me == p / 2 ? 0 : -1);
  if (me == 0) check.equal(*rt.acquire(one, tasks::access::read), 5);
  if (me == p - 1) {
    const auto view = rt.acquire(many, tasks::access::read);
    check.equal(view.get().size(), 3000u);
    check.equal(view.get()[2999], 3);
    check.equal(view.get()[0], 0);
  }
}

void handles(communicator& world) {
  tasks::runtime rt(world);
  const tasks::handle<int> empty;
  int x = 0, y = 0;
  const auto a = rt.data(x, 0), b = rt.data(y, 0), same = a;
  check.that(!empty && a && same == a && a != b && !(a == empty) && tasks::handle<int>() == empty);
  check.that(rt.rank(a) == 0 && rt.tag(a) == 0 && rt.tag(b) == 1);
}

// Tags work like sequence numbers, in any order. A rank that does not use a data handle need not
// create it.
void tags(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  std::vector<int> mine{me};
  std::vector<tasks::handle<std::span<int>>> all(at(p));
  for (int i = 0; i < p; ++i) {  // each rank in another order
    const int r = (me + i) % p;
    if (r == me)
      all[at(r)] = rt.data(mine, r, tasks::with_tag(100 * r));
    else if ((r + 1) % p == me)
      all[at(r)] = rt.data<std::span<int>>(r, 1, tasks::with_tag(100 * r));
  }
  check.equal(rt.tag(all[at(me)]), 100 * me);
  std::vector<int> seen(at(p), -1);
  for (int r = 0; r < p; ++r)  // every rank inserts every task
    rt.insert([&s = seen[at(r)]](std::span<const int> v) { s = v[0]; }, tasks::read(all[at(r)]),
              tasks::on((r + 1) % p));
  rt.wait_all();
  std::vector<int> right(at(p), -1);
  right[at((me + p - 1) % p)] = (me + p - 1) % p;
  check.equal(seen, right);
  check.equal(rt.statistics().tasks_run, 1u);
}

void tags_that_are_set(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int x = me, y = 10 + me, z = 20 + me;
  const auto hx = rt.data(x, 0);
  // The other ranks have no such handle, so they use its number for the next one.
  if (me == last || me == 0) {
    const auto hy = rt.data(y, 0);
    check.equal(rt.tag(hy), 1);
    rt.set_tag(hy, 77);
    check.equal(rt.tag(hy), 77);
    rt.set_tag(hy, 78);
    check.equal(rt.tag(hy), 78);
    rt.insert([](const int& v) { check.equal(v, 10); }, tasks::read(hy), tasks::on(last));
  }
  const auto hz = rt.data(z, last);
  check.equal(rt.tag(hz), 1);
  rt.insert([](int& a, const int& b) { a += b; }, tasks::read_write(hx), tasks::read(hz));
  rt.wait_all();
  if (me == 0) check.equal(x, 20 + last);
  // Tags have their own space, so this is not the data with number 1.
  const auto tagged = rt.data<int>(0, tasks::with_tag(1));
  int seen = -1;
  rt.insert([&](const int& v) { seen = v; }, tasks::read(tagged), tasks::on(last));
  rt.wait_all();
  check.equal(seen, me == last ? 0 : -1);
}

// The new owner runs tasks that write, and gets the contents at their next use.
void set_rank_and_use(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int x = me == 0 ? 1 : -100;
  const auto h = rt.data(x, 0);
  std::vector<int> ran_on(at(3 * p), -1);
  int right = 1;
  for (int i = 0; i < 3 * p; ++i) {
    const int owner = (5 * i + 1) % p;
    rt.set_rank(h, owner);
    check.equal(rt.rank(h), owner);
    if (i % 3 == 2) rt.insert([](const int& v) { check.that(v > 0); }, tasks::read(h), tasks::on(0));
    rt.insert([&r = ran_on[at(i)], me](int& v) { v = 3 * v + 1, r = me; }, tasks::read_write(h));
    right = (3 * right + 1) % 1000000;
    rt.insert([](int& v) { v %= 1000000; }, tasks::read_write(h), tasks::on((i + 1) % p));
    if (i % 4 == 1) rt.wait_all();
  }
  rt.wait_all();
  for (int i = 0; i < 3 * p; ++i) check.equal(ran_on[at(i)], (5 * i + 1) % p == me ? me : -1);
  if (rt.rank(h) == me) {
    check.equal(x, right);
    check.equal(*rt.acquire(h, tasks::access::read), right);
  }
}

void set_rank_and_overwrite(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  std::vector<int> v(3000, me);
  const auto h = rt.data(v, 0);
  rt.set_rank(h, last);
  rt.insert(
      [](std::span<int> x) {
        for (int& y : x) y = 9;
      },
      tasks::write(h));
  rt.wait_all();
  if (me == last) check.equal(v, std::vector<int>(3000, 9));
  if (me == 0 && p > 1)
    check.equal(rt.statistics().bytes_sent[at(last)], 0u);  // no rank needs any data
}

void set_rank_and_scatter(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  std::vector<int> all(at(p));
  std::vector<tasks::handle<int>> handles;
  for (int r = 0; r < p; ++r) {
    all[at(r)] = me == 0 ? 50 + r : -1;
    handles.push_back(rt.data(all[at(r)], 0));
  }
  for (int r = 0; r < p; ++r) rt.set_rank(handles[at(r)], r);
  rt.scatter(handles, 0);
  rt.wait_all();
  check.equal(all[at(me)], 50 + me);
  for (int r = 0; r < p; ++r) rt.insert([](int& x) { x += 7; }, tasks::read_write(handles[at(r)]));
  for (int r = 0; r < p; ++r) rt.set_rank(handles[at(r)], 0);
  rt.wait_all();  // the contents stay until they are used
  for (int r = 0; r < p; ++r) rt.insert([](int& x) { x *= 2; }, tasks::read_write(handles[at(r)]));
  rt.wait_all();
  if (me == 0)
    for (int r = 0; r < p; ++r) check.equal(all[at(r)], 2 * (57 + r));
}

void removed(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  for (int round = 0; round < 5; ++round) {
    auto x = std::make_unique<std::vector<int>>(2000, me == 0 ? round : -1);
    auto h = rt.data(*x, 0, tasks::with_tag(5));
    int sum = 0;
    rt.insert(
        [](std::span<int> v) {
          for (int& y : v) y += 3;
        },
        tasks::read_write(h));
    rt.insert(
        [&](std::span<const int> v) {
          for (int y : v) sum += y;
        },
        tasks::read(h), tasks::on(last));
    auto numbered = rt.data<int>(last);
    check.equal(rt.tag(numbered), round);
    rt.insert([](int& y) { ++y; }, tasks::read_write(numbered), tasks::on(0));
    rt.remove(h);
    check.that(!h);
    if (me == last) check.equal(sum, 2000 * (round + 3));
    x.reset();  // the program owns the memory again
    rt.remove(numbered);
  }
  rt.wait_all();
}

// The original program's pattern: each rank creates only the handles that its own tasks need.
void made_where_needed(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), n = 4 * p;
  std::vector<int> mine(at(n)), right(at(n));
  std::vector<tasks::handle<int>> h(at(n));
  const auto owner = [&](int i) { return i < 0 || i >= n ? -1 : i / 4; };
  for (int i = 0; i < n; ++i) {
    mine[at(i)] = right[at(i)] = i * i;
    if (owner(i) == me)
      h[at(i)] = rt.data(mine[at(i)], me, tasks::with_tag(i));
    else if (owner(i - 1) == me || owner(i + 1) == me)
      h[at(i)] = rt.data<int>(owner(i), tasks::with_tag(i));
  }
  for (int round = 0; round < 5; ++round)
    for (int i = 1; i < n - 1; ++i) {
      right[at(i)] = (right[at(i - 1)] + 2 * right[at(i)] + right[at(i + 1)]) % 10007;
      rt.insert([](int& x, int a, int b) { x = (a + 2 * x + b) % 10007; }, tasks::read_write(h[at(i)]),
                tasks::read(h[at(i - 1)]), tasks::read(h[at(i + 1)]));
    }
  rt.wait_all();
  for (int i = 4 * me; i < 4 * me + 4; ++i) check.equal(mine[at(i)], right[at(i)]);
}

}  // namespace

void add_data(list& all) {
  all.insert(all.end(), {{"kinds", kinds},
                         {"memory_of_the_runtime", memory_of_the_runtime},
                         {"handles", handles},
                         {"tags", tags},
                         {"tags_that_are_set", tags_that_are_set},
                         {"set_rank_and_use", set_rank_and_use},
                         {"set_rank_and_overwrite", set_rank_and_overwrite},
                         {"set_rank_and_scatter", set_rank_and_scatter},
                         {"removed", removed},
                         {"made_where_needed", made_where_needed}});
}

}  // namespace calls
