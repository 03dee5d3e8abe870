// SPDX-License-Identifier: Apache-2.0
//
// Ranks fork children while collectives and messages use the memory of the node. The children exit
// at once or late, in any way, and are no ranks: the calls go on, nobody reports a loss, and all
// results are right.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "memory_world.hpp"
#include "refused_reads.hpp"

namespace {

using namespace tests;
using namespace tutti;

enum class child { ends_at_once, ends_late, exits, becomes_another_program, writes_its_copies };
constexpr child all_children[] = {child::ends_at_once, child::ends_late, child::exits,
                                  child::becomes_another_program, child::writes_its_copies};

// The buffers of the calls. A child has copies of them.
struct buffers {
  std::vector<int> mine, sum, got;

  explicit buffers(std::size_t n) : mine(n, here_is.rank), sum(n), got(n) {}
};

[[noreturn]] void live(child how, buffers& b) {
  switch (how) {
    case child::ends_late:
      usleep(30'000);
      break;
    case child::exits:
      std::exit(0);
    case child::becomes_another_program:
      execl("/bin/true", "true", nullptr);
      _exit(1);
    case child::writes_its_copies:
      b.mine.assign(b.mine.size(), -5);
      b.sum.assign(b.sum.size(), -5);
      b.got.assign(b.got.size(), -5);
      break;
    default:
      break;
  }
  _exit(0);
}

void make_calls(communicator& c, buffers& b, int tag_used) {
  const int right = (here_is.rank + 1) % here_is.size,
            left = (here_is.rank + here_is.size - 1) % here_is.size;
  const auto n = b.mine.size();
  auto sent = c.isend(send_buf(b.mine), destination(right), tag(tag_used));
  c.allreduce(send_buf(b.mine), recv_buf(b.sum), op(std::plus<>{}), algorithm("native"));
  c.recv(recv_buf(b.got), source(left), tag(tag_used));
  sent.wait();
  c.barrier(algorithm("native"));
  require(b.sum == std::vector<int>(n, here_is.size * (here_is.size - 1) / 2), "an allreduce is wrong");
  require(b.got == std::vector<int>(n, left), "a message is wrong");
}

// Every rank has children, of which some live during many calls.
void run_with(communicator& c, std::size_t n) {
  buffers b(n);
  std::vector<pid_t> children;
  int made = 0;
  for (const child how : all_children)
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < (here_is.size == 2 ? 10 : 2); ++i) make_calls(c, b, i);
      auto pending = c.iallreduce(send_buf(b.mine), recv_buf(b.sum), op(std::plus<>{}), algorithm("native"));
      if ((made++ + here_is.rank) % 3 != 0) {
        children.push_back(fork());
        if (children.back() == 0) live(how, b);
      }
      pending.wait();
    }
  for (const pid_t one : children) {
    int status = -1;
    require(waitpid(one, &status, 0) == one && status == 0, "a child has failed");
  }
  make_calls(c, b, 0);
}

void run_calls() {
  communicator world = adopt_for_memory();
  tutti::mpi::mpi_endpoint& ep = endpoint_of(world);
  tutti::shm::segment& memory = ep.memory().segment();
  require(ep.has_node_memory() && ep.p2p_on_node() != nullptr, "there is no memory of the node");
  ep.memory().set_min_bytes_by_address(20'000);
  communicator c = world.duplicate();
  for (const std::size_t n : {1, 2000, 100'000}) run_with(c, n);
  require(ep.memory().calls_by_address() > 0 || !ep.memory().may_copy(), "no call has gone by address");
  require(memory.is_rank() && memory.lost_rank() == -1, "a rank is lost");
  for (int r = 0; r < here_is.size; ++r)
    require(memory.role(r) == tutti::shm::segment_role::joined && memory.peer_is_alive(r),
            "rank " + std::to_string(r) + " of the node is missing");
  world.barrier();
}

void run_all() {
  captured_errors errors;
  try {
    run_calls();
  } catch (const std::exception&) {
    std::fputs(errors.text().c_str(), stderr);
    throw;
  }
  const std::string text = errors.text();
  require(text.find("tutti:") == std::string::npos, "there is a report: " + text);
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
