// SPDX-License-Identifier: Apache-2.0
//
// reports_failing_rank CASE: a job that fails on its last rank only.
#include <cstdio>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

void the_last_rank_fails(communicator& world, bool others_wait) {
  world.barrier();
  check.that(world.rank() != world.size() - 1, "planted");
  if (others_wait) world.barrier();
}

// The message contains the order in which the ranks ran. Another interleaving gives another
// message.
void an_interleaving(communicator& world, std::vector<int>& order) {
  for (int i = 0; i < 20; ++i) {
    order.push_back(world.rank());
    world.barrier(algorithm("dissemination"));
  }
  std::string all;
  for (const int r : order) all += std::to_string(r);
  check.that(world.rank() != world.size() - 1, all);
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string selected = argc > 1 ? argv[1] : "";
  std::vector<int> order;  // deterministic fibers have one worker: no race
  return tests::run_program(argc, argv, [&](communicator& world, tests::cases& cases) {
    cases("before", [&] {
      if (world.rank() == 0) std::fputs("another case is tried\n", stderr);
    });
    if (selected != "when_others_have_returned" && selected != "an_interleaving")
      cases("the_last_rank_fails/while_others_wait", [&] { the_last_rank_fails(world, true); });
    if (selected != "while_others_wait" && selected != "an_interleaving")
      cases("the_last_rank_fails/when_others_have_returned", [&] { the_last_rank_fails(world, false); });
    if (selected == "an_interleaving") cases("an_interleaving", [&] { an_interleaving(world, order); });
  });
}
