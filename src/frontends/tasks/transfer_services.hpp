// SPDX-License-Identifier: Apache-2.0
//
// The parts that all nodes and tables of transfers of one rank use. task_graph owns them.
#pragma once

#include <cstddef>

#include "frontends/tasks/data_sender.hpp"
#include "frontends/tasks/failure_log.hpp"
#include "frontends/tasks/ready_queue.hpp"
#include "frontends/tasks/task_trace.hpp"

namespace tutti::tasks {

struct transfer_services {
  int rank, size;
  ready_queue& ready;
  failure_log& failures;
  data_sender& sender;
  task_trace* trace;  // null: nothing is traced

  message_channel& messages() const noexcept { return sender.messages(); }
  task_trace::clock::time_point trace_time() const noexcept {
    return trace != nullptr ? task_trace::clock::now() : task_trace::clock::time_point();
  }
  void trace_transfer(bool sends, task_trace::clock::time_point began, int peer, std::size_t bytes) const {
    if (trace != nullptr)
      trace->add(0, sends ? task_trace::kind::send : task_trace::kind::receive, sends ? "send" : "receive",
                 began, task_trace::clock::now(), peer, bytes);
  }
};

}  // namespace tutti::tasks
