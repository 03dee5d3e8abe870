// SPDX-License-Identifier: Apache-2.0
//
// Measures the calls of a campaign on the ranks of a job, and records how it did.
//
// The protocol is that of bench/protocol.hpp. Senders change their buffers before each call, and
// receivers read the results after it. Results are checked before and after the timed calls.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "tuning/benchmark_fixture.hpp"
#include "tuning/campaign.hpp"
#include "tuning/core_wait.hpp"
#include "tuning/measured_call.hpp"

namespace tutti::tuning {

/// Calls with fewer bytes run in a loop, which touches one word per call. Longer ones run one at a
/// time, and a word of each cache line is touched outside the timed part.
inline constexpr std::size_t loop_limit_bytes = 4096;

/// What the measurements had in common.
struct measured_protocol {
  struct range {
    std::size_t min = 0, max = 0;  ///< 0: nothing was measured

    void add(std::size_t value) noexcept {
      min = max == 0 ? value : std::min(min, value);
      max = std::max(max, value);
    }
  };
  double budget_ms = 0;       ///< for one measurement
  range loop, short_samples;  ///< calls per sample and samples per measurement of short calls
  range long_samples;         ///< those of long calls; a sample is one call
  bool oversubscribed = false;
  /// The fraction of the time in which a rank was ready to run but had no core; the largest of all
  /// ranks. Nothing if the system does not count it.
  std::optional<double> core_wait;
};

class job_timer final : public call_timer {
 public:
  job_timer(benchmark_fixture& fixture, const endpoint& ep, double budget_ms);

  int rank() const override { return fixture_.rank(); }
  int ranks() const override { return fixture_.size(); }
  double elapsed() override { return fixture_.max(seconds(clock::now() - start_).count()); }
  selection_context context_of(collective what, std::size_t bytes) override {
    return fixture_.selection_context_of(call_of(what, bytes).call());
  }
  result measure(collective what, std::size_t bytes, const std::string& algorithm,
                 const std::string& composition) override;

  /// Collective.
  measured_protocol protocol();

 private:
  measured_call& call_of(collective what, std::size_t bytes);

  benchmark_fixture& fixture_;
  clock::time_point start_ = clock::now();
  measured_protocol protocol_;
  std::optional<core_times> core_times_;
  // The last call: most measurements of a call follow one another.
  std::unique_ptr<measured_call> call_;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::tuning
