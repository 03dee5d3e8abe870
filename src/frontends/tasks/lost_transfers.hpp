// SPDX-License-Identifier: Apache-2.0
//
// Finds transfers that will never come. A rank that waits in vain for a while asks the other side.
// A rank that has come to the end of its runtime answers that it will never send the data. Then
// the rank that waits reports an error, and the nodes that wait are given up.
//
// task_graph calls inquire() while it waits, hands over arrivals, and reports the two stages of its
// end. Only the rank's own thread calls.
#pragma once

#include <cstddef>
#include <vector>

#include "frontends/tasks/explicit_transfers.hpp"
#include "frontends/tasks/reductions.hpp"
#include "frontends/tasks/transfer_table.hpp"

namespace tutti::tasks {

class lost_transfers {
 public:
  lost_transfers(const transfer_services& with, data_registry& data, transfer_table& transfers,
                 explicit_transfers& requested, reductions& contributions);
  lost_transfers(const lost_transfers&) = delete;
  lost_transfers& operator=(const lost_transfers&) = delete;

  /// Asks other ranks for what this rank waits for, once for each transfer.
  void inquire();
  void handle_inquiry(const arrival& a);
  void handle_never(const arrival& a);
  /// This rank inserts no more tasks: answers inquiries about data.
  void end_insertion();
  /// All sends of this rank are complete: answers all inquiries.
  void end_sends();

 private:
  void answer_deferred();
  void give_up_contribution(const arrival& a);
  void give_up_receive(const arrival& a);

  const transfer_services& with_;
  data_registry& data_;
  transfer_table& transfers_;
  explicit_transfers& requested_;
  reductions& contributions_;
  struct inquiry {
    head what;
    int from;
  };
  std::vector<inquiry> deferred_;    // until this rank can answer
  std::vector<bool> asked_, ended_;  // by rank: whether it sends no more explicit transfers
  bool inserts_ = true, sends_ = true;
};

}  // namespace tutti::tasks
