// SPDX-License-Identifier: Apache-2.0
//
// Insertion decides which rank runs a task, what it waits for, and what is sent for it. All ranks
// that a task concerns decide the same, because they insert in the same order.
#include <string>

#include "frontends/tasks/kernel_node.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {
namespace {

bool writes(use_mode how) noexcept { return how != use_mode::read; }
bool reads(use_mode how) noexcept { return how == use_mode::read || how == use_mode::read_write; }

}  // namespace

void task_graph::reject_owners(const use* uses, std::size_t n, bool written) const {
  std::string owners;
  for (std::size_t i = 0; i < n; ++i)
    if (uses[i].what != nullptr && (!written || writes(uses[i].how)))
      owners += (owners.empty() ? "" : ", ") + name_of(*uses[i].what) + " of rank " +
                std::to_string(uses[i].what->owner);
  validator_.reject("insert", "on",
                    std::string(written ? "is needed: the data that the task writes"
                                        : "is needed: the data that the task reads") +
                        " have several owners: " + owners,
                    "name the rank that runs it, with on(rank) or on_owner_of(handle)");
}

// Returns -1 if another rank runs the task, and this rank cannot know which.
int task_graph::executing_rank(const use* uses, std::size_t n, const task_options& w) const {
  if (w.has_rank && w.has_owner)
    validator_.reject("insert", "on", "is given together with on_owner_of()", "pass one of them");
  if (w.has_rank) {
    validator_.rank("insert", "on", w.on);
    return w.on;
  }
  if (w.has_owner && w.on_owner_of != nullptr) return w.on_owner_of->owner;
  int runner = -1;
  bool unknown = w.has_owner;
  if (!w.has_owner)
    for (const bool written : {true, false}) {
      for (std::size_t i = 0; i < n && !unknown; ++i) {
        if (writes(uses[i].how) != written) continue;
        if (uses[i].what == nullptr)
          unknown = runner < 0 && written;
        else if (runner < 0)
          runner = uses[i].what->owner;
        else if (runner != uses[i].what->owner)
          reject_owners(uses, n, written);
      }
      if (runner >= 0) return runner;
      if (unknown) break;
    }
  if (n == 0 && !unknown) return rank_;
  // Another rank runs the task. This rank may omit the handle unless it has to send something.
  for (std::size_t i = 0; i < n; ++i)
    if (const data_handle* d = uses[i].what; d != nullptr && (d->owner == rank_ || d->home == rank_))
      validator_.reject("insert", "handle",
                        "is empty, but this rank owns " + name_of(*d) +
                            " of the same task, and cannot know which rank runs it",
                        "pass the handle of the written data, or on(rank)");
  return -1;
}

// Returns whether the task concerns this rank.
bool task_graph::validate_uses(const use* uses, std::size_t n, bool runs_here) const {
  bool concerned = runs_here;
  for (std::size_t i = 0; i < n; ++i) {
    const data_handle* const d = uses[i].what;
    if (d == nullptr) {
      if (runs_here)
        validator_.reject("insert", "handle",
                          "is empty in argument " + std::to_string(i + 1) + ", but this rank runs the task",
                          "create the data handle on this rank too");
      continue;
    }
    validator_.handle("insert", *d);
    concerned = concerned || replicas_.involves_this_rank(*d);
    for (std::size_t k = 0; k < i; ++k)
      if (uses[k].what == d && (writes(uses[i].how) || writes(uses[k].how)))
        validator_.reject("insert", "handle", "is " + name_of(*d) + " in two arguments, of which one writes",
                          "pass it once, as read_write()");
  }
  return concerned;
}

void* task_graph::begin(const use* uses, std::size_t n, const task_options& w, const kernel_operations& k) {
  validator_.entry("insert");
  const int runner = executing_rank(uses, n, w);
  const bool runs_here = runner == rank_;
  const bool concerned = validate_uses(uses, n, runs_here);
  if (++inserted_ % 32 == 0) {
    progress(false);
    throttle();
  }
  if (!concerned || runner < 0) return nullptr;

  for (std::size_t i = 0; i < n; ++i)
    if (data_handle* const d = uses[i].what; d != nullptr) {
      prepare_for_use(*d, uses[i]);
      if (reads(uses[i].how)) transfers_.to_reader(*d, runner);
    }
  kernel_node* made = nullptr;
  if (runs_here) {
    made = &ready_.make<kernel_node>(k, n, w.name, ++task_ids_);
    for (std::size_t i = 0; i < n; ++i) set_argument((*made)[i], uses[i], *made);
    if (w.waits) follow_ups_.wait_for(*made, w.after);
  }
  for (std::size_t i = 0; i < n; ++i)
    if (data_handle* const d = uses[i].what; d != nullptr) {
      if (uses[i].how == use_mode::reduce) {
        reductions_.contribute(*d, *uses[i].by, runner, made, runs_here ? (*made)[i].target : nullptr);
        continue;
      }
      if (writes(uses[i].how)) transfers_.from_writer(*d, runner);
      replicas_.drop_uncached(*d);
    }
  replicas_.free_evicted(nullptr);
  inserting_ = made;
  return made != nullptr ? made->closure() : nullptr;
}

void task_graph::prepare_for_use(data_handle& d, const use& u) {
  if (u.how != use_mode::reduce) return return_to_owner(d, u.how == use_mode::write);
  if (d.home != d.owner) return_to_owner(d, false);
  reductions_.begin(d, *u.by);
}

void task_graph::submit() noexcept { ready_.release(*std::exchange(inserting_, nullptr)); }

void task_graph::set_argument(argument& a, const use& u, node& n) {
  data_handle& d = *u.what;
  a.count = static_cast<std::uint32_t>(d.spec.count);
  a.element = static_cast<std::uint32_t>(d.spec.element);
  a.reads = reads(u.how);
  a.writes = writes(u.how);
  if (u.how == use_mode::reduce) {
    a.op = u.by;
    a.target = new contents;
    a.target->use_block(block::make(d.bytes));
  } else if (a.writes) {
    a.target = &replicas_.write_local(d, n, a.reads, a.initial);
    a.target->retain();
  } else {
    a.target = &replicas_.read_local(d, n);
    a.target->retain();
  }
}

// Runs kernels while more nodes than allowed are pending.
void task_graph::throttle() {
  if (ready_.pending() <= options_.max_pending) return;
  for (std::size_t target = options_.max_pending - options_.max_pending / 8; ready_.pending() > target;) {
    if (ready_.run_one()) {
      ready_.reap();
      ready_.start_rank_thread_nodes();
      continue;
    }
    if (!progress(false)) return;
  }
}

}  // namespace tutti::tasks
