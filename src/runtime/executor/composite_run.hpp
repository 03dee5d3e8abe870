// SPDX-License-Identifier: Apache-2.0
//
// Runs the composite plan of a composed call for one rank. It starts the schedules of the inner
// calls, several side by side if the plan started several. It copies and combines between them. As
// in schedule_run, the same code serves blocking and nonblocking calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/executor/executor.hpp"
#include "schedule/composite/composite_plan.hpp"

namespace tutti::detail {

/// A composite plan with the bound schedule of each inner call.
struct bound_composite_plan {
  /// `schedules[i]` serves plan.calls[i] and must outlive this object.
  bound_composite_plan(const char* plan_name, composite_plan p, std::vector<bound_schedule*> schedules,
                       context& where);

  const char* name;  // "allreduce/node_leader"
  composite_plan plan;
  std::vector<bound_schedule*> schedules;
  std::vector<std::uint32_t> run_slots;  // by inner call: the slot of its run
  std::uint32_t runs = 0;                // the maximum number of inner calls in progress at once
  context& where;
};

class composite_run final : public progressable {
 public:
  composite_run() = default;
  composite_run(const composite_run&) = delete;
  composite_run& operator=(const composite_run&) = delete;

  /// `call_id`: the sequence number of the call on this communicator. `b`, `c` and what they refer
  /// to must stay valid.
  void begin(bound_composite_plan& b, const call& c, std::uint32_t call_id);
  bool advance(bool blocking) override;
  bool is_complete() const noexcept { return complete_; }
  std::uint32_t call_id() const noexcept { return call_id_; }  ///< of the last begin()
  std::uint64_t progress_count() const noexcept override;
  shm::wait_site site(const char* what = "", int peer = -1) const noexcept override;

 private:
  struct run_slot {
    call made;
    schedule_run run;
  };
  std::byte* address(const area& a) const noexcept;
  void start(std::uint32_t which, bool alone);
  bool wait(std::uint32_t which, bool blocking);
  void progress_inner_calls();

  bound_composite_plan* bound_ = nullptr;
  const call* call_ = nullptr;
  std::uint32_t call_id_ = 0;
  std::size_t pc_ = 0;
  std::uint64_t progress_count_ = 0;
  bool complete_ = true;
  std::unique_ptr<run_slot[]> run_slots_;
  std::size_t run_slot_count_ = 0;
  std::vector<run_slot*> active_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t memory_bytes_ = 0;
  std::byte* scratch_ = nullptr;
};

}  // namespace tutti::detail
