// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels that throw: their results are invalid wherever they are sent, and tasks that would
// read them do not run. Each waiter gets the error once. Overwriting the data makes them valid
// again.
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace tasks = tutti::tasks;
using tests::check;
using tutti::communicator;

namespace {

using words = std::initializer_list<const char*>;
struct own_fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `call` throws a task_error with these words. On the rank that ran the kernel, the kernel's
/// exception is nested.
template <class Call>
void expect_task_error(bool ran_here, const std::string& rank, words expected, Call&& call,
                       const std::source_location& where = std::source_location::current()) {
  check.throws<tasks::task_error>(
      [&] {
        try {
          call();
        } catch (const tasks::task_error& e) {
          std::optional<std::string> inner;
          try {
            std::rethrow_if_nested(e);
          } catch (const own_fault& f) {
            inner = f.what();
          }
          check.equal(inner.has_value(), ran_here, where);
          check.that(std::string(e.what()).find(rank) != std::string::npos, e.what(), where);
          if (ran_here) check.equal(*inner, "planted fault", where);
          throw;
        }
      },
      expected, where);
}
std::string ran_on(int r) { return "rank " + std::to_string(r); }

void throws(int& x) {
  x = -1;
  throw own_fault("planted fault");
}

// A kernel on one rank whose data all other ranks read.
void dependants(communicator& world) {
  for (const int workers : {1, 3}) {
    tasks::runtime rt(world, {.workers = workers});
    const int p = rt.size(), me = rt.rank(), first = p / 2;
    int x = 1, mine = 100 + me;
    const auto h = rt.data(x, first);
    std::vector<tasks::handle<int>> all;
    for (int r = 0; r < p; ++r) all.push_back(r == me ? rt.data(mine, r) : rt.data<int>(r));
    int ran = 0, good = 0;
    rt.insert(throws, tasks::read_write(h), tasks::name("the first"));
    rt.insert([&](int&) { ++ran; }, tasks::read_write(h), tasks::name("the second"));
    for (int r = 0; r < p; ++r)
      rt.insert([&](int, int& y) { ++ran, y = -1; }, tasks::read(h),
                tasks::read_write(all[static_cast<std::size_t>(r)]));
    for (int r = 0; r < p; ++r)  // indirect dependants
      rt.insert([&](int) { ++ran; }, tasks::read(all[static_cast<std::size_t>(r)]), tasks::on((r + 1) % p));
    rt.insert([&] { ++good; });  // an independent task
    expect_task_error(me == first, ran_on(first), {"the first", "planted fault"}, [&] { rt.wait_all(); });
    check.equal(ran, 0);
    check.equal(good, 1);
    rt.wait_all();  // the error is thrown once
    check.equal(mine, 100 + me);

    for (int round = 0; round < 2; ++round) {  // the runtime continues to work
      rt.insert([](int& v) { v = 5; }, tasks::write(h));
      for (int r = 0; r < p; ++r)
        rt.insert([](int v, int& y) { y = v + 1; }, tasks::read(h),
                  tasks::write(all[static_cast<std::size_t>(r)]));
      rt.wait_all();
      check.equal(mine, 6);
      mine = 0;
    }
    if (me == first) check.equal(x, 5);
  }
}

// Ranks that need no results of the kernel get no error.
void others_continue(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int x = 1, y = 1;
  const auto h = rt.data(x, last), own = rt.data(y, me);
  rt.insert(throws, tasks::write(h), tasks::name("alone"));
  rt.insert([](int& v) { ++v; }, tasks::read_write(own));
  if (me == last)
    expect_task_error(true, ran_on(last), {"alone"}, [&] { rt.wait_all(); });
  else
    rt.wait_all();
  check.equal(y, 2);
}

// The kernel's results should have been sent to the owner.
void away_from_home(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1, mid = p / 2;
  int x = me == 0 ? 3 : 0;
  std::vector<int> row(3000, 1);
  const auto h = rt.data(x, 0);
  const auto v = rt.data(row, mid);
  rt.insert([](int& a, std::span<int>) { throws(a); }, tasks::read_write(h), tasks::write(v), tasks::on(last),
            tasks::name("away"));
  if (me == 0 || me == mid || me == last)
    expect_task_error(me == last, ran_on(last), {"away", "planted fault"}, [&] { rt.wait_all(); });
  else
    rt.wait_all();
  if (me == 0)
    expect_task_error(me == last, ran_on(last), {"away"}, [&] { (void)rt.acquire(h, tasks::access::read); });
  if (me == mid)
    expect_task_error(me == last, ran_on(last), {"away"},
                      [&] { (void)rt.acquire(v, tasks::access::read_write); });
  rt.insert(
      [](std::span<int> w) {
        for (int& e : w) e = 9;
      },
      tasks::write(v));
  if (me == 0) {
    auto w = rt.acquire(h, tasks::access::write);
    *w = 8;
  }
  rt.flush(h);
  int seen = 0;
  for (int r = 0; r < p; ++r)
    rt.insert([&](int a, std::span<const int> w) { seen = a + w[2999]; }, tasks::read(h), tasks::read(v),
              tasks::on(r));
  rt.wait_all();
  check.equal(seen, 17);
}

void contributions(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int sum = 1;
  const auto h = rt.data(sum, 0);
  for (int r = 0; r < p; ++r)
    rt.insert(
        [r, last](int& v) {
          if (r == last) throws(v);
          v = 1;
        },
        tasks::reduce(h, std::plus<>{}), tasks::on(r), tasks::name("part"));
  int ran = 0;
  rt.insert([&](int) { ++ran; }, tasks::read(h));
  if (me == 0 || me == last)
    expect_task_error(me == last, ran_on(last), {"part"}, [&] { rt.wait_all(); });
  else
    try {  // a part of the tree
      rt.wait_all();
    } catch (const tasks::task_error&) {
    }
  check.equal(ran, 0);
  rt.insert([](int& v) { v = 10; }, tasks::write(h));
  for (int r = 0; r < p; ++r) rt.insert([](int& v) { ++v; }, tasks::reduce(h, std::plus<>{}), tasks::on(r));
  rt.wait_all();
  if (me == 0) check.equal(sum, 10 + p);
}

// Transfers of data that the failing kernel should have written.
void transfers(communicator& world) {
  for (const std::size_t n : {1u, 20000u}) {
    tasks::runtime rt(world);
    const int p = rt.size(), me = rt.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
    std::vector<int> v(n, 1), w(n, 2);
    const auto h = rt.data(v, me), in = rt.data(w, me);
    rt.insert([](std::span<int> a) { throws(a[0]); }, tasks::write(h), tasks::name("sent"));
    int ran = 0;
    auto sent = rt.isend(h, next, 1);
    auto received = rt.irecv(in, before, 1);
    rt.insert([&](std::span<const int>) { ++ran; }, tasks::read(in));
    expect_task_error(false, ran_on(before), {"sent", "planted fault"}, [&] { received.wait(); });
    check.throws<tasks::task_error>([&] { sent.wait(); }, {"sent"});
    try {
      rt.wait_all();
      check.that(false, "the kernel has thrown");
    } catch (const tasks::task_error&) {
    }
    check.equal(ran, 0);
    rt.insert(
        [](std::span<int> a) {
          for (int& e : a) e = 4;
        },
        tasks::write(h));
    rt.isend_detached(h, next, 2);
    rt.recv(in, before, 2);
    check.equal(w, std::vector<int>(n, 4));
    rt.wait_all();
  }
}

void fetched_and_gathered(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int x = 1;
  const auto h = rt.data(x, 0);
  rt.insert(throws, tasks::read_write(h), tasks::name("before"));
  if (p > 1) {
    rt.gather(std::vector{h}, last);
    if (me == last)
      expect_task_error(false, ran_on(0), {"before"}, [&] { (void)rt.acquire(h, tasks::access::read); });
  }
  try {
    rt.wait_all();
    check.that(me != 0, "the kernel has thrown");
  } catch (const tasks::task_error&) {
  }
  rt.insert([](int& v) { v = 6; }, tasks::write(h));
  rt.gather(std::vector{h}, last);
  if (me == last) check.equal(*rt.acquire(h, tasks::access::read), 6);
  rt.wait_all();
}

// A thrown object of any type.
void no_exception_of_the_standard(communicator& world) {
  tasks::runtime rt(world);
  int x = 1;
  const auto h = rt.data(x, rt.rank());
  rt.insert([](int&) { throw 42; }, tasks::read_write(h));
  int inner = 0;
  try {
    rt.wait_all();
    check.that(false, "the kernel has thrown");
  } catch (const tasks::task_error& e) {
    check.that(std::string(e.what()).find(ran_on(rt.rank())) != std::string::npos, e.what());
    try {
      std::rethrow_if_nested(e);
    } catch (int i) {
      inner = i;
    }
  }
  check.equal(inner, 42);
  rt.wait_all();
}

// Many kernels that throw give one error; a later one gives another error.
void many(communicator& world) {
  tasks::runtime rt(world, {.workers = 3});
  const int me = rt.rank();
  for (int round = 0; round < 3; ++round) {
    std::vector<int> v(50);
    std::vector<tasks::handle<int>> h;
    for (int& x : v) h.push_back(rt.data(x, me));
    for (const auto& one : h) rt.insert(throws, tasks::write(one));
    expect_task_error(true, ran_on(me), {"planted fault"}, [&] { rt.wait_all(); });
    for (auto& one : h) rt.remove(one);
  }
  rt.wait_all();
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const std::pair<const char*, void (*)(communicator&)> all[] = {
        {"dependants", dependants},
        {"others_continue", others_continue},
        {"away_from_home", away_from_home},
        {"contributions", contributions},
        {"transfers", transfers},
        {"fetched_and_gathered", fetched_and_gathered},
        {"no_exception_of_the_standard", no_exception_of_the_standard},
        {"many", many}};
    for (const auto& [name, one] : all) cases(name, [&] { one(world); });
  });
}
