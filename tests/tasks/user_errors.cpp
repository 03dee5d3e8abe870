// SPDX-License-Identifier: Apache-2.0
//
// Tests errors of task programs: rejected calls, and kernels that throw. The runtime works after
// each. failing.cpp has the cases that end the job.
#include <functional>
#include <string>

#include "support/check.hpp"
#include "support/group_kinds.hpp"
#include "support/program.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace tasks = tutti::tasks;
using tests::check;
using tutti::communicator;
using tutti::usage_error;

namespace {

using words = std::initializer_list<const char*>;

// Checks that the rejected call was not inserted, and that everything else works.
void works(tasks::runtime& rt) {
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int x = 5, in = 0, mine = 7 + me;
  const auto h = rt.data(x, 0), hi = rt.data(in, me), own = rt.data(mine, me);
  rt.insert([](int& v) { v *= 2; }, tasks::read_write(h), tasks::on(last));
  int seen = 0;
  for (int r = 0; r < p; ++r) rt.insert([&](int v) { seen = v; }, tasks::read(h), tasks::on(r));
  rt.wait_all();
  check.equal(seen, 10);
  rt.isend_detached(own, (me + 1) % p, 1);
  rt.recv(hi, (me + p - 1) % p, 1);
  rt.wait_all();
  check.equal(in, 7 + (me + p - 1) % p);
}

// Every rank rejects the call.
void refused(communicator& world, words expected, const std::function<void(tasks::runtime&)>& wrong,
             const std::source_location& where = std::source_location::current()) {
  tasks::runtime rt(world);
  const std::string who = "rank " + std::to_string(rt.rank());
  check.throws<usage_error>([&] { wrong(rt); }, expected, where);
  check.throws<usage_error>([&] { wrong(rt); }, {who.c_str()}, where);
  works(rt);
}

// No runtime over communicators whose members know a few others only.
void runtimes(communicator& world) {
  const communicator few = tests::of_kind(world, "chain");
  if (world.size() > 3)
    check.throws<usage_error>([&] { tasks::runtime rt(few); }, {"tasks", "ranks", "split(0)"});
  check.throws<usage_error>([&] { tasks::runtime rt(world, {.workers = -1}); }, {"workers", "-1"});
  tasks::runtime rt(world);
  works(rt);
}

void data(communicator& world) {
  const int p = world.size();
  const std::string of_p = std::to_string(p);
  int x = 0;
  refused(world, {"data", "owner", of_p.c_str()}, [&](auto& rt) { (void)rt.data(x, p); });
  refused(world, {"data", "owner", "-1"}, [&](auto& rt) { (void)rt.template data<int>(-1); });
  refused(world, {"data", "with_tag", "below 0"},
          [&](auto& rt) { (void)rt.data(x, 0, tasks::with_tag(-3)); });
  refused(world, {"data", "tag", "another data handle"}, [&](auto& rt) {
    auto first = rt.data(x, 0, tasks::with_tag(3));
    try {
      (void)rt.template data<double>(p - 1, tasks::with_tag(3));
    } catch (...) {
      rt.remove(first);
      throw;
    }
  });
  refused(world, {"set_tag", "handle", "empty"}, [&](auto& rt) { rt.set_tag(tasks::handle<int>(), 3); });
  refused(world, {"set_tag", "tag", "-1"}, [&](auto& rt) { rt.set_tag(rt.data(x, 0), -1); });
  refused(world, {"set_rank", "handle", "empty"}, [&](auto& rt) { rt.set_rank(tasks::handle<int>(), 0); });
  refused(world, {"set_rank", "owner", of_p.c_str()}, [&](auto& rt) { rt.set_rank(rt.data(x, 0), p); });
  refused(world, {"tag", "handle", "empty"}, [&](auto& rt) { (void)rt.tag(tasks::handle<int>()); });
  refused(world, {"rank", "handle", "empty"},
          [&](auto& rt) { (void)rt.rank(tasks::handle<std::span<int>>()); });
  refused(world, {"count", "handle", "empty"}, [&](auto& rt) { (void)rt.count(tasks::handle<int>()); });
  refused(world, {"flush", "handle", "empty"}, [&](auto& rt) { rt.flush(tasks::handle<int>()); });
  refused(world, {"acquire", "handle", "empty"},
          [&](auto& rt) { (void)rt.acquire(tasks::handle<int>(), tasks::access::read); });
  refused(world, {"fetch", "rank", of_p.c_str()}, [&](auto& rt) { rt.fetch(rt.data(x, 0), p); });
  refused(world, {"fetch", "handle", "empty"}, [&](auto& rt) { rt.fetch(tasks::handle<int>(), rt.rank()); });
  refused(world, {"scatter", "root"}, [&](auto& rt) { rt.scatter(std::vector{rt.data(x, 0)}, -1); });
  refused(world, {"gather", "root"}, [&](auto& rt) { rt.gather(std::vector{rt.data(x, 0)}, p); });
}

// set_tag() must come before the first use.
void late_tag(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size();
  int x = 3;
  const auto h = rt.data(x, 0);
  if (p == 1) return;
  rt.fetch(h, p - 1);
  if (rt.rank() == 0 || rt.rank() == p - 1)
    check.throws<usage_error>([&] { rt.set_tag(h, 8); }, {"set_tag", "handle", "before you use it"});
  works(rt);
}

// A rank without a copy cannot read the data, and only the owner writes them by itself.
void acquire(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  const auto h = rt.data<int>(last);
  if (me != last) {
    check.throws<usage_error>([&] { (void)rt.acquire(h, tasks::access::read); },
                              {"acquire", "data handle 0", "fetch()"});
    for (int i = 0; i < 2; ++i) {
      check.throws<usage_error>(
          [&] { (void)rt.acquire(h, tasks::access::write); },
          {"acquire", "data handle 0", ("rank " + std::to_string(last)).c_str(), "owns"});
      check.throws<usage_error>([&] { (void)rt.acquire(h, tasks::access::read_write); }, {"acquire", "owns"});
    }
  }
  for (int r = 0; r < p; ++r) rt.fetch(h, r);
  check.equal(*rt.acquire(h, tasks::access::read), 0);
  rt.insert([](int& v) { v = 1; }, tasks::write(h));
  if (me != last)
    check.throws<usage_error>([&] { (void)rt.acquire(h, tasks::access::read); }, {"up-to-date"});
  works(rt);
}

void insertions(communicator& world) {
  const int p = world.size(), last = p - 1;
  int x = 0, y = 0;
  const std::string of_p = std::to_string(p), owner_of_last = "data handle 1 of rank " + std::to_string(last);
  const auto two = [](int&, int&) {};
  if (last > 0) {
    const words several = {
        "insert", "on", "several owners", "data handle 0 of rank 0", owner_of_last.c_str(), "on_owner_of"};
    tasks::runtime rt(world);
    const auto a = rt.data(x, 0), b = rt.data(y, last), c = rt.data(x, 0);
    check.throws<usage_error>([&] { rt.insert(two, tasks::read_write(a), tasks::write(b)); }, several);
    check.throws<usage_error>([&] { rt.insert([](int, int) {}, tasks::read(a), tasks::read(b)); }, several);
    check.throws<usage_error>(
        [&] {
          rt.insert([](int, int&, int&) {}, tasks::read(c), tasks::reduce(a, std::plus<>{}), tasks::write(b));
        },
        several);
    works(rt);
  }
  refused(world, {"insert", "on", of_p.c_str()}, [&](auto& rt) { rt.insert([] {}, tasks::on(p)); });
  refused(world, {"insert", "on", "-1"},
          [&](auto& rt) { rt.insert([](int&) {}, tasks::on(-1), tasks::write(rt.template data<int>(0))); });
  refused(world, {"insert", "on", "on_owner_of"}, [&](auto& rt) {
    const auto a = rt.template data<int>(0);
    rt.insert([](int&) {}, tasks::on(0), tasks::on_owner_of(a), tasks::write(a));
  });
  refused(world, {"insert", "two arguments", "read_write"}, [&](auto& rt) {
    const auto a = rt.template data<int>(0);
    rt.insert([](int&, int) {}, tasks::write(a), tasks::read(a));
  });
  // Empty handles, where this rank would need them.
  refused(world, {"insert", "empty", "argument 2"}, [&](auto& rt) {
    rt.insert([](int&, int) {}, tasks::write(rt.template data<int>(rt.rank())),
              tasks::read(tasks::handle<int>()));
  });
  refused(world, {"insert", "empty", "this rank owns"}, [&](auto& rt) {
    rt.insert([](int&, int) {}, tasks::write(tasks::handle<int>()),
              tasks::read(rt.template data<int>(rt.rank())));
  });
}

void transfers(communicator& world) {
  const int p = world.size();
  int x = 0;
  const std::string of_p = std::to_string(p);
  const tasks::handle<int> none;
  refused(world, {"isend", "dest", of_p.c_str()},
          [&](auto& rt) { (void)rt.isend(rt.data(x, rt.rank()), p, 0); });
  refused(world, {"isend", "dest"}, [&](auto& rt) { rt.send(rt.data(x, rt.rank()), tutti::rank::any, 0); });
  refused(world, {"irecv", "src", "-7"}, [&](auto& rt) { rt.recv(rt.data(x, rt.rank()), -7, 0); });
  refused(world, {"irecv", "src", of_p.c_str()},
          [&](auto& rt) { (void)rt.irecv(rt.data(x, rt.rank()), p, 0); });
  refused(world, {"isend", "tag", "-1"}, [&](auto& rt) { (void)rt.isend(rt.data(x, rt.rank()), 0, -1); });
  refused(world, {"isend", "tag"},
          [&](auto& rt) { (void)rt.isend(rt.data(x, rt.rank()), 0, tutti::tags::any); });
  refused(world, {"irecv", "tag", "-2"}, [&](auto& rt) { rt.recv(rt.data(x, rt.rank()), 0, -2); });
  refused(world, {"isend", "handle", "empty"}, [&](auto& rt) { rt.send(none, 0, 0); });
  refused(world, {"irecv", "handle", "empty"}, [&](auto& rt) { rt.recv(none, 0, 0); });
  refused(world, {"isend_detached", "dest"},
          [&](auto& rt) { rt.isend_detached(rt.data(x, rt.rank()), -1, 0); });
  refused(world, {"irecv_detached", "tag"},
          [&](auto& rt) { rt.irecv_detached(rt.data(x, rt.rank()), 0, -5, [] {}); });
  // If one of several transfers is wrong, none begins.
  refused(world, {"isend_detached", "tag", "-9"}, [&](auto& rt) {
    const auto h = rt.data(x, rt.rank());
    const tasks::transfer both[] = {tasks::transfer(h, (rt.rank() + 1) % p, 1), tasks::transfer(h, 0, -9)};
    rt.isend_detached(both, [] { check.that(false, "must not be called"); });
  });
  // On another communicator the ranks are those of that communicator.
  const communicator alone = std::move(*world.split(world.rank()));
  refused(world, {"isend_detached", "dest", "1"}, [&](auto& rt) {
    const tasks::transfer one[] = {tasks::transfer(rt.data(x, rt.rank()), 1, 1, alone)};
    rt.isend_detached(one);
  });
}

// Calls from kernels. With one worker, kernels run on the rank's own thread, where the runtime
// detects such calls.
void not_from_kernels(communicator& world) {
  tasks::runtime rt(world, {.workers = 1});
  int reported = 0;
  for (const std::function<void()>& call :
       {std::function<void()>([&] { rt.insert([] {}); }), std::function<void()>([&] { rt.wait_all(); }),
        std::function<void()>([&] { rt.barrier(); })})
    rt.insert([&, call] {
      try {
        call();
      } catch (const usage_error& e) {
        reported += std::string(e.what()).find("kernel") != std::string::npos;
      }
    });
  rt.wait_all();
  check.equal(reported, 3);
  works(rt);
}

// A task that waits in vain for a tag; after a late unlock it runs.
void never_unlocked(communicator& world) {
  tasks::runtime rt(world);
  int ran = 0;
  rt.insert([&] { ++ran; }, tasks::after(77));
  check.throws<usage_error>([&] { rt.wait_all(); }, {"wait_all", "tag 77", "unlock"});
  check.throws<usage_error>([&] { rt.wait_all(); }, {"wait_all", "tag 77"});
  check.equal(ran, 0);
  rt.isend_detached({}, tasks::unlock(77));
  rt.wait_all();
  check.equal(ran, 1);
  works(rt);
}

void held_view(communicator& world) {
  tasks::runtime rt(world);
  int x = 1;
  const auto h = rt.data(x, rt.rank());
  auto view = rt.acquire(h, tasks::access::read_write);
  rt.insert([](int& v) { v *= 10; }, tasks::read_write(h));
  check.throws<usage_error>([&] { rt.wait_all(); }, {"wait_all", "view", "acquire()"});
  *view = 7;
  view.release();
  rt.wait_all();
  check.equal(x, 70);
  const auto only = rt.acquire(h, tasks::access::read);
  check.throws<usage_error>([&] { rt.wait_all(); }, {"view"});
}

// A runtime rejects a handle that it has not created. Both runtimes continue to work.
void of_another_runtime(communicator& world) {
  tasks::runtime its(world), rt(world);
  int x = 3;
  auto h = its.data(x, world.rank());
  const std::vector all{h};
  const auto refuses = [&](const char* operation, const std::function<void()>& wrong) {
    check.throws<usage_error>(wrong, {operation, "handle", "another runtime"});
  };
  refuses("insert", [&] { rt.insert([](int) {}, tasks::read(h)); });
  refuses("acquire", [&] { (void)rt.acquire(h, tasks::access::read); });
  refuses("fetch", [&] { rt.fetch(h, 0); });
  refuses("flush", [&] { rt.flush(h); });
  refuses("set_tag", [&] { rt.set_tag(h, 5); });
  refuses("set_rank", [&] { rt.set_rank(h, 0); });
  refuses("remove", [&] { rt.remove(h); });
  refuses("isend", [&] { (void)rt.isend(h, 0, 1); });
  refuses("irecv_detached", [&] { rt.irecv_detached(h, 0, 1); });
  refuses("scatter", [&] { rt.scatter(all, 0); });
  refuses("gather", [&] { rt.gather(all, 0); });
  check.that(bool(h), "the handle is what it was");
  its.insert([](int& y) { ++y; }, tasks::read_write(h));
  its.wait_all();
  check.equal(x, 4);
  works(rt);
}

// The contents move to a new owner when all concerned ranks use them. A view on one rank is not
// such a use.
void owner_that_changed(communicator& world) {
  const int me = world.rank(), last = world.size() - 1;
  tasks::runtime rt(world);
  int x = me == 0 ? 42 : -1;
  const auto h = me == 0 ? rt.data(x, 0) : rt.data<int>(0);
  rt.set_rank(h, last);
  if (last > 0 && (me == 0 || me == last)) {
    check.throws<usage_error>([&] { (void)rt.acquire(h, tasks::access::read); },
                              {"acquire", "handle", "fetch()"});
    check.throws<usage_error>([&] { (void)rt.acquire(h, tasks::access::write); },
                              {"acquire", "became the owner"});
  }
  rt.fetch(h, last);
  if (me == last) check.equal(*rt.acquire(h, tasks::access::read), 42);
  works(rt);
}

void negative_counts(communicator& world) {
  refused(world, {"data", "count", "below 0"},
          [](auto& rt) { (void)rt.template data<std::span<int>>(0, -1); });
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const std::pair<const char*, void (*)(communicator&)> all[] = {{"runtimes", runtimes},
                                                                   {"data", data},
                                                                   {"late_tag", late_tag},
                                                                   {"acquire", acquire},
                                                                   {"insertions", insertions},
                                                                   {"transfers", transfers},
                                                                   {"not_from_kernels", not_from_kernels},
                                                                   {"never_unlocked", never_unlocked},
                                                                   {"held_view", held_view},
                                                                   {"of_another_runtime", of_another_runtime},
                                                                   {"owner_that_changed", owner_that_changed},
                                                                   {"negative_counts", negative_counts}};
    for (const auto& [name, one] : all) cases(name, [&] { one(world); });
  });
}
