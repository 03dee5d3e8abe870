// SPDX-License-Identifier: Apache-2.0
//
// Tests every call of the task front end on every engine: calls/.
#include "calls/call_tests.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
  calls::list all;
  calls::add_transfers(all);
  calls::add_detached(all);
  calls::add_data(all);
  calls::add_kernels(all);
  calls::add_uses(all);
  calls::add_reductions(all);
  calls::add_together(all);
  return tests::run_program(argc, argv, [&](tutti::communicator& world, tests::cases& cases) {
    for (const auto& [name, one] : all) cases(name, [&] { one(world); });
  });
}
