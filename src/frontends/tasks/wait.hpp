// SPDX-License-Identifier: Apache-2.0
//
// How a rank waits for something of its graph: it runs kernels, communicates, and sleeps. The
// sources of task_graph include it.
#pragma once

#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {

template <class Over>
void task_graph::wait_until(const Over& over, const char* what, const char* operation, bool may_sleep) {
  checks_.thread(operation);
  int idle = 0;
  unsigned ran = 0;
  task_trace::clock::time_point since;
  const auto end_of_rest = [&] {
    if (idle == 0) return;
    idle = 0;
    count_rest(since);
  };
  for (;;) {
    if (over()) break;
    failures_.throw_error();
    if (ready_.run_one()) {
      end_of_rest();
      ready_.reap();
      ready_.begin_own();
      if (++ran % 4 == 0) progress();
      continue;
    }
    if (progress()) {
      end_of_rest();
      continue;
    }
    if (over()) break;
    if (ready_.pending() != 0 && in_barrier_ == 0 && !may_still_move()) {
      refuse_stuck(operation);
      continue;
    }
    if (idle == 0) since = task_trace::clock::now();
    rest(idle++, what, may_sleep);
  }
  end_of_rest();
  detail::endpoint_of(*all_).progressed();
}

}  // namespace tutti::tasks
