// SPDX-License-Identifier: Apache-2.0
//
// Tests that TUTTI_TREES, or a file at the default path, puts both halves of both_halves.json in
// effect on every engine.
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& t) {
    const auto ran = [&](std::size_t doubles) {
      const std::vector<double> mine(doubles, 1.0);
      const std::vector<double> sum = world.allreduce(send_buf(mine), op(std::plus<>{}));
      tests::check.equal(sum.back(), static_cast<double>(world.size()));
      return std::string(world.last_algorithm(collective::allreduce));
    };
    t("pure", [&] { tests::check.equal(ran(10), "allreduce/double_tree"); });
    t("composition", [&] { tests::check.equal(ran(1000), "allreduce/reduce_bcast"); });
  });
}
