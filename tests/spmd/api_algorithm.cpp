// SPDX-License-Identifier: Apache-2.0
//
// Tests algorithm("..."): by short and by full name, in every mode. An unknown name must be
// rejected before anything is sent.
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

void names(communicator& comm) {
  const std::vector<int> mine(3, comm.rank());
  std::vector<int> all;
  for (int r = 0; r < comm.size(); ++r) all.insert(all.end(), 3, r);
  const auto used = [&] { return std::string(comm.last_algorithm(collective::allgather)); };
  check.equal(comm.allgather(send_buf(mine), algorithm("ring")), all);
  check.equal(used(), std::string("allgather/ring"));
  check.equal(comm.allgather(algorithm(std::string("allgather/bruck")), send_buf(mine)), all);
  check.equal(used(), std::string("allgather/bruck"));
  check.equal(comm.iallgather(send_buf(mine), algorithm("ring")).wait(), all);
  auto plan = comm.allgather_init(send_buf(mine), algorithm("bruck"));
  plan.start();
  check.equal(plan.wait(), all);
  check.throws<usage_error>([&] { comm.allgather(send_buf(mine), algorithm("no_such")); },
                            {"allgather on rank", "algorithm", "no_such"});
  check.equal(comm.allgather(send_buf(mine)), all);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(
      argc, argv, [](communicator& comm, tests::cases& cases) { cases("names", [&] { names(comm); }); });
}
