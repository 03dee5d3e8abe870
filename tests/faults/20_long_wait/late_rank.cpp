// SPDX-License-Identifier: Apache-2.0
//
// late_rank CASE: one rank makes the others wait. No rank fails.
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  using namespace tutti;
  using namespace std::chrono_literals;
  const auto late = [](communicator& world, std::chrono::seconds time = 9s) {
    if (world.rank() == 1) std::this_thread::sleep_for(time);
  };
  const std::map<std::string, std::function<void(communicator&)>> cases = {
      {"native",
       [&](communicator& world) {
         std::vector<double> v(3), w(3);
         constexpr std::plus<> sum{};
         for (int i = 0; i < 3; ++i) {
           if (i == 2) late(world);
           world.allreduce(send_buf(v), recv_buf(w), op(sum), algorithm("native"));  // PLACE native
         }
       }},
      {"message",
       [&](communicator& world) {
         late(world);
         if (world.rank() == 1)
           for (int r : {0, 2}) world.send(send_buf(1), destination(r));
         else
           world.recv<int>(source(1));  // PLACE message
       }},
      {"schedule",
       [&](communicator& world) {
         late(world);
         world.barrier(algorithm("dissemination"));  // PLACE schedule
       }},
      {"default",  // later than the 10 s that apply without TUTTI_DEADLOCK_AFTER
       [&](communicator& world) {
         late(world, 13s);
         world.barrier(algorithm("dissemination"));  // PLACE default
       }},
      {"nobody",  // only short waits
       [](communicator& world) {
         for (int i = 0; i < 40; ++i) {
           if (world.rank() == 1) std::this_thread::sleep_for(100ms);
           world.allreduce(send_buf(1), op(std::plus<>{}));
         }
       }},
  };
  const auto found = cases.find(argc > 1 ? argv[1] : "");
  if (found == cases.end()) return 1;
  return run(argc, argv, [&](communicator& world) { found->second(world); });
}
