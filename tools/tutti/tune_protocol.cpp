// SPDX-License-Identifier: Apache-2.0
#include "tune_protocol.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <unistd.h>

#include "engines/embedded/sleep.hpp"
#include "tuning/machine.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;
using tuning::measured_protocol;

// A waiting rank and the system need a little of a core, too.
constexpr double normal_core_wait = 0.1;

constexpr const char* statistic =
    "the lower quartile of several measurements; each is the least median of up to 3 groups of samples, on "
    "the slowest rank";

std::string text_of(const measured_protocol::range& r) {
  return r.min == r.max ? fmt::format("{}", r.min) : fmt::format("{} to {}", r.min, r.max);
}
json json_of(const measured_protocol::range& r) { return {r.min, r.max}; }

void join(measured_protocol::range& into, const measured_protocol::range& r) {
  if (r.max == 0) return;
  into.add(r.min);
  into.add(r.max);
}

bool has_core_for_each_rank(const tutti::detail::engine_entry& engine) { return engine.ranks_to_tune == 0; }

}  // namespace

std::string text_of(const measured_protocol& p) {
  std::string text = fmt::format("A time is {}. A measurement takes {} ms.\n", statistic, p.budget_ms);
  if (p.loop.max != 0)
    text += fmt::format(
        "  below {} bytes: {} calls per sample, {} samples; each call first writes a word of the sent data, "
        "then reads a word of the result\n",
        tuning::loop_limit_bytes, text_of(p.loop), text_of(p.short_samples));
  if (p.long_samples.max != 0)
    text += fmt::format(
        "  from {} bytes on: 1 call per sample, {} samples; before it the sent data are written, after it "
        "the result is read, a word of each cache line, and neither is timed\n",
        tuning::loop_limit_bytes, text_of(p.long_samples));
  return text + fmt::format("  pages of {} KiB, transparent huge pages: {}\n", sysconf(_SC_PAGESIZE) / 1024,
                            tuning::transparent_huge_pages());
}

json json_of(const measured_protocol& p) {
  json all = {{"statistic", statistic},
              {"budget_ms", p.budget_ms},
              {"loop_below_bytes", tuning::loop_limit_bytes},
              {"page_bytes", sysconf(_SC_PAGESIZE)},
              {"transparent_huge_pages", tuning::transparent_huge_pages()}};
  if (p.loop.max != 0)
    all["short_calls"] = {{"calls_per_sample", json_of(p.loop)},
                          {"samples", json_of(p.short_samples)},
                          {"written_before_each_call", "a word of the sent data"},
                          {"read_after_each_call", "a word of the result"},
                          {"accesses_are_timed", true}};
  if (p.long_samples.max != 0)
    all["long_calls"] = {{"calls_per_sample", json_of(measured_protocol::range{1, 1})},
                         {"samples", json_of(p.long_samples)},
                         {"written_before_each_call", "a word in each cache line of the sent data"},
                         {"read_after_each_call", "a word in each cache line of the result"},
                         {"accesses_are_timed", false}};
  return all;
}

measured_protocol joined(const measured_protocol& a, const measured_protocol& b) {
  measured_protocol all = a;
  join(all.loop, b.loop);
  join(all.short_samples, b.short_samples);
  join(all.long_samples, b.long_samples);
  all.oversubscribed = a.oversubscribed || b.oversubscribed;
  all.core_wait = std::max(a.core_wait, b.core_wait);
  return all;
}

std::string oversubscription_of(const measured_protocol& p, const tutti::detail::engine_entry& engine,
                                int ranks) {
  if (!p.oversubscribed || !has_core_for_each_rank(engine)) return "";
  constexpr const char* consequence = "times include waiting for a core, and the trees suit only such jobs";
  // Over MPI a process may be bound to some of the cores that its machine gives to the job.
  if (!engine.embedded())
    return fmt::format("a machine has more ranks than cores for them: {}; start fewer ranks on it",
                       consequence);
  const int cores = tutti::detail::usable_cores();
  const std::string fewer = cores > 1 ? fmt::format("use --ranks {}, or ", cores) : "";
  return fmt::format("{} ranks share {} core{}: {}; {}allow the job more cores", ranks, cores,
                     cores == 1 ? "" : "s", consequence, fewer);
}

std::string load_of(const measured_protocol& p, const tutti::detail::engine_entry& engine) {
  if (p.oversubscribed && has_core_for_each_rank(engine)) return "";
  if (p.core_wait.value_or(0) < normal_core_wait) return "";
  return fmt::format(
      "other programs compute on the same cores: a rank was ready, but had no core, in {:.0f} % of its "
      "time. Times are too long, and choices stay unclear; tune while the machine is idle",
      100 * *p.core_wait);
}

}  // namespace tutti::tool
