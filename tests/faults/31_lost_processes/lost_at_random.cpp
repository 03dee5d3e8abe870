// SPDX-License-Identifier: Apache-2.0
//
// Rank 1 is killed at a random time, while all ranks use the memory of the node. usage:
// lost_at_random WHAT DELAY MARK: WHAT is setup, lines, slots, address, schedule, p2p or groups;
// DELAY is the time in microseconds after which rank 1 dies; MARK is a file that is made just
// before.
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include "tutti/tutti.hpp"

using namespace tutti;

namespace {

const char* mark = nullptr;

void die(int) {
  close(open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  kill(getpid(), SIGKILL);
}

void die_after(long microseconds) {
  std::signal(SIGALRM, die);
  const itimerval once{{0, 0}, {microseconds / 1'000'000, microseconds % 1'000'000}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

bool is_rank_1() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const value = std::getenv(name)) return std::string(value) == "1";
  return false;
}

// Calls with buffers of `n` elements.
class calls {
 public:
  calls(communicator& c, std::size_t n) : c_(c), mine_(n, 1.0), sum_(n) {}
  void collectives(const char* name) {
    c_.allreduce(send_buf(mine_), recv_buf(sum_), op(std::plus<>{}), algorithm(name));
    c_.bcast(send_recv_buf(mine_), root(2));
    c_.barrier();
  }
  void messages() {
    auto sent = c_.isend(send_buf(mine_), destination((c_.rank() + 1) % c_.size()));
    c_.recv(recv_buf(sum_), source((c_.rank() + c_.size() - 1) % c_.size()));
    sent.wait();
  }

 private:
  communicator& c_;
  std::vector<double> mine_, sum_;
};

void make_calls(communicator& c, const std::string& what) {
  calls few(c, 2), some(c, 300), many(c, 100'000);
  for (;;) {
    if (what == "lines") few.collectives("native");
    if (what == "slots") some.collectives("native");
    if (what == "address") many.collectives("native");
    if (what == "schedule") few.collectives("allreduce/ring"), many.collectives("allreduce/ring");
    if (what == "p2p") few.messages(), some.messages(), many.messages();
    if (what == "groups" || what == "setup") {
      communicator other = c.duplicate();
      calls(other, 2).collectives("native");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string what = argv[1];
  const long delay = std::atol(argv[2]);
  mark = argv[3];
  if (what == "setup" && is_rank_1()) die_after(delay);
  return run(argc, argv, [&](communicator& world) {
    world.barrier();
    if (what != "setup" && world.rank() == 1) die_after(delay);
    make_calls(world, what);
  });
}
