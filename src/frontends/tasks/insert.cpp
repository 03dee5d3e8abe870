// SPDX-License-Identifier: Apache-2.0
//
// Insertion: who runs a task, what it waits for, what must be sent for it. All of it is decided by what every
// rank that is concerned knows alike, in the order in which they insert.
#include <string>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {
namespace {

bool writes(use_mode how) noexcept { return how != use_mode::read; }
bool reads(use_mode how) noexcept { return how == use_mode::read || how == use_mode::read_write; }

}  // namespace

std::string name_of(const data_handle& d) {
  return d.number < 0 ? "the data handle with tag " + std::to_string(-1 - d.number)
                      : "data handle " + std::to_string(d.number);
}

void task_graph::refuse_owners(const use* uses, std::size_t n, bool written) const {
  std::string whose;
  for (std::size_t i = 0; i < n; ++i)
    if (uses[i].what != nullptr && (!written || writes(uses[i].how)))
      whose += (whose.empty() ? "" : ", ") + name_of(*uses[i].what) + " of rank " +
               std::to_string(uses[i].what->owner);
  refuse("insert", "on",
         std::string(written ? "is needed: the data that the task writes"
                             : "is needed: the data that the task reads") +
             " have several owners: " + whose,
         "name the rank that runs it, with on(rank) or on_owner_of(handle)");
}

// -1: not this rank, whoever it is.
int task_graph::runs(const use* uses, std::size_t n, const task_options& w) {
  if (w.on_given_rank && w.owner_given)
    refuse("insert", "on", "is given together with on_owner_of()", "pass one of them");
  if (w.on_given_rank) {
    check_rank("insert", "on", w.on);
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
  // The task is somebody else's, unless this rank has something to send for it.
  for (std::size_t i = 0; i < n; ++i)
    if (const data_handle* d = uses[i].what; d != nullptr && (d->owner == rank_ || d->home == rank_))
      refuse("insert", "handle",
             "is empty, but this rank owns " + name_of(*d) +
                 " of the same task, and cannot know which rank runs it",
             "pass the handle of the written data, or on(rank)");
  return -1;
}

void* task_graph::begin(const use* uses, std::size_t n, const task_options& w, const code& c) {
  refuse_from_kernels("insert");
  const int who = runs(uses, n, w);
  const bool mine = who == rank_;
  bool concerned = mine;
  for (std::size_t i = 0; i < n; ++i) {
    const data_handle* const d = uses[i].what;
    if (d == nullptr) {
      if (mine)
        refuse("insert", "handle",
               "is empty in argument " + std::to_string(i + 1) + ", but this rank runs the task",
               "create the data handle on this rank too");
      continue;
    }
    check_own("insert", *d);
    concerned = concerned || concerns(*d);
    for (std::size_t k = 0; k < i; ++k)
      if (uses[k].what == d && (writes(uses[i].how) || writes(uses[k].how)))
        refuse("insert", "handle", "is " + name_of(*d) + " in two arguments, of which one writes",
               "pass it once, as read_write()");
  }
  if (++inserted_ % 32 == 0) {
    progress(false);
    throttle();
  }
  if (!concerned || who < 0) return nullptr;

  for (std::size_t i = 0; i < n; ++i)
    if (data_handle* const d = uses[i].what; d != nullptr) {
      if (uses[i].how == use_mode::reduce)
        begin_reduction(*d, *uses[i].by);
      else
        settle(*d, uses[i].how == use_mode::write);
      if (reads(uses[i].how)) transfer_to_reader(*d, who);
    }
  kernel_node* made = nullptr;
  if (mine) {
    made = &make<kernel_node>(c, n, w.name, ++numbered_tasks_);
    for (std::size_t i = 0; i < n; ++i) fill((*made)[i], uses[i], *made);
    if (w.waits) follow_tag(*made, w.after);
  }
  for (std::size_t i = 0; i < n; ++i)
    if (data_handle* const d = uses[i].what; d != nullptr) {
      if (uses[i].how == use_mode::reduce)
        contribute(*d, *uses[i].by, who, made, mine ? (*made)[i].at : nullptr);
      else if (writes(uses[i].how))
        after_write(*d, who);
      else if (!cache_ && d->home != rank_)
        forget_copy(*d);
    }
  free_evicted(nullptr);
  inserting_ = made;
  return made != nullptr ? made->closure() : nullptr;
}

void task_graph::submit() noexcept { release(*std::exchange(inserting_, nullptr)); }

void task_graph::fill(argument& a, const use& u, node& n) {
  data_handle& d = *u.what;
  a.count = static_cast<std::uint32_t>(d.form.count);
  a.element = static_cast<std::uint32_t>(d.form.element);
  a.reads = reads(u.how);
  a.writes = writes(u.how);
  if (u.how == use_mode::reduce) {
    a.by = u.by;
    a.at = new contents;
    a.at->substitute_buffers(block::make(d.bytes));
  } else if (a.writes) {
    a.at = &written_by(d, n, a.reads, a.from);
    a.at->keep();
  } else {
    a.at = &read_by(d, n);
    a.at->keep();
  }
}

// The contents that a node reads here; it waits until they are there.
contents& task_graph::read_by(data_handle& d, node& n) {
  if (d.here == nullptr) new_contents(d, true);
  if (node* const before = d.writer.get()) n.wait_for(*before);
  if (d.fixed) {
    auto& readers = d.readers;
    if (readers.size() == readers.capacity())  // rather than to grow for ever
      std::erase_if(readers, [](const node_ref& r) { return r.get() == nullptr; });
    readers.emplace_back(&n);
  }
  return *d.here;
}

// Where a node writes: in place, behind all that read there; or anew.
contents& task_graph::written_by(data_handle& d, node& n, bool reads, contents*& before) {
  if (d.here != nullptr && d.fixed) {
    if (node* const one = d.writer.get()) n.wait_for(*one);
    for (const node_ref& r : d.readers)
      if (node* const one = r.get(); one != nullptr && one != &n) n.wait_for(*one);
  } else {
    // The old ones stay as long as others use them.
    contents* const old = std::exchange(d.here, nullptr);
    node* const maker = d.writer.get();
    new_contents(d, old == nullptr);
    if (reads && old != nullptr) {
      if (maker != nullptr) n.wait_for(*maker);
      before = old;  // and its count
    } else if (old != nullptr) {
      old->drop();
    }
  }
  d.writer = node_ref(&n);
  d.readers.clear();
  d.sending = {};
  return *d.here;
}

void task_graph::check_own(const char* operation, const data_handle& d) const {
  if (&d.of == this) [[likely]]
    return;
  refuse(operation, "handle", "belongs to another runtime", "pass handles that this runtime created");
}

void task_graph::follow_tag(node& n, std::uint64_t tag) {
  task_tag& t = tags_[tag];
  if (t.open) return;
  n.waits.fetch_add(1, std::memory_order_relaxed);
  t.waiting.push_back(&n);
}

void task_graph::unlock(std::uint64_t tag) {
  task_tag& t = tags_[tag];
  t.open = true;
  for (node* n : std::exchange(t.waiting, {})) release(*n);
}

// Not more than so many under way: those that can run do so here.
void task_graph::throttle() {
  if (pending_ <= how_.max_pending) return;
  for (std::size_t target = how_.max_pending - how_.max_pending / 8; pending_ > target;) {
    if (run_one()) {
      reap();
      begin_own();
      continue;
    }
    if (!progress(false)) return;
  }
}

}  // namespace tutti::tasks
