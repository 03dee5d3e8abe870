// SPDX-License-Identifier: Apache-2.0
//
// Measures the costs of a superstep: g and l of the BSP model (Valiant 1990; measured by total
// exchanges, as in Bisseling's "Parallel Scientific Computation"). Measured once for each engine,
// in the first section of a job, in some milliseconds. Process 0 distributes the result, so all
// processes have the same bits.
#include "frontends/bsp/machine_costs.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "frontends/bsp/bsp_process.hpp"

namespace tutti::bsp {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// The figures by engine name: for one process, and for several. The C functions that return them
// (lpf_machine_t) have no argument that leads to a process. So they are stored here; each is
// written once.
struct known {
  std::mutex lock;
  std::map<std::string, std::array<figures, 2>, std::less<>> of;
};

known& known_here() {
  static known one;
  return one;
}

// If processes share no memory, they store what process 0 has sent, whatever they knew. They may
// have been in different sections before.
void keep(std::string_view engine, const figures& told, bool anew) {
  known& k = known_here();
  const std::lock_guard lock(k.lock);
  figures& there = k.of[std::string(engine)][told.processes > 1 ? 1 : 0];
  if (anew || there.processes == 0) there = told;
}

}  // namespace

figures known_costs(std::string_view engine) {
  known& k = known_here();
  const std::lock_guard lock(k.lock);
  const auto found = k.of.find(engine);
  if (found == k.of.end()) return {};
  const auto& [alone, several] = found->second;
  return several.processes != 0 ? several : alone;
}

double figures::byte_of(std::size_t bytes) const noexcept {
  return byte + message / static_cast<double>(std::max<std::size_t>(bytes, 1));
}

double figures::superstep_of(std::size_t among) const noexcept {
  const auto steps = [](double p) { return 1 + std::log2(std::max(p, 1.0)); };
  return superstep * steps(static_cast<double>(among)) / steps(processes);
}

void process::tell(void* data, std::size_t bytes) {
  call c;
  c.what = collective::bcast;
  c.count = bytes;
  c.input = c.output = data;
  detail::run_call(all_, c);
}

// The minimum time, over some repetitions, of a superstep in which each process puts `count`
// messages of `bytes` bytes to its neighbour.
double process::time_of_superstep(slot from, slot into, std::size_t count, std::size_t bytes, int times) {
  double least = 1;
  for (int i = 0; i < times; ++i) {
    for (std::size_t k = 0; k < count; ++k) put(from, 0, (pid_ + 1) % nprocs_, into, 0, bytes);
    const auto begin = clock::now();
    sync();
    least = std::min(least, seconds_since(begin));
  }
  return least;
}

void process::measure() {
  figures_ = known_costs(detail::engine_of(all_));
  tell(&figures_, sizeof figures_);
  if (figures_.processes != 0 && (figures_.processes > 1 || nprocs_ == 1))
    return keep(detail::engine_of(all_), figures_, !detail::shares_memory(all_));

  constexpr std::size_t few = 8;
  const std::size_t long_bytes = nprocs_ > 64 ? 4 << 10 : 64 << 10;
  const int times = nprocs_ > 64 ? 3 : 8;
  std::vector<std::byte> given(long_bytes), taken(long_bytes);
  slot from = no_slot, into = no_slot;
  memory_.grow();
  (*boxes_)[0].grow();
  (*boxes_)[1].grow();
  add(true, given.data(), given.size(), from);
  add(true, taken.data(), taken.size(), into);
  sync();
  const double empty = time_of_superstep(from, into, 0, 0, 2 * times);
  const double small = time_of_superstep(from, into, few, 8, times);
  const double large = time_of_superstep(from, into, 1, long_bytes, times);
  remove(from);
  remove(into);
  // The minima ensure positive figures if the clock is too coarse or other programs disturbed the
  // machine.
  figures_.superstep = std::max(empty, 1e-9);
  figures_.message = std::max((small - empty) / few, 1e-10);
  figures_.byte = std::max((large - empty) / static_cast<double>(long_bytes), 1e-13);
  figures_.processes = nprocs_;
  tell(&figures_, sizeof figures_);
  resize_register(0);
  resize_queue(0);
  sync();
  sync();  // now both outboxes have no room again
  keep(detail::engine_of(all_), figures_, !detail::shares_memory(all_));
}

}  // namespace tutti::bsp
