// SPDX-License-Identifier: Apache-2.0
//
// The schedules and composite plans that were written and bound for the calls of one communicator.
// The decision trees select for each call. A schedule is written when it is selected for the first
// time, and kept until the communicator is destroyed. call_dispatcher is its only user.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/agreed_signature.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/prepared_call.hpp"
#include "schedule/composite/composite_plan.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

class schedule_store {
 public:
  explicit schedule_store(communicator_state& where) noexcept : where_(where) {}
  schedule_store(const schedule_store&) = delete;
  schedule_store& operator=(const schedule_store&) = delete;

  /// Selects what a valid call runs. The result has a stable address. Throws usage_error if no
  /// algorithm serves the call.
  prepared_call& find(const call& c);

  /// Writes and binds the composite plan of a call for which find() returned the composition `p`.
  /// `blocking`: no other call is begun before it ends.
  std::shared_ptr<bound_composition> plan(const call& c, const prepared_call& p, bool blocking);

  /// The number of calls with a schedule or composition, and of calls within compositions.
  std::size_t size() const noexcept { return calls_.size(); }
  std::size_t inner_size() const noexcept { return inner_calls_.size(); }

 private:
  // The schedule of a call within a composition, on some of the ranks.
  struct inner_schedule {
    choice chosen;
    collective what;
    int root;
    bool in_place, commutative;
    std::vector<int> ranks;
    std::unique_ptr<bound_schedule> bound;
  };
  inner_schedule& find_inner(const call& c, const subcall& sub, const std::vector<int>& ranks, bool blocking);

  prepared_call& select_and_find(const call& c, const agreed_signature& s);

  // The last call of each collective for which the trees alone have chosen. It saves a selection,
  // because every call of a vector form passes through find().
  struct last_call {
    agreed_signature of;
    int root = 0;
    prepared_call* found = nullptr;
  };

  communicator_state& where_;
  std::array<last_call, collective_names.size()> last_calls_;
  std::vector<std::unique_ptr<prepared_call>> calls_;
  std::vector<std::unique_ptr<inner_schedule>> inner_calls_;
};

}  // namespace tutti::detail
