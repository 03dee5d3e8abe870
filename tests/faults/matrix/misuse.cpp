// SPDX-License-Identifier: Apache-2.0
//
// misuse CASE: programs that use the library wrongly, or whose processes are killed. CMakeLists.txt
// states the output, the status and the time limit of each.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tutti/bsp.hpp"
#include "tutti/grid.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

constexpr int odd = 1;  // the rank with the mistake

void sum(communicator& world, std::size_t n = 1) {
  std::vector<int> mine(n, 1);
  const std::vector<int> all = world.allreduce(send_buf(mine), op(std::plus<>{}));
  for (const int x : all)
    if (x != world.size()) throw std::logic_error("a wrong sum");
}

// By then the other ranks are inside their call.
void wait_for_peers() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

// A child process resumes this process after a while.
void stop_for_a_while() {
  const pid_t self = getpid();
  if (fork() == 0) {
    usleep(1'500'000);
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
}

template <class Signal>
void send_signal(communicator& world, Signal signal) {
  sum(world);
  if (world.rank() == odd) {
    wait_for_peers();
    signal();
  }
  sum(world);
}

std::optional<communicator> saved;
std::optional<nonblocking_result<std::vector<int>>> saved_request;
std::optional<message> saved_message;
std::unique_ptr<tasks::runtime> saved_runtime;
tasks::handle<long> saved_handle;

// A message of each rank to itself.
message message_on(communicator& comm) {
  comm.bsend(send_buf(1), destination(comm.rank()), tag(1));
  return comm.mprobe(source(comm.rank()), tag(1));
}

using program = std::function<void(communicator&)>;

const std::map<std::string, program> cases = {
    // --- calls that do not match
    {"other_collective",
     [](communicator& world) {
       int x = 0;
       if (world.rank() == odd)
         world.bcast(send_recv_buf(x));
       else
         world.barrier();
     }},
    {"other_count",
     [](communicator& world) {
       std::vector<double> v(world.rank() == odd ? 20 : 10);
       world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("recursive_doubling"));
     }},
    {"other_root",
     [](communicator& world) {
       std::vector<int> v(1000);
       world.bcast(send_recv_buf(v), send_recv_count(v.size()), root(world.rank() == odd ? 1 : 0));
     }},
    {"other_type",
     [](communicator& world) {
       if (world.rank() == odd)
         world.allreduce_single(send_buf(1.5), op(std::plus<>{}));
       else
         world.allreduce_single(send_buf(1), op(std::plus<>{}));
     }},
    {"other_order_of_nonblocking",
     [](communicator& world) {
       int x = 1;
       double y = 1;
       if (world.rank() == odd) {
         auto b = world.ibcast(send_recv_buf(y));
         auto a = world.iallreduce_single(send_buf(x), op(std::plus<>{}));
         a.wait(), b.wait();
       } else {
         auto a = world.iallreduce_single(send_buf(x), op(std::plus<>{}));
         auto b = world.ibcast(send_recv_buf(y));
         a.wait(), b.wait();
       }
     }},
    {"bad_argument",  // on one rank
     [](communicator& world) {
       std::vector<int> counts(world.size(), 1), mine(world.size(), 1);
       if (world.rank() == odd) counts[0] = -5;
       world.alltoallv(send_buf(mine), send_counts(counts));
     }},
    {"bad_argument_of_grid",
     [](communicator& world) {
       const grid_communicator grid(world);
       std::vector<int> counts(world.size(), 1), mine(world.size(), 1);
       if (world.rank() == odd) counts[0] = -5;
       grid.alltoallv(send_buf(mine), send_counts(counts));
     }},
    {"other_call_than_grid",
     [](communicator& world) {
       const grid_communicator grid(world);
       std::vector<int> counts(world.size(), 1), mine(world.size(), 1);
       if (world.rank() == odd)
         world.barrier();
       else
         grid.alltoallv(send_buf(mine), send_counts(counts), recv_counts(counts));
     }},
    // --- ranks that disappear
    {"early_return",
     [](communicator& world) {
       sum(world);
       if (world.rank() == odd) return;
       sum(world);
     }},
    {"throws",
     [](communicator& world) {
       sum(world);
       if (world.rank() == odd) throw std::runtime_error("planted fault");
       sum(world);
     }},
    {"throws_in_a_kernel",
     [](communicator& world) {
       tasks::runtime rt(world);
       auto x = rt.data<long>(odd);
       rt.insert(
           [](long& v) {
             v = 1;
             throw std::runtime_error("planted fault");
           },
           tasks::write(x));
       rt.wait_all();
       sum(world);
     }},
    {"throws_with_requests",
     [](communicator& world) {
       std::vector<int> v(100'000, 1);
       auto pending = world.iallreduce(send_buf(v), op(std::plus<>{}));
       if (world.rank() == odd) throw std::runtime_error("planted fault");
       pending.wait();
       sum(world);
     }},
    {"exits",
     [](communicator& world) {
       sum(world);
       if (world.rank() == odd) std::exit(0);
       sum(world);
     }},
    {"all_exit",
     [](communicator& world) {
       sum(world);
       std::exit(0);
     }},
    {"aborts", [](communicator& world) { send_signal(world, [] { std::abort(); }); }},
    {"killed", [](communicator& world) { send_signal(world, [] { raise(SIGKILL); }); }},
    {"stopped", [](communicator& world) { send_signal(world, stop_for_a_while); }},
    // --- destroyed objects
    {"freed_communicator",
     [](communicator& world) {
       communicator other = world.duplicate();
       other.free();
       sum(other);
     }},
    {"moved_communicator",
     [](communicator& world) {
       communicator other = world.duplicate();
       communicator third = std::move(other);
       sum(third);
       sum(other);
     }},
    {"empty_request",
     [](communicator& world) {
       auto first = world.iallreduce_single(send_buf(1), op(std::plus<>{}));
       auto second = std::move(first);
       second.wait();
       first.wait();
     }},
    {"communicator_after_run",
     [](communicator& world) {
       if (world.rank() == 0) saved = world;
     }},
    {"request_after_run",
     [](communicator& world) {
       auto r = world.iallreduce(send_buf(std::vector<int>(1, 1)), op(std::plus<>{}));
       if (world.rank() == 0)
         saved_request.emplace(std::move(r));
       else
         r.wait();
       sum(world);
     }},
    {"received_message",
     [](communicator& world) {
       message m = message_on(world);
       m.recv_single<int>();
       m.recv_single<int>();
     }},
    {"message_of_freed_communicator",
     [](communicator& world) {
       communicator other = world.duplicate();
       message m = message_on(other);
       other.free();
       m.recv_single<int>();
     }},
    {"message_after_run",
     [](communicator& world) {
       if (world.rank() == 0) saved_message = message_on(world);
       sum(world);
     }},
    {"task_handle_after_run",
     [](communicator& world) {
       if (world.rank() == 0) {
         saved_runtime = std::make_unique<tasks::runtime>(world.range(0, 0));
         saved_handle = saved_runtime->data<long>(0);
       }
       sum(world);
     }},
    {"task_data_after_run",
     [](communicator& world) {
       if (world.rank() == 0) saved_runtime = std::make_unique<tasks::runtime>(world.range(0, 0));
       sum(world);
     }},
    {"deregistered_slot",
     [](communicator& world) {
       bsp::context ctx(world);
       int x = 0;
       auto slot = ctx.registered(x);
       ctx.sync();
       slot.deregister();
       ctx.put(1, 0, slot);
       ctx.sync();
     }},
    // --- threads that run no rank
    {"foreign_thread",
     [](communicator& world) {
       sum(world);
       std::async(std::launch::async, [&] { sum(world); }).get();
     }},
};

// Uses the objects that a rank has saved, after its run has ended.
void use_saved_objects() {
  if (saved) saved->barrier();
  if (saved_request) saved_request->wait();
  if (saved_message) saved_message->recv_single<int>();
  if (saved_handle) saved_runtime->fetch(saved_handle, 0);
  if (saved_runtime) static_cast<void>(saved_runtime->data<long>(0));
}

}  // namespace

int main(int argc, char** argv) {
  const auto chosen = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (chosen == cases.end()) {
    std::fprintf(stderr, "misuse: no such case\n");
    return 77;
  }
  const int status = run(argc, argv, chosen->second);
  try {
    use_saved_objects();
  } catch (const usage_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
  if (status == 0) std::printf("complete\n");
  return status;
}
