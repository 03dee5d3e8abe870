// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_probe() with the measured costs of the engine. For messages of m bytes, g is the
// time of a byte plus 1/m of the cost of a message. l grows with the logarithm of the number of
// processes.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engines/engine_table.hpp"
#include "frontends/bsp/machine_costs.hpp"
#include "frontends/lpf/exec.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "lpf/core.h"
#include "tutti/communicator.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

// The functions of a machine have no argument that names the machine. So there is a pair of them
// for each index in the table of engines.
template <std::size_t Index>
double seconds_per_byte(lpf_pid_t, std::size_t min_msg_size, lpf_sync_attr_t) {
  return bsp::measured_costs(engines()[Index]->name).seconds_per_byte(min_msg_size);
}

template <std::size_t Index>
double seconds_per_superstep(lpf_pid_t p, std::size_t, lpf_sync_attr_t) {
  return bsp::measured_costs(engines()[Index]->name).seconds_per_superstep(p);
}

template <std::size_t... Indices>
constexpr auto machines_at(std::index_sequence<Indices...>) {
  return std::array{lpf_machine_t{0, 0, seconds_per_byte<Indices>, seconds_per_superstep<Indices>}...};
}
constexpr auto machines = machines_at(std::make_index_sequence<16>());

lpf_machine_t machine_on(std::string_view engine, lpf_pid_t p, lpf_pid_t free_p) {
  std::size_t index = 0;
  while (engines()[index]->name != engine) ++index;
  lpf_machine_t machine = machines.at(index);  // throws if there are more engines
  machine.p = p;
  machine.free_p = free_p;
  return machine;
}

// The result of a section. Outside of all sections the engine is unknown. A section finds it, and
// the first section measures its costs.
struct section_machine {
  lpf_pid_t p, machine;  // of the section, of the machine
  char engine[16];
};

void query_machine(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  if (pid != 0) return;
  auto& result = *static_cast<section_machine*>(args.output);
  result.p = nprocs;
  const context& section = *context_of(ctx, "lpf_probe");
  result.machine = section.counts.machine;
  const std::string_view name = bsp::abi::engine_of(*section.process);
  name.copy(result.engine, std::min(name.size(), sizeof result.engine - 1));
}

}  // namespace
}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_probe(lpf_t ctx, lpf_machine_t* params) {
  try {
    if (ctx == LPF_ROOT) {
      if (params == nullptr) {
        report_error("lpf_probe", -1, "params", "is null", "pass a place for the machine");
        return LPF_ERR_FATAL;
      }
      section_machine result{};
      lpf_args_t args = LPF_NO_ARGS;
      args.output = &result;
      args.output_size = sizeof result;
      if (const lpf_err_t end = lpf_exec(LPF_ROOT, LPF_MAX_P, query_machine, args); end != LPF_SUCCESS)
        return end;
      *params = machine_on(result.engine, std::max(result.machine, result.p), result.p);
      return LPF_SUCCESS;
    }
    tutti::lpf::context* const c = context_of(ctx, "lpf_probe");
    if (c == nullptr) return LPF_ERR_FATAL;
    return call_process(ctx, "lpf_probe", [&](tutti::bsp::process& p) {
      if (params == nullptr)
        tutti::bsp::abi::reject(p, "probe", "params", "is null", "pass a place for the machine");
      const std::string_view engine = tutti::bsp::abi::engine_of(p);
      *params = machine_on(engine, c->counts.machine, c->counts.free);
      return true;
    });
  } catch (...) {
    return report_exception("lpf_probe");
  }
}
