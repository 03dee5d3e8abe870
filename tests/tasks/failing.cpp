// SPDX-License-Identifier: Apache-2.0
//
// tasks_failing CASE: task programs that must end the job by themselves, each with a text that
// ../failure/expect.sh looks for.
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace tasks = tutti::tasks;
using tutti::communicator;

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(communicator&)>> cases = {
      {"never_inserts",  // rank 1 does not insert a task that sends data
       [](communicator& world) {
         tasks::runtime rt(world);
         int x = world.rank();
         const auto h = rt.data(x, 1);
         if (world.rank() == 1) return;
         rt.insert([](int) {}, tasks::read(h), tasks::on(0));
         rt.wait_all();
       }},
      {"never_runs",  // rank 2 does not run a task for which others wait
       [](communicator& world) {
         tasks::runtime rt(world);
         std::vector<double> x(5000);
         const auto h = rt.data(x, 0);
         if (world.rank() != 2) rt.insert([](std::span<double>) {}, tasks::write(h), tasks::on(2));
         rt.wait_all();
       }},
      {"never_contributes",
       [](communicator& world) {
         tasks::runtime rt(world);
         int x = 0;
         const auto h = rt.data(x, 0);
         if (world.rank() != 1) rt.insert([](int& v) { ++v; }, tasks::reduce(h, std::plus<>{}), tasks::on(1));
         rt.wait_all();
       }},
      {"never_sends",
       [](communicator& world) {
         tasks::runtime rt(world);
         int x = 0;
         const auto h = rt.data(x, world.rank());
         if (world.rank() == 0) rt.recv(h, 1, 4);
       }},
      {"never_received",  // long, so its sender waits
       [](communicator& world) {
         std::vector<int> x(100'000);
         tasks::runtime rt(world);
         const auto h = rt.data(x, world.rank());
         if (world.rank() == 0) rt.isend_detached(h, 1, 9);
       }},
      {"inserts_at_the_end",  // detected at the end of the runtime
       [](communicator& world) {
         tasks::runtime rt(world);
         int x = world.rank();
         const auto h = rt.data(x, 1);
         if (world.rank() != 1) rt.insert([](int) {}, tasks::read(h), tasks::on(0));
       }},
      {"throws_at_the_end",  // a kernel throws, and nobody waits for it
       [](communicator& world) {
         tasks::runtime rt(world);
         int x = 0;
         const auto h = rt.data(x, 1);
         rt.insert([](int&) { throw std::runtime_error("planted fault"); }, tasks::write(h),
                   tasks::name("the last"));
       }},
      {"leaves_by_exception",  // the others must not wait forever
       [](communicator& world) {
         tasks::runtime rt(world);
         int x = 0;
         const auto h = rt.data(x, 1);
         if (world.rank() == 1) throw std::runtime_error("planted fault");
         rt.insert([](int) {}, tasks::read(h), tasks::on(0));
         rt.insert([](int) {}, tasks::read(h), tasks::on(2));
         rt.wait_all();
       }},
      {"leaves_with_work",  // running kernels use its memory until it is destroyed
       [](communicator& world) {
         std::vector<int> x(1000);
         tasks::runtime rt(world, {.workers = 2});
         const auto h = rt.data(x, world.rank());
         for (int i = 0; i < 200; ++i)
           rt.insert(
               [](std::span<int> v) {
                 for (int& y : v) ++y;
               },
               tasks::read_write(h));
         throw std::runtime_error("planted fault");
       }},
      {"sizes_differ",
       [](communicator& world) {
         tasks::runtime rt(world);
         const auto h = rt.data<std::span<int>>(0, world.rank() == 1 ? 7 : 3);
         rt.insert([](std::span<const int>) {}, tasks::read(h), tasks::on(1));
         rt.wait_all();
       }},
      {"tag_at_the_end",
       [](communicator& world) {
         tasks::runtime rt(world);
         rt.insert([] {}, tasks::after(31));
       }},
      {"not_all_make_it",  // not all ranks create a runtime
       [](communicator& world) {
         if (world.rank() != 1) tasks::runtime rt(world);
       }},
  };
  const auto chosen = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (chosen == cases.end()) {
    std::fprintf(stderr, "tasks_failing: no such case\n");
    return 0;  // a case that does not fail must not pass: expect.sh wants a non-zero status
  }
  return tutti::run(argc, argv, chosen->second);
}
