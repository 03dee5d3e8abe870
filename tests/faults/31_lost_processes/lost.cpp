// SPDX-License-Identifier: Apache-2.0
//
// One rank kills itself, or the launcher, while the others wait for it in a call in the memory of
// the node. usage: lost WAIT WHO MARK: WAIT is barrier, schedule, long or recv; WHO is rank or
// launcher; MARK is a file that is made just before.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

#include "tutti/tutti.hpp"

using namespace tutti;

namespace {

void wait_in(const communicator& world, const std::string& what) {
  std::vector<double> mine(200'000, 1.0), sum(mine.size());
  if (what == "barrier") return world.barrier();
  if (what == "schedule") return world.barrier(algorithm("dissemination"));
  if (what == "long")
    world.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}));
  else
    world.recv(recv_buf(sum), source(1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string what = argv[1], who = argv[2];
  return run(argc, argv, [&](communicator& world) {
    world.barrier();
    if (world.rank() == 1) {
      usleep(300'000);
      if (std::FILE* const mark = std::fopen(argv[3], "w")) std::fclose(mark);
      kill(who == "rank" ? getpid() : getppid(), SIGKILL);
    }
    wait_in(world, world.rank() == 1 ? "recv" : what);  // rank 1 waits for itself
  });
}
