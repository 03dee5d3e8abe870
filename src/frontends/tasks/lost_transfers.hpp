// SPDX-License-Identifier: Apache-2.0
//
// Finds transfers that will never arrive. A rank that has waited for a while sends an inquiry to
// the other side. A rank at the end of its runtime replies that it will never send the data. Then
// the waiting rank reports an error and gives up the nodes that wait.
//
// task_graph calls inquire() while it waits, hands over arrivals, and reports the two stages of its
// end. Only the rank's own thread calls.
#pragma once

#include <cstddef>
#include <vector>

#include "frontends/tasks/explicit_transfers.hpp"
#include "frontends/tasks/task_reductions.hpp"
#include "frontends/tasks/transfer_table.hpp"

namespace tutti::tasks {

class lost_transfers {
 public:
  lost_transfers(const transfer_services& services, data_registry& data, transfer_table& transfers,
                 explicit_transfers& requested, reductions& contributions);
  lost_transfers(const lost_transfers&) = delete;
  lost_transfers& operator=(const lost_transfers&) = delete;

  /// Sends inquiries about the transfers that this rank waits for, once for each.
  void inquire();
  void handle_inquiry(const arrival& a);
  void handle_never_sent(const arrival& a);
  /// This rank inserts no more tasks. Replies to inquiries about data.
  void end_insertion();
  /// All sends of this rank are complete. Replies to all inquiries.
  void end_sends();

 private:
  void reply_to_deferred();
  void give_up_contribution(const arrival& a);
  void give_up_receive(const arrival& a);

  const transfer_services& services_;
  data_registry& data_;
  transfer_table& transfers_;
  explicit_transfers& explicit_;
  reductions& reductions_;
  struct inquiry {
    message_header header;
    int from;
  };
  std::vector<inquiry> deferred_;       // until this rank can reply
  std::vector<bool> inquired_, ended_;  // by rank: whether it sends no more explicit transfers
  bool inserting_ = true, sending_ = true;
};

}  // namespace tutti::tasks
