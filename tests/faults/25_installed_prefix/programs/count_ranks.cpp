// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <functional>

#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) {
    const int ranks = world.allreduce_single(tutti::send_buf(1), tutti::op(std::plus<>{}));
    if (world.rank() == 0) std::printf("count_ranks: %d ranks\n", ranks);
  });
}
