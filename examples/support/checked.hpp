// SPDX-License-Identifier: Apache-2.0
//
// The main() of a small example: runs it on all ranks. It fails if the result on a rank differs
// from that of a serial program.
#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <tutti/tutti.hpp>

/// Calls `work(world)` on every rank, which returns whether this rank's part is right. Returns
/// main()'s exit code: 0 if all parts are right.
template <class Work>
int checked(int argc, char** argv, const char* name, Work work) {
  return tutti::run(argc, argv, [&](tutti::communicator& world) {
    using namespace tutti;
    const bool right = work(world);
    if (!world.allreduce_single(send_buf(right), op(std::logical_and<>{})))
      throw std::runtime_error(std::string(name) + ": differs from a serial program");
    if (world.is_root()) fmt::print("{} on {} ranks: equal to a serial program\n", name, world.size());
  });
}
