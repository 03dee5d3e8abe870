// SPDX-License-Identifier: Apache-2.0
//
// With `using namespace tutti` at global scope, the program's own global names stay unambiguous.
// The names are common in programs, and no public header may add one of them to namespace tutti.
#include <vector>

#include <tutti/bsp.hpp>
#include <tutti/double_exscan.hpp>
#include <tutti/flatten.hpp>
#include <tutti/grid.hpp>
#include <tutti/reproducible.hpp>
#include <tutti/same.hpp>
#include <tutti/serialization.hpp>
#include <tutti/sort.hpp>
#include <tutti/sparse.hpp>
#include <tutti/tasks.hpp>
#include <tutti/timer.hpp>
#include <tutti/tutti.hpp>

using namespace tutti;

struct result {
  int value;
};
struct allocate {
  int bytes;
};
struct spread {
  double width;
};
struct argument {};
struct part {};
struct slot {};
struct handle {};
struct context {};
const int undefined = -1;
const int mode = 0, form = 0, flow = 0;
void sort(std::vector<int>&) {}
int called(int times) { return times; }
bool fit(int size) { return size > 0; }

int use(communicator& world) {
  std::vector<int> v = world.allgather(send_buf(world.rank()));
  sort(v);
  const result first{v.front()};
  const allocate memory{called(undefined)};
  const spread none{};
  [[maybe_unused]] const argument a;
  [[maybe_unused]] const part p;
  [[maybe_unused]] const slot s;
  [[maybe_unused]] const handle h;
  [[maybe_unused]] const context c;
  return first.value + memory.bytes + static_cast<int>(none.width) + (fit(mode) ? form : flow);
}
