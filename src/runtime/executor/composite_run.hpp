// SPDX-License-Identifier: Apache-2.0
//
// Runs the program of a composed call for one rank: starts the schedules of the calls that it makes, several
// at a time where the program says so, and copies and combines between them. Blocking and nonblocking by the
// same code, as schedule_run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/executor/executor.hpp"
#include "schedule/composite/composite_plan.hpp"

namespace tutti {

/// A program with the bound schedule of each of its calls.
struct bound_composite_plan {
  /// `schedules[i]` serves plan.calls[i], and lives longer than this.
  bound_composite_plan(const char* its_name, composite_plan p, std::vector<bound_schedule*> schedules,
                       context& where);

  const char* name;  // "allreduce/node_leader"
  composite_plan plan;
  std::vector<bound_schedule*> schedules;
  std::vector<std::uint32_t> run_slots;  // by call: which of the runs serves it
  std::uint32_t runs = 0;                // as many as calls are ever under way together
  context& where;
};

class composite_run final : public progressable {
 public:
  composite_run() = default;
  composite_run(const composite_run&) = delete;
  composite_run& operator=(const composite_run&) = delete;

  /// `number`: which call on this communicator. `b`, `c` and what they refer to must stay.
  void begin(bound_composite_plan& b, const call& c, std::uint32_t number);
  bool go_on(bool blocking) override;
  bool over() const noexcept { return over_; }
  std::uint64_t moves() const noexcept override;
  shm::wait_site site(const char* what = "", int peer = -1) const noexcept override;

 private:
  struct run_slot {
    call made;
    schedule_run run;
  };
  std::byte* address(const area& a) const noexcept;
  void start(std::uint32_t which, bool alone);
  bool wait(std::uint32_t which, bool blocking);
  void progress();

  bound_composite_plan* bound_ = nullptr;
  const call* call_ = nullptr;
  std::uint32_t number_ = 0;
  std::size_t pc_ = 0;
  std::uint64_t moves_ = 0;
  bool over_ = true;
  std::unique_ptr<run_slot[]> run_slots_;
  std::size_t run_slots_made_ = 0;
  std::vector<run_slot*> under_way_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t memory_bytes_ = 0;
  std::byte* scratch_ = nullptr;
};

}  // namespace tutti
