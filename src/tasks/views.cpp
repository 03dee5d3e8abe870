// SPDX-License-Identifier: Apache-2.0
//
// The program's own use of a datum, in its place among the tasks.
#include <cstring>
#include <mutex>

#include "tasks/flow.hpp"
#include "tasks/nodes.hpp"
#include "tasks/wait.hpp"

namespace tutti::tasks {

void* flow::acquire(datum& d, use_mode how, place& at) {
  refuse_from_kernels("acquire");
  const bool writes = how != use_mode::read;
  check_own("acquire", d);
  if (d.home != d.owner)
    refuse("acquire", "handle",
           "is of " + name_of(d) + ", whose contents have not come to rank " + std::to_string(d.owner) +
               " since it was made the owner",
           "fetch() it to its owner first, on both ranks");
  close_reduction(d);
  if (writes && d.home != rank_)
    refuse("acquire", "handle", "is of " + name_of(d) + ", which rank " + std::to_string(d.owner) + " owns",
           "write it on its owner, or by a task");
  if (d.home != rank_ && !d.readable)
    refuse("acquire", "handle", "is of " + name_of(d) + ", of which this rank has no up-to-date contents",
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
  if (how == use_mode::write) c.spoilt = nullptr;
  if (const failure* f = c.spoilt; f != nullptr) {
    complete(*node);
    {
      const std::lock_guard<std::mutex> held(failing_);
      if (to_tell_ == f) to_tell_ = nullptr;
    }
    std::rethrow_exception(error_of(*f, "acquire", rank_));
  }
  at = {c.data, d.form.count};
  return node;
}

void hold_node::go(flow& in) {
  if (given_up_) return in.complete(*this);
  if (before_ != nullptr) {
    if (bytes_ != 0) std::memcpy(at_->data, before_->data, bytes_);
    at_->spoilt = before_->spoilt;
  }
  held_ = true;
}

void flow::release_view(void* acquired) noexcept { complete(*static_cast<hold_node*>(acquired)); }

}  // namespace tutti::tasks
