// SPDX-License-Identifier: Apache-2.0
//
// An operator of tutti/bsp.hpp throws on some processes. These get its exception from the sync, and
// the others get a peer_error from the same sync.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tutti/bsp.hpp"
#include "tutti/tutti.hpp"

namespace {

struct mark {
  double value;
  int own;
};
std::atomic_flag has_thrown;

void program(tutti::communicator& world) {
  tutti::bsp::context ctx(world);
  mark x{1, world.rank()};
  ctx.allreduce(x, [](const mark& a, const mark& b) {
    if ((a.own == 1 || b.own == 1) && !has_thrown.test_and_set()) throw std::out_of_range("no such number");
    return mark{a.value + b.value, a.own};
  });
  try {
    ctx.sync();
  } catch (const std::out_of_range& e) {
    std::fprintf(stderr, "rank %d: %s\n", world.rank(), e.what());
    try {
      ctx.sync();
    } catch (const std::out_of_range&) {  // the context has failed permanently
      return;
    }
  } catch (const tutti::peer_error&) {
    return;
  }
  std::fprintf(stderr, "FAILED rank %d: nothing was thrown\n", world.rank());
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace

int main(int argc, char** argv) { return tutti::run(argc, argv, program); }
