// SPDX-License-Identifier: Apache-2.0
//
// Gathers vectors of different lengths on all ranks in one line. In MPI this takes an exchange of
// lengths, a prefix sum and a call with eight arguments.
#include "support/checked.hpp"

namespace {

using namespace tutti;

std::vector<int> everything(communicator& world, const std::vector<int>& mine) {
  // count: vector allgather
  return world.allgatherv(send_buf(mine));
  // end
}

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "vector_allgather", [](communicator& world) {
    const auto of = [](int rank) { return std::vector<int>(static_cast<std::size_t>(rank % 3), rank); };
    std::vector<int> right;
    for (int r = 0; r < world.size(); ++r)
      for (int x : of(r)) right.push_back(x);
    return everything(world, of(world.rank())) == right;
  });
}
