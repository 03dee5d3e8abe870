// SPDX-License-Identifier: Apache-2.0
//
// Tests that every operation in progress on a rank progresses while the rank waits in another call.
// In each case rank 0 completes an operation of one front end before it makes the call of another
// one. All other ranks make that call first. So they wait in it until rank 0 arrives, and rank 0
// needs their part of the first operation.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tutti/bsp.hpp>
#include <tutti/group.hpp>
#include <tutti/tasks.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using step = std::function<void()>;

bool first(const communicator& c) { return c.rank() == 0; }
int sum_of_ranks(const communicator& c) { return c.size() * (c.size() - 1) / 2; }

/// Rank 0 calls `complete` before `blocking_call`, the others after it.
void in_order(const communicator& c, const step& complete, const step& blocking_call) {
  if (first(c)) complete();
  blocking_call();
  if (!first(c)) complete();
}

// --- operations in progress

// All ranks have waited for their own tasks. A tree requests the parts of a reduction later.
void reduction_of_tasks(communicator& w, const step& blocking_call) {
  long t = 1;
  tasks::runtime rt(w);
  auto s = first(w) ? rt.data(t, 0) : rt.data<long>(0);
  for (int r = 0; r < w.size(); ++r)
    rt.insert([r](long& v) { v += r; }, tasks::on(r), tasks::reduce(s, std::plus<>{}));
  rt.wait_all();
  blocking_call();
  if (first(w)) check.equal(t, 1L + sum_of_ranks(w));
}

// Rank 0 reads results of tasks on the other ranks, which have not waited for them.
void tasks_not_waited_for(communicator& w, const step& blocking_call) {
  std::vector<int> made(static_cast<std::size_t>(w.size()), -1);
  long sum = 0;
  tasks::runtime rt(w);
  auto all = first(w) ? rt.data(sum, 0) : rt.data<long>(0);
  std::vector<tasks::handle<int>> parts;
  for (int r = 0; r < w.size(); ++r) {
    parts.push_back(r == w.rank() ? rt.data(made[static_cast<std::size_t>(r)], r) : rt.data<int>(r));
    rt.insert([r](int& v) { v = r; }, tasks::write(parts.back()));
  }
  for (int r = 0; r < w.size(); ++r)
    rt.insert([](long& s, const int& v) { s += v; }, tasks::read_write(all),
              tasks::read(parts[static_cast<std::size_t>(r)]));
  in_order(
      w, [&] { rt.wait_all(); }, blocking_call);
  if (first(w)) check.equal(sum, static_cast<long>(sum_of_ranks(w)));
}

// Several rounds, so each rank must begin the next ones.
void collective_begun(communicator& w, const step& blocking_call) {
  std::vector<int> v(40000, w.rank());
  auto sum = w.iallreduce(send_buf(v), op(std::plus<>{}), algorithm("ring"));
  std::vector<int> got;
  in_order(
      w, [&] { got = sum.wait(); }, blocking_call);
  check.equal(got, std::vector<int>(v.size(), sum_of_ranks(w)));
}

void native_begun(communicator& w, const step& blocking_call) {
  std::vector<int> v(3, w.rank());
  auto sum = w.iallreduce(send_buf(v), op(std::plus<>{}), algorithm("native"));
  std::vector<int> got;
  in_order(
      w, [&] { got = sum.wait(); }, blocking_call);
  check.equal(got, std::vector<int>(v.size(), sum_of_ranks(w)));
}

void composed_begun(communicator& w, const step& blocking_call) {
  std::vector<int> v(20000, w.rank());
  auto sum = w.iallreduce(send_buf(v), op(std::plus<>{}), composition("reduce_bcast"));
  std::vector<int> got;
  in_order(
      w, [&] { got = sum.wait(); }, blocking_call);
  check.equal(got, std::vector<int>(v.size(), sum_of_ranks(w)));
}

void persistent_begun(communicator& w, const step& blocking_call) {
  std::vector<int> v(20000, w.rank());
  auto plan = w.allreduce_init(send_buf(v), op(std::plus<>{}), algorithm("ring"));
  plan.start();
  std::vector<int> got;
  in_order(
      w, [&] { got = plan.wait(); }, blocking_call);
  check.equal(got, std::vector<int>(v.size(), sum_of_ranks(w)));
}

// The receive begins when its length is known, and the sender waits for it.
void receive_without_count(communicator& w, const step& blocking_call) {
  std::vector<int> sent(300000, 7), got;
  std::optional<decltype(w.irecv(recv_buf<resize_to_fit>(got), source(0), tag(3)))> in;
  if (!first(w)) in.emplace(w.irecv(recv_buf<resize_to_fit>(got), source(0), tag(3)));
  if (first(w))
    for (int r = 1; r < w.size(); ++r) w.ssend(send_buf(sent), destination(r), tag(3));
  blocking_call();
  if (first(w)) return;
  in->wait();
  check.equal(got, sent);
}

// The same on a group that was made without a message.
void receive_in_group(communicator& w, const step& blocking_call) {
  communicator all = w.range(0, w.size() - 1);
  receive_without_count(all, blocking_call);
}

// Rank 0 gets large areas of the other ranks. They leave the superstep as early as the library
// permits, overwrite their areas and wait in the other call. If the library let them leave while
// rank 0 still needs the data, rank 0 would get the new values.
void superstep_ended(communicator& w, const step& blocking_call) {
  bsp::context ctx(w);
  std::vector<int> area(300000, w.rank());
  auto there = ctx.registered(area);
  ctx.sync();
  std::vector<std::vector<int>> got(static_cast<std::size_t>(w.size()), std::vector<int>(area.size(), -1));
  if (first(w))
    for (int r = 1; r < w.size(); ++r) ctx.get(r, there, 0, got[static_cast<std::size_t>(r)]);
  ctx.sync();
  if (!first(w)) std::fill(area.begin(), area.end(), -2);
  blocking_call();
  if (!first(w)) return;
  for (int r = 1; r < w.size(); ++r)
    check.equal(got[static_cast<std::size_t>(r)], std::vector<int>(area.size(), r));
}

struct pending_operation {
  const char* name;
  std::function<void(communicator&, const step&)> with;
};

const pending_operation pending_operations[] = {
    {"reduction_of_tasks", reduction_of_tasks}, {"tasks_not_waited_for", tasks_not_waited_for},
    {"collective", collective_begun},           {"native_collective", native_begun},
    {"composed_collective", composed_begun},    {"persistent_collective", persistent_begun},
    {"receive", receive_without_count},         {"receive_in_group", receive_in_group},
    {"superstep", superstep_ended}};

// --- calls that wait

void native_allreduce(communicator& w) {
  check.equal(w.allreduce_single(send_buf(1), op(std::plus<>{}), algorithm("native")), w.size());
}

void cached_allreduce(communicator& w) {
  for (int i = 0; i < 3; ++i) check.equal(w.allreduce_single(send_buf(1), op(std::plus<>{})), w.size());
}

void native_alltoallv(communicator& w) {
  const std::vector<int> each(static_cast<std::size_t>(w.size()), 2);
  const std::vector<int> v(2 * each.size(), w.rank());
  const auto got = w.alltoallv(send_buf(v), send_counts(each), recv_counts(each), algorithm("native"));
  check.equal(got[1], 0);
}

void composed(communicator& w) {
  std::vector<int> v(100, 1);
  w.allreduce(send_recv_buf(v), op(std::plus<>{}), composition("node_leader"));
  check.equal(v[99], w.size());
}

// Messages from rank 0 to each other rank, in a call that waits for them.
void messages(communicator& w, const std::function<void()>& receive) {
  if (!first(w)) return receive();
  for (int r = 1; r < w.size(); ++r) w.send(send_buf(r), destination(r), tag(9));
}

void supersteps(communicator& w) {
  bsp::context ctx(w);
  std::vector<int> received(static_cast<std::size_t>(w.size()), -1);
  auto there = ctx.registered(received);
  ctx.sync();
  for (int k = 0; k < w.size(); ++k) ctx.put(w.rank(), k, there, static_cast<std::size_t>(w.rank()));
  ctx.sync();
  check.equal(received.back(), w.size() - 1);
}

void other_tasks(communicator& w) {
  long t = 0;
  tasks::runtime rt(w);
  auto s = first(w) ? rt.data(t, 0) : rt.data<long>(0);
  for (int r = 0; r < w.size(); ++r)
    rt.insert([r](long& v) { v += r; }, tasks::on(r), tasks::reduce(s, std::plus<>{}));
  rt.wait_all();
  rt.barrier();
}

struct waiting_call {
  const char* name;
  std::function<void(communicator&)> make;
};

const waiting_call calls[] = {
    {"native_barrier", [](communicator& w) { w.barrier(algorithm("native")); }},
    {"test",
     [](communicator& w) {
       messages(w, [&] {
         auto received = w.irecv<int>(source(0), tag(9));
         while (!received.test()) {
         }
       });
     }},
    {"iprobe",
     [](communicator& w) {
       messages(w, [&] {
         while (!w.iprobe(source(0), tag(9))) {
         }
         w.recv<int>(source(0), tag(9));
       });
     }},
    {"barrier", [](communicator& w) { w.barrier(); }},
    {"native_allreduce", native_allreduce},
    {"cached_allreduce", cached_allreduce},
    {"native_bcast",
     [](communicator& w) {
       check.equal(w.bcast_single(send_recv_buf(first(w) ? 5 : 0), algorithm("native")), 5);
     }},
    {"native_alltoallv", native_alltoallv},
    {"schedule", [](communicator& w) { w.barrier(algorithm("dissemination")); }},
    {"composed", composed},
    {"nonblocking", [](communicator& w) { w.ibarrier(algorithm("native")).wait(); }},
    {"receive",
     [](communicator& w) {
       messages(w, [&] { check.equal(w.recv_single<int>(source(0), tag(9)), w.rank()); });
     }},
    {"probe",
     [](communicator& w) {
       messages(w, [&] {
         w.probe(source(0), tag(9));
         check.equal(w.recv_single<int>(source(0), tag(9)), w.rank());
       });
     }},
    {"synchronous_send",
     [](communicator& w) {
       if (!first(w)) return w.ssend(send_buf(w.rank()), destination(0), tag(8));
       for (int r = 1; r < w.size(); ++r) check.equal(w.recv_single<int>(source(r), tag(8)), r);
     }},
    {"duplicate", [](communicator& w) { w.duplicate().barrier(); }},
    {"split", [](communicator& w) { w.split(0)->barrier(); }},
    {"group", [](communicator& w) { w.range(0, w.size() - 1).barrier(); }},
    {"hops", [](communicator& w) { check.equal(logchain(chain(w)).size(), w.size()); }},
    {"supersteps", supersteps},
    {"tasks", other_tasks}};

// A runtime of the upper ranks only, and a barrier of all ranks. The lowest rank has no tasks.
void runtime_of_a_part(communicator& w) {
  const bool in = w.rank() != 0;
  auto part = w.split(in ? 0 : 1);
  if (in)
    reduction_of_tasks(*part, [&] { w.barrier(algorithm("native")); });
  else
    w.barrier(algorithm("native"));
}

// Two overlapping communicators; each rank in both has an operation in progress on one of them.
void overlapping(communicator& w) {
  if (w.size() < 3) return;
  const int last = w.size() - 1;
  communicator low = w.rank() < last ? w.range(0, last - 1) : w.range(last, last);
  communicator upper = w.split(w.rank() > 0 ? 0 : 1)->duplicate();
  const bool lower = w.rank() < last;
  std::vector<int> v(30000, w.rank());
  auto sum = low.iallreduce(send_buf(v), op(std::plus<>{}), algorithm("ring"));
  if (!lower) {
    upper.barrier(algorithm("native"));
    sum.wait();
  } else if (w.rank() == 0) {
    check.equal(sum.wait().size(), v.size());
  } else {
    upper.barrier(algorithm("native"));
    check.equal(sum.wait()[0], low.size() * (low.size() - 1) / 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& all) {
    for (const pending_operation& f : pending_operations)
      for (const waiting_call& c : calls)
        all(std::string(f.name) + "/" + c.name, [&] {
          f.with(world, [&] { c.make(world); });
          world.barrier();
        });
    all("runtime_of_a_part", [&] { runtime_of_a_part(world); });
    all("overlapping", [&] { overlapping(world); });
  });
}
