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
struct cost_table {
  std::mutex lock;
  std::map<std::string, std::array<machine_costs, 2>, std::less<>> by_engine;
};

cost_table& table_of_process() {
  static cost_table one;
  return one;
}

// If processes share no memory, they overwrite their entry by the costs that process 0 has sent.
// They may have been in different sections before.
void store_costs(std::string_view engine, const machine_costs& costs, bool overwrite) {
  cost_table& table = table_of_process();
  const std::lock_guard lock(table.lock);
  machine_costs& entry = table.by_engine[std::string(engine)][costs.processes > 1 ? 1 : 0];
  if (overwrite || entry.processes == 0) entry = costs;
}

}  // namespace

machine_costs measured_costs(std::string_view engine) {
  cost_table& table = table_of_process();
  const std::lock_guard lock(table.lock);
  const auto found = table.by_engine.find(engine);
  if (found == table.by_engine.end()) return {};
  const auto& [one_process, several] = found->second;
  return several.processes != 0 ? several : one_process;
}

double machine_costs::seconds_per_byte(std::size_t bytes) const noexcept {
  return byte + message / static_cast<double>(std::max<std::size_t>(bytes, 1));
}

double machine_costs::seconds_per_superstep(std::size_t among) const noexcept {
  const auto steps = [](double p) { return 1 + std::log2(std::max(p, 1.0)); };
  return superstep * steps(static_cast<double>(among)) / steps(processes);
}

void process::broadcast_bytes(void* data, std::size_t bytes) {
  call c;
  c.what = collective::bcast;
  c.count = bytes;
  c.input = c.output = data;
  detail::run_call(all_, c);
}

// The minimum time, over some repetitions, of a superstep in which each process puts `count`
// messages of `bytes` bytes to its neighbor.
double process::time_of_superstep(slot from, slot into, std::size_t count, std::size_t bytes, int times) {
  double min_seconds = 1;
  for (int i = 0; i < times; ++i) {
    for (std::size_t k = 0; k < count; ++k) put(from, 0, (pid_ + 1) % nprocs_, into, 0, bytes);
    const auto begin = clock::now();
    sync();
    min_seconds = std::min(min_seconds, seconds_since(begin));
  }
  return min_seconds;
}

void process::measure() {
  const detail::deferred_rejections steps(deferrals_);
  costs_ = measured_costs(detail::engine_of(all_));
  broadcast_bytes(&costs_, sizeof costs_);
  if (costs_.processes != 0 && (costs_.processes > 1 || nprocs_ == 1))
    return store_costs(detail::engine_of(all_), costs_, !detail::shares_memory(all_));

  constexpr std::size_t small_messages = 8;
  const std::size_t long_bytes = nprocs_ > 64 ? 4 << 10 : 64 << 10;
  const int times = nprocs_ > 64 ? 3 : 8;
  std::vector<std::byte> src(long_bytes), dst(long_bytes);
  slot from = no_slot, into = no_slot;
  memory_.grow();
  (*boxes_)[0].grow();
  (*boxes_)[1].grow();
  register_memory(true, src.data(), src.size(), from);
  register_memory(true, dst.data(), dst.size(), into);
  sync();
  const double empty = time_of_superstep(from, into, 0, 0, 2 * times);
  const double small = time_of_superstep(from, into, small_messages, 8, times);
  const double large = time_of_superstep(from, into, 1, long_bytes, times);
  deregister(from);
  deregister(into);
  // The minima ensure positive figures if the clock is too coarse or other programs disturbed the
  // machine.
  costs_.superstep = std::max(empty, 1e-9);
  costs_.message = std::max((small - empty) / small_messages, 1e-10);
  costs_.byte = std::max((large - empty) / static_cast<double>(long_bytes), 1e-13);
  costs_.processes = nprocs_;
  broadcast_bytes(&costs_, sizeof costs_);
  resize_memory_register(0);
  resize_queue(0);
  sync();
  sync();  // now the capacity of both outboxes is 0 again
  store_costs(detail::engine_of(all_), costs_, !detail::shares_memory(all_));
}

}  // namespace tutti::bsp
