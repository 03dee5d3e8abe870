// SPDX-License-Identifier: Apache-2.0
//
// Requests as many workers as TUTTI_TASK_WORKERS specifies, which needs the module of workers.
#include <cstdio>
#include <cstdlib>

#include <tutti/tasks.hpp>

int main(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) {
    int ranks = 0;
    tutti::tasks::runtime rt(world);
    const char* workers = std::getenv("TUTTI_TASK_WORKERS");
    if (workers == nullptr || rt.workers() != std::atoi(workers)) std::abort();
    const auto count = world.rank() == 0 ? rt.data(ranks, 0) : rt.data<int>(0);
    for (int r = 0; r < world.size(); ++r)
      rt.insert([](int& n) { ++n; }, tutti::tasks::on(r), tutti::tasks::read_write(count));
    rt.wait_all();
    if (world.rank() == 0) std::printf("use_workers: %d ranks\n", ranks);
  });
}
