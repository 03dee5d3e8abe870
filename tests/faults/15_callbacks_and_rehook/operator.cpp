// SPDX-License-Identifier: Apache-2.0
//
// An operator of tutti/bsp.hpp throws on some processes. These get its exception from the sync, the others a
// peer_error in their next one.
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
  bool told = false;
  for (int k = 0; k < 2 && !told; ++k) try {
      ctx.sync();
    } catch (const std::out_of_range& e) {
      std::fprintf(stderr, "rank %d: %s\n", world.rank(), e.what());
      told = true;
      if (k == 0) try {
          ctx.sync();
        } catch (const std::out_of_range&) {  // for good; and now the others know
        }
    } catch (const tutti::peer_error&) {
      told = true;
    }
  if (told) return;
  std::fprintf(stderr, "FAILED rank %d: nothing was told\n", world.rank());
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace

int main(int argc, char** argv) { return tutti::run(argc, argv, program); }
