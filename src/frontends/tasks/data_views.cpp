// SPDX-License-Identifier: Apache-2.0
//
// The program's own use of a datum, in its place among the tasks.
#include <cstring>
#include <mutex>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {

void* task_graph::acquire(data_handle& d, use_mode how, place& at) {
  refuse_from_kernels("acquire");
  const bool writes = how != use_mode::read;
  check_own("acquire", d);
  if (d.home != d.owner)
    refuse("acquire", "handle",
           "refers to " + name_of(d) + ", whose contents have not reached rank " + std::to_string(d.owner) +
               " since it became the owner",
           "fetch() it to its owner first, on both ranks");
  close_reduction(d);
  if (writes && d.home != rank_)
    refuse("acquire", "handle",
           "refers to " + name_of(d) + ", which rank " + std::to_string(d.owner) + " owns",
           "write it on its owner, or by a task");
  if (d.home != rank_ && !d.readable)
    refuse("acquire", "handle", "refers to " + name_of(d) + ", of which this rank has no up-to-date copy",
           "fetch() it to this rank first");
  if (d.here == nullptr) new_contents(d, true);
  auto* const node = &make<hold_node>();
  contents* before = nullptr;
  contents& mine = writes ? written_by(d, *node, how == use_mode::read_write, before) : read_by(d, *node);
  node->holds(mine, before, d.bytes);
  if (writes) forget_copies_of_others(d);
  release(*node);
  try {
    wait_until([&] { return node->held(); }, "the tasks before a view", "acquire");
  } catch (...) {
    if (node->held())
      complete(*node);
    else
      node->give_up();
    throw;
  }
  contents& c = node->at();
  if (how == use_mode::write) c.poisoned = nullptr;
  if (const failure* f = c.poisoned; f != nullptr) {
    complete(*node);
    {
      const std::lock_guard<std::mutex> held(failing_);
      if (to_report_ == f) to_report_ = nullptr;
    }
    std::rethrow_exception(error_of(*f, "acquire", rank_));
  }
  at = {c.data, d.form.count};
  return node;
}

void hold_node::go(task_graph& in) {
  if (given_up_) return in.complete(*this);
  if (before_ != nullptr) {
    if (bytes_ != 0) std::memcpy(at_->data, before_->data, bytes_);
    at_->poisoned = before_->poisoned;
  }
  held_ = true;
}

void task_graph::release_view(void* acquired) noexcept { complete(*static_cast<hold_node*>(acquired)); }

}  // namespace tutti::tasks
