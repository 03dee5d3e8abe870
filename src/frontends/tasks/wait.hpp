// SPDX-License-Identifier: Apache-2.0
//
// The waits of a rank for its graph. A rank that waits runs kernels, communicates, and sleeps. The
// sources of task_graph include this file.
#pragma once

#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {

template <class Done>
void task_graph::wait_until(const Done& done, const char* what, const char* operation, bool may_sleep) {
  validator_.thread(operation);
  int idle = 0;
  unsigned ran = 0;
  task_trace::clock::time_point since;
  const auto end_idle_period = [&] {
    if (idle == 0) return;
    idle = 0;
    record_idle(since);
  };
  for (;;) {
    if (done()) break;
    failures_.throw_error();
    if (ready_.run_one()) {
      end_idle_period();
      ready_.reap();
      ready_.start_rank_thread_nodes();
      if (++ran % 4 == 0) progress();
      continue;
    }
    if (progress()) {
      end_idle_period();
      continue;
    }
    if (done()) break;
    if (ready_.pending() != 0 && in_barrier_ == 0 && !may_progress()) {
      throw_if_stuck(operation);
      continue;
    }
    if (idle == 0) since = task_trace::clock::now();
    pause_or_sleep(idle++, what, may_sleep);
  }
  end_idle_period();
  detail::endpoint_of(*comm_).progressed();
}

}  // namespace tutti::tasks
