// SPDX-License-Identifier: Apache-2.0
//
// unwound_calls CASE: jobs over MPI in which an exception unwinds a call in progress. MPI must not
// use the buffers afterwards, even if the program catches the exception. So a program goes on only
// if MPI has returned the buffers. The job reports the cause.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

constexpr int odd = 1;  // the rank that throws

[[noreturn]] void goes_on(const communicator& world) {
  std::fprintf(stderr, "FAILED: rank %d goes on\n", world.rank());
  std::fflush(nullptr);
  std::_Exit(3);
}

auto begin_native(const communicator& world, std::vector<int>& v) {
  return world.iallreduce(send_recv_buf(v), op(std::plus<>{}), algorithm("native"));
}

// They begin the collective long after rank `odd` has thrown.
void be_late(const communicator& world) {
  if (world.rank() != odd) std::this_thread::sleep_for(std::chrono::seconds(4));
}

const std::map<std::string, std::function<void(communicator&)>> cases = {
    // The destructor of the request ends the job, and reports the exception that unwinds it.
    {"uncaught",
     [](communicator& world) {
       std::vector<int> v(100'000, 1);
       be_late(world);
       auto pending = begin_native(world, v);
       if (world.rank() == odd) throw std::runtime_error("planted fault");
       pending.wait();
     }},
    // Handlers of other types do not matter.
    {"other_handler",
     [](communicator& world) {
       be_late(world);
       try {
         std::vector<int> v(100'000, 1);
         auto pending = begin_native(world, v);
         if (world.rank() == odd) throw std::runtime_error("planted fault");
         pending.wait();
       } catch (const std::logic_error&) {
         goes_on(world);
       }
     }},
    {"caught",
     [](communicator& world) {
       be_late(world);
       try {
         std::vector<int> v(100'000, 1);
         auto pending = begin_native(world, v);
         if (world.rank() == odd) throw std::runtime_error("planted fault");
         pending.wait();
       } catch (const std::runtime_error&) {
         goes_on(world);
       }
     }},
    // The receiver learns of the failure and takes the message, so the sender goes on. Its next
    // call throws.
    {"caught_send",
     [](communicator& world) {
       int x = 0;
       if (world.rank() != odd) world.recv(recv_buf(x), source(odd), tag(2));
       try {
         std::vector<char> v(1 << 20);
         auto pending = world.isend(send_buf(v), destination(0), tag(1));
         throw std::runtime_error("planted fault");
       } catch (const std::runtime_error&) {
         world.recv(recv_buf(x), source(0), tag(2));
         goes_on(world);
       }
     }},
    // The other ranks wait in the collective, which rank `odd` does not call.
    {"others_in_collective",
     [](communicator& world) {
       if (world.rank() == odd) throw std::runtime_error("planted fault");
       try {
         std::vector<int> v(100'000, 1);
         world.allreduce(send_recv_buf(v), op(std::plus<>{}), algorithm("native"));
       } catch (const peer_error&) {
         goes_on(world);
       }
     }},
    {"others_with_requests",
     [](communicator& world) {
       if (world.rank() == odd) throw std::runtime_error("planted fault");
       try {
         std::vector<int> v(100'000, 1), x(1);
         auto pending = begin_native(world, v);
         world.recv(recv_buf(x), source(odd));
       } catch (const peer_error&) {
         goes_on(world);
       }
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto chosen = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (chosen == cases.end()) {
    std::fprintf(stderr, "unwound_calls: no such case\n");
    return 0;  // a case that does not fail must not pass: expect.sh wants a non-zero status
  }
  return run(argc, argv, chosen->second);
}
