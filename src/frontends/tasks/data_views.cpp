// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/data_views.hpp"

#include <cstring>
#include <string>

#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {

void* task_graph::acquire(data_handle& d, use_mode how, kernel_buffer& at) {
  validator_.entry("acquire");
  const bool writes = how != use_mode::read;
  validator_.handle("acquire", d);
  if (d.home != d.owner)
    validator_.reject("acquire", "handle",
                      "refers to " + name_of(d) + ", whose contents have not reached rank " +
                          std::to_string(d.owner) + " since it became the owner",
                      "fetch() it to its owner first, on both ranks");
  reductions_.close(d);
  if (writes && d.home != rank_)
    validator_.reject("acquire", "handle",
                      "refers to " + name_of(d) + ", which rank " + std::to_string(d.owner) + " owns",
                      "write it on its owner, or by a task");
  if (d.home != rank_ && !d.readable)
    validator_.reject("acquire", "handle",
                      "refers to " + name_of(d) + ", of which this rank has no up-to-date copy",
                      "fetch() it to this rank first");
  if (d.local_version == nullptr) replicas_.make_contents(d, true);
  auto& node = ready_.make<view_node>();
  contents* before = nullptr;
  contents& mine = writes ? replicas_.write_local(d, node, how == use_mode::read_write, before)
                          : replicas_.read_local(d, node);
  node.set(mine, before, d.bytes);
  if (writes) replicas_.drop_remote_replicas(d);
  ready_.release(node);
  try {
    wait_until([&] { return node.held(); }, "the tasks before a view", "acquire");
  } catch (...) {
    if (node.held())
      ready_.complete(node);
    else
      node.give_up();
    throw;
  }
  contents& c = node.at();
  if (how == use_mode::write) c.poisoned = nullptr;
  if (const failure* f = c.poisoned; f != nullptr) {
    ready_.complete(node);
    failures_.mark_reported(*f);
    std::rethrow_exception(error_of(*f, "acquire", rank_));
  }
  at = {c.data, d.spec.count};
  return &node;
}

void task_graph::release_view(void* acquired) noexcept {
  ready_.complete(*static_cast<view_node*>(acquired));
}

void view_node::start(ready_queue& queue) {
  if (given_up_) return queue.complete(*this);
  if (initial_ != nullptr) {
    if (bytes_ != 0) std::memcpy(contents_->data, initial_->data, bytes_);
    contents_->poisoned = initial_->poisoned;
  }
  held_ = true;
}

}  // namespace tutti::tasks
