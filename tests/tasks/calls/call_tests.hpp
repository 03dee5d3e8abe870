// SPDX-License-Identifier: Apache-2.0
//
// The tests of the calls of the task front end, by name and in groups.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace calls {

namespace tasks = tutti::tasks;
using tests::check;
using tutti::communicator;

using list = std::vector<std::pair<std::string, std::function<void(communicator&)>>>;

void add_transfers(list&);  // send, recv, isend, irecv and their requests
void add_detached(list&);  // and callbacks, unlocked tags, arrays
void add_data(list&);  // creation, tags, change of owner, removal
void add_kernels(list&);  // what runs, where, and with what
void add_uses(list&);  // acquire, fetch, scatter, gather, cache, flush
void add_reductions(list&);
void add_together(list&);  // several runtimes, workers, statistics

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Progresses the runtime until `over()` returns true.
template <class Over>
void until(tasks::runtime& rt, const Over& over) {
  while (!over()) rt.progress();
}

/// Creates a data handle for each rank, which owns it.
template <class T>
std::vector<tasks::handle<T>> one_each(tasks::runtime& rt, T& mine) {
  std::vector<tasks::handle<T>> all;
  for (int r = 0; r < rt.size(); ++r)
    all.push_back(r == rt.rank() ? rt.data(mine, r) : rt.template data<T>(r));
  return all;
}

}  // namespace calls
