// SPDX-License-Identifier: Apache-2.0
//
// Insertion: which rank runs a task, what it waits for, and what is sent for it. All ranks that a
// task concerns know what decides this, because they insert in the same order.
#include <string>

#include "frontends/tasks/kernel_node.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {
namespace {

bool writes(use_mode how) noexcept { return how != use_mode::read; }
bool reads(use_mode how) noexcept { return how == use_mode::read || how == use_mode::read_write; }

}  // namespace

void task_graph::refuse_owners(const use* uses, std::size_t n, bool written) const {
  std::string whose;
  for (std::size_t i = 0; i < n; ++i)
    if (uses[i].what != nullptr && (!written || writes(uses[i].how)))
      whose += (whose.empty() ? "" : ", ") + name_of(*uses[i].what) + " of rank " +
               std::to_string(uses[i].what->owner);
  checks_.refuse("insert", "on",
                 std::string(written ? "is needed: the data that the task writes"
                                     : "is needed: the data that the task reads") +
                     " have several owners: " + whose,
                 "name the rank that runs it, with on(rank) or on_owner_of(handle)");
}

// Returns -1 if another rank runs the task, and this rank cannot know which.
int task_graph::runs(const use* uses, std::size_t n, const task_options& w) const {
  if (w.on_given_rank && w.owner_given)
    checks_.refuse("insert", "on", "is given together with on_owner_of()", "pass one of them");
  if (w.on_given_rank) {
    checks_.rank("insert", "on", w.on);
    return w.on;
  }
  if (w.owner_given && w.on_owner_of != nullptr) return w.on_owner_of->owner;
  int who = -1;
  bool unknown = w.owner_given;
  if (!w.owner_given)
    for (const bool written : {true, false}) {
      for (std::size_t i = 0; i < n && !unknown; ++i) {
        if (writes(uses[i].how) != written) continue;
        if (uses[i].what == nullptr)
          unknown = who < 0 && written;
        else if (who < 0)
          who = uses[i].what->owner;
        else if (who != uses[i].what->owner)
          refuse_owners(uses, n, written);
      }
      if (who >= 0) return who;
      if (unknown) break;
    }
  if (n == 0 && !unknown) return rank_;
  // Another rank runs the task. This rank may omit the handle unless it has to send something.
  for (std::size_t i = 0; i < n; ++i)
    if (const data_handle* d = uses[i].what; d != nullptr && (d->owner == rank_ || d->home == rank_))
      checks_.refuse("insert", "handle",
                     "is empty, but this rank owns " + name_of(*d) +
                         " of the same task, and cannot know which rank runs it",
                     "pass the handle of the written data, or on(rank)");
  return -1;
}

// Returns whether the task concerns this rank.
bool task_graph::check_uses(const use* uses, std::size_t n, bool mine) const {
  bool concerned = mine;
  for (std::size_t i = 0; i < n; ++i) {
    const data_handle* const d = uses[i].what;
    if (d == nullptr) {
      if (mine)
        checks_.refuse("insert", "handle",
                       "is empty in argument " + std::to_string(i + 1) + ", but this rank runs the task",
                       "create the data handle on this rank too");
      continue;
    }
    checks_.handle("insert", *d);
    concerned = concerned || replicas_.concerns(*d);
    for (std::size_t k = 0; k < i; ++k)
      if (uses[k].what == d && (writes(uses[i].how) || writes(uses[k].how)))
        checks_.refuse("insert", "handle", "is " + name_of(*d) + " in two arguments, of which one writes",
                       "pass it once, as read_write()");
  }
  return concerned;
}

void* task_graph::begin(const use* uses, std::size_t n, const task_options& w, const code& c) {
  checks_.thread("insert");
  const int who = runs(uses, n, w);
  const bool mine = who == rank_;
  const bool concerned = check_uses(uses, n, mine);
  if (++inserted_ % 32 == 0) {
    progress(false);
    throttle();
  }
  if (!concerned || who < 0) return nullptr;

  for (std::size_t i = 0; i < n; ++i)
    if (data_handle* const d = uses[i].what; d != nullptr) {
      settle_for(*d, uses[i]);
      if (reads(uses[i].how)) transfers_.to_reader(*d, who);
    }
  kernel_node* made = nullptr;
  if (mine) {
    made = &ready_.make<kernel_node>(c, n, w.name, ++task_ids_);
    for (std::size_t i = 0; i < n; ++i) fill((*made)[i], uses[i], *made);
    if (w.waits) follow_ups_.wait_for(*made, w.after);
  }
  for (std::size_t i = 0; i < n; ++i)
    if (data_handle* const d = uses[i].what; d != nullptr) {
      if (uses[i].how == use_mode::reduce) {
        reductions_.contribute(*d, *uses[i].by, who, made, mine ? (*made)[i].at : nullptr);
        continue;
      }
      if (writes(uses[i].how)) transfers_.from_writer(*d, who);
      replicas_.drop_uncached(*d);
    }
  replicas_.free_evicted(nullptr);
  inserting_ = made;
  return made != nullptr ? made->closure() : nullptr;
}

void task_graph::settle_for(data_handle& d, const use& u) {
  if (u.how != use_mode::reduce) return settle(d, u.how == use_mode::write);
  if (d.home != d.owner) settle(d, false);
  reductions_.begin(d, *u.by);
}

void task_graph::submit() noexcept { ready_.release(*std::exchange(inserting_, nullptr)); }

void task_graph::fill(argument& a, const use& u, node& n) {
  data_handle& d = *u.what;
  a.count = static_cast<std::uint32_t>(d.form.count);
  a.element = static_cast<std::uint32_t>(d.form.element);
  a.reads = reads(u.how);
  a.writes = writes(u.how);
  if (u.how == use_mode::reduce) {
    a.by = u.by;
    a.at = new contents;
    a.at->use_block(block::make(d.bytes));
  } else if (a.writes) {
    a.at = &replicas_.write_here(d, n, a.reads, a.from);
    a.at->keep();
  } else {
    a.at = &replicas_.read_here(d, n);
    a.at->keep();
  }
}

// Runs kernels while more nodes than allowed are pending.
void task_graph::throttle() {
  if (ready_.pending() <= how_.max_pending) return;
  for (std::size_t target = how_.max_pending - how_.max_pending / 8; ready_.pending() > target;) {
    if (ready_.run_one()) {
      ready_.reap();
      ready_.begin_own();
      continue;
    }
    if (!progress(false)) return;
  }
}

}  // namespace tutti::tasks
