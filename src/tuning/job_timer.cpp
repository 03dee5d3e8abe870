// SPDX-License-Identifier: Apache-2.0
#include "tuning/job_timer.hpp"

#include <algorithm>

namespace tutti::tuning {

job_timer::job_timer(benchmark_fixture& fixture, const endpoint& ep, double budget_ms)
    : fixture_(fixture), core_times_(times_of_thread()) {
  protocol_.budget_ms = budget_ms;
  for (const engine_condition& c : ep.conditions())
    protocol_.oversubscribed = protocol_.oversubscribed || (c.name == "oversubscribed" && c.holds);
}

measured_call& job_timer::call_of(collective what, std::size_t bytes) {
  if (call_ == nullptr || call_->call().what != what || bytes_ != bytes) {
    call_.reset();  // first, because both may not fit
    call_ = std::make_unique<measured_call>(what, bytes, rank(), ranks(), false);
    bytes_ = bytes;
  }
  return *call_;
}

call_timer::result job_timer::measure(collective what, std::size_t bytes, const std::string& algorithm,
                                      const std::string& composition) {
  measured_call& work = call_of(what, bytes);
  const auto comm = fixture_.communicator(what, algorithm, composition);
  const auto operation = [&] { run_call(*comm, work.call()); };
  result r;
  const auto verify_result = [&] {
    work.prepare();
    fixture_.barrier();
    operation();
    r.correct = fixture_.max(work.correct() ? 0.0 : 1.0) == 0.0 && r.correct;
  };
  verify_result();
  const mode how = bytes < loop_limit_bytes ? mode::loop : mode::single;
  r.time = tuning::measure(fixture_, how, protocol_.budget_ms, operation, work);
  // Once more, because the result of a repeated call must be right too.
  verify_result();
  if (how == mode::loop) protocol_.loop.add(r.time.loop);
  (how == mode::loop ? protocol_.short_samples : protocol_.long_samples).add(r.time.samples);
  fixture_.barrier();  // no rank may destroy the communicator while another one uses it
  return r;
}

measured_protocol job_timer::protocol() {
  measured_protocol p = protocol_;
  const auto now = times_of_thread();
  const double waited = core_times_ && now ? now->waiting_since(*core_times_) : -1;
  const double most = fixture_.max(waited), least = -fixture_.max(-waited);
  if (least >= 0) p.core_wait = most;
  return p;
}

}  // namespace tutti::tuning
