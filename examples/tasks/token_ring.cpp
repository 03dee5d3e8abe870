// SPDX-License-Identifier: Apache-2.0
//
// A token travels around the ring of ranks, and a task on each rank adds one to it. A rank submits
// its receive, its task and its send, and waits for none of them. Their order makes the task run
// after the receive and before the send.
#include <CLI/CLI.hpp>

#include <tutti/tasks.hpp>

#include "support/checked.hpp"

namespace {

using namespace tutti;

/// Returns the token when it leaves this rank for the last time.
unsigned pass_on(communicator& world, int loops) {
  const int p = world.size(), me = world.rank();
  const int left = (me + p - 1) % p, right = (me + 1) % p;
  unsigned value = 0;
  tasks::runtime rt(world);
  const auto token = rt.data(value, me, tasks::with_tag(me));  // each rank has its own token
  for (int loop = 0; loop < loops; ++loop) {
    const int hop = loop * p + me;
    if (hop > 0) rt.irecv_detached(token, left, hop);
    rt.insert([](unsigned& t) { ++t; }, read_write(token));
    if (hop + 1 < loops * p) rt.isend_detached(token, right, hop + 1);
  }
  rt.wait_all();
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  int loops = 32;
  CLI::App app("Passes a token around the ring of ranks; a task on each rank adds one to it.");
  app.add_option("--loops", loops, "how often the token goes around")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return checked(argc, argv, "token_ring", [loops](communicator& world) {
    return pass_on(world, loops) == static_cast<unsigned>((loops - 1) * world.size() + world.rank() + 1);
  });
}
