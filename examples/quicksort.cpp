// SPDX-License-Identifier: Apache-2.0
//
// Quicksort over ranks (sort/quicksort.hpp) on skewed keys. It makes the group of each part in two
// ways. range() needs no message, so a step costs only a scan and an exchange. split() is the same
// program with one more allgather.
#include "sort/quicksort.hpp"

#include <tutti/timer.hpp>

#include "support/checked.hpp"

namespace {

using namespace tutti;

communicator by_range(const communicator& group, int low) {
  return group.rank() < low ? group.range(0, low - 1) : group.range(low, group.size() - 1);
}
communicator by_split(const communicator& group, int low) { return *group.split(group.rank() < low ? 0 : 1); }

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "quicksort", [](communicator& world) {
    const std::size_t each = 4000;
    bool right = true;
    timer time(world);
    for (int distribution = 0; distribution < 5; ++distribution) {
      const sorting::keys input = sorting::draw(distribution, each * world.rank(), each);
      sorting::keys global = sorting::draw(distribution, 0, each * world.size());
      std::sort(global.begin(), global.end());
      sorting::keys ranged = input, divided = input;
      time.start("by range");
      sorting::quicksort(world, ranged, by_range);
      time.stop();
      time.start("by split");
      sorting::quicksort(world, divided, by_split);
      time.stop();
      right = right && world.allgatherv(send_buf(ranged)) == global &&
              world.allgatherv(send_buf(divided)) == global;
    }
    return right;
  });
}
