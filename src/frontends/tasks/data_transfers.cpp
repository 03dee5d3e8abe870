// SPDX-License-Identifier: Apache-2.0
//
// How contents come to where they are read. The rank where they are at home sends them, and remembers who has
// an up-to-date copy; whoever reads them receives, and remembers the same. So nothing is sent twice, and
// nobody asks.
#include <cstring>
#include <string>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {

// --- data
// ------------------------------------------------------------------------------------------------------

void task_graph::check_rank(const char* operation, const char* parameter, int r) const {
  if (r < 0 || r >= size_)
    refuse(operation, parameter,
           "is " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(size_ - 1),
           "name a rank of the runtime's communicator");
}

data_handle* task_graph::add(const extent& e) {
  refuse_from_kernels("data");
  check_rank("data", "owner", e.owner);
  auto d = std::make_unique<data_handle>(*this);
  d->form = e;
  if (__builtin_mul_overflow(e.element, e.count, &d->bytes) || e.count > 0xffffffffu)
    refuse("data", "count",
           "is " + std::to_string(e.count) + ", which exceeds the maximum size of a data handle",
           "use several data handles");
  d->owner = d->home = e.owner;
  d->taken.of = d.get();
  if (e.memory != nullptr || e.count == 0) {
    d->here = new contents;
    d->here->data = static_cast<std::byte*>(e.memory);
    d->fixed = d->readable = true;
  }
  if (e.tag < 0) {
    d->number = static_cast<std::int64_t>(distinct_number_.size());
    distinct_number_.push_back(d.get());
  } else {
    tag_data(*d, e.tag, "data");
  }
  data_.push_back(std::move(d));
  adopt_early(*data_.back());
  return data_.back().get();
}

void task_graph::refuse_tag(const char* operation, long tag) const {
  refuse(operation, "tag", "is " + std::to_string(tag), "pass a tag of 0 or more");
}

void task_graph::tag_data(data_handle& d, long tag, const char* operation) {
  if (!tagged_.emplace(tag, &d).second)
    refuse(operation, "tag", "is " + std::to_string(tag) + ", which another data handle of this rank has",
           "pass a different tag for each");
  d.number = -1 - tag;
  // Transfers of a tag are counted on, whichever datum has it.
  if (const auto before = former_.find(tag); before != former_.end()) {
    d.neighbours = std::move(before->second.neighbours);
    d.demands = std::move(before->second.demands);
    for (auto& n : d.neighbours) n->given.of = &d;
    former_.erase(before);
  }
}

void task_graph::set_tag(data_handle& d, long tag) {
  refuse_from_kernels("set_tag");
  check_own("set_tag", d);
  if (tag < 0) refuse_tag("set_tag", tag);
  for (const auto& n : d.neighbours)
    if (n->sent != 0 || n->received != 0)
      refuse("set_tag", "handle", "belongs to data that were already sent", "set its tag before you use it");
  const std::int64_t before = d.number;
  if (before == -1 - tag) return;
  tag_data(d, tag, "set_tag");
  if (before < 0) {
    tagged_.erase(-1 - before);
  } else {
    distinct_number_[static_cast<std::size_t>(before)] = nullptr;
    if (static_cast<std::size_t>(before) + 1 == distinct_number_.size()) distinct_number_.pop_back();
  }
  adopt_early(d);
}

data_handle* task_graph::find(std::int64_t number) noexcept {
  if (number >= 0)
    return static_cast<std::size_t>(number) < distinct_number_.size()
               ? distinct_number_[static_cast<std::size_t>(number)]
               : nullptr;
  const auto at = tagged_.find(-1 - number);
  return at != tagged_.end() ? at->second : nullptr;
}

void task_graph::adopt_early(data_handle& d) {
  for (std::size_t i = 0; i < no_rank_.size();) {
    if (no_rank_[i]->what.number != d.number) {
      ++i;
      continue;
    }
    std::unique_ptr<arrival> a = std::move(no_rank_[i]);
    no_rank_.erase(no_rank_.begin() + static_cast<std::ptrdiff_t>(i));
    handle(std::move(a));
  }
}

void task_graph::remove(data_handle& d) {
  refuse_from_kernels("remove");
  check_own("remove", d);
  close_reduction(d);
  wait_until(
      [&] {
        bool over = d.writer.get() == nullptr && d.expected.empty() && d.partials.empty();
        for (const node_ref& r : d.readers) over = over && r.get() == nullptr;
        return over && (d.here == nullptr || d.here->users == 1);
      },
      "the tasks that use a data handle", "remove");
  invalidate(d);
  forget_copies_of_others(d);
  // What has come for the next one of this tag, from ranks that have removed the last one already.
  for (auto& a : d.early) no_rank_.push_back(std::move(a));
  if (d.number < 0) {
    tagged_.erase(-1 - d.number);
    former_[-1 - d.number] = {std::move(d.neighbours), std::move(d.demands)};
  } else {
    distinct_number_[static_cast<std::size_t>(d.number)] = nullptr;
  }
  std::erase(reduced_, &d);
  std::erase_if(data_, [&](const auto& one) { return one.get() == &d; });
}

// Memory of the runtime's.
void task_graph::new_contents(data_handle& d, bool zero) {
  if (d.here != nullptr) d.here->drop();
  d.here = new contents;
  d.fixed = d.home == rank_;
  d.here->substitute_buffers(block::make(d.bytes));
  if (zero) std::memset(d.here->data, 0, d.bytes);
}

// --- copies
// ----------------------------------------------------------------------------------------------------

// One more copy in a list of a pair of ranks, or the same used again; the longest unused go where they are
// too many. Both ranks do the same in the same place.
void task_graph::hold(copy_list& list, kept_copy& c, bool here) {
  if (c.kept)
    list.use(c);
  else
    list.add(c);
  while (list.bytes() > how_.cache_bytes) {
    kept_copy& old = *list.oldest();
    list.remove(old);
    if (here) evicted_.push_back(old.of);
  }
}

// After they were used for what is being inserted.
void task_graph::free_evicted(const data_handle* but) {
  for (data_handle* d : evicted_)
    if (d != but && d->home != rank_ && !d->taken.kept) forget_copy(*d);
  evicted_.clear();
}

// What this rank has of a datum that is at home elsewhere is not up to date any more.
void task_graph::forget_copy(data_handle& d) {
  if (d.taken.kept) taken_[static_cast<std::size_t>(d.taken.there)].remove(d.taken);
  if (d.form.memory != nullptr || d.form.count == 0 || d.here == nullptr) return;
  d.here->drop();
  d.here = nullptr;
  d.fixed = d.readable = false;
}
void task_graph::invalidate(data_handle& d) {
  forget_copy(d);
  d.readable = false;
}

void task_graph::forget_copies_of_others(data_handle& d) {
  for (auto& n : d.neighbours)
    if (n->given.kept) given_[static_cast<std::size_t>(n->rank)].remove(n->given);
}

void task_graph::flush(data_handle* d) {
  refuse_from_kernels("flush");
  if (d == nullptr) {
    for (auto& one : data_) flush(one.get());
    return;
  }
  check_own("flush", *d);
  settle(*d, false);
  if (d->home == rank_)
    forget_copies_of_others(*d);
  else
    forget_copy(*d);
}

void task_graph::set_cache(bool on) {
  refuse_from_kernels("cache");
  if (on == cache_) return;
  flush(nullptr);
  cache_ = on;
}

// --- to another rank
// ------------------------------------------------------------------------------------------------------

// To be called where both the rank where it is at home and `to` come by; the others need not.
void task_graph::transfer_to_reader(data_handle& d, int to) {
  if (to == d.home) return;
  if (rank_ == d.home) {
    const kept_copy& theirs = d.with(to).given;
    if (cache_ && theirs.kept)
      ++cache_hits_;
    else
      send(d, to);
  } else if (rank_ == to && (!cache_ || !d.taken.kept)) {
    receive(d, d.home);
  }
  remember_copy(d, to);
}

void task_graph::transfer_to(data_handle& d, int to) {
  if (rank_ == d.home) send(d, to);
  if (rank_ == to) receive(d, d.home);
}

void task_graph::remember_copy(data_handle& d, int there) {
  if (rank_ == there) d.taken.there = d.home;
  if (!cache_) return;
  if (rank_ == d.home) hold(given_[static_cast<std::size_t>(there)], d.with(there).given, false);
  if (rank_ == there) hold_taken(d);
}

void task_graph::send(data_handle& d, int to) {
  const std::uint32_t sequence = d.with(to).sent++;
  if (auto* const going = static_cast<send_node*>(d.sending.get()); going != nullptr && going->takes(to))
    return going->add(to, sequence);
  if (d.here == nullptr) new_contents(d, true);
  auto& node = make<send_node>(*this, d, *d.here);
  node.add(to, sequence);
  read_by(d, node);
  d.sending = node_ref(&node);
  release(node);
}

receive_node& task_graph::receive(data_handle& d, int from) {
  const std::uint32_t sequence = d.with(from).received++;
  if (!d.fixed) {
    contents* const fresh = new contents;
    if (d.here != nullptr) d.here->drop();
    d.here = fresh;
  }
  auto& node = make<receive_node>(d, *d.here, from, sequence);
  if (d.fixed) {
    if (tasks::node* const before = d.writer.get()) node.wait_for(*before);
    for (const node_ref& r : d.readers)
      if (tasks::node* const before = r.get()) node.wait_for(*before);
  }
  d.writer = node_ref(&node);
  d.readers.clear();
  d.sending = {};
  d.readable = true;
  d.expected.push_back(&node);
  node.place = expected_.size();
  expected_.push_back(&node);
  for (auto a = d.early.begin(); a != d.early.end(); ++a)
    if ((*a)->what.origin == from && (*a)->what.sequence == sequence) {
      std::unique_ptr<arrival> came = std::move(*a);
      d.early.erase(a);
      forget_expected(node);
      node.came(std::move(came));
      break;
    }
  release(node);
  return node;
}

void task_graph::forget_expected(receive_node& one) {
  std::erase(one.of().expected, &one);
  expected_.back()->place = one.place;
  expected_[one.place] = expected_.back();
  expected_.pop_back();
}

// A task that `by` runs writes the datum: the result goes home, and all other copies are old.
void task_graph::after_write(data_handle& d, int by) {
  if (rank_ == d.home) {
    forget_copies_of_others(d);
    if (by != rank_) {
      receive(d, by);
      if (cache_) hold(given_[static_cast<std::size_t>(by)], d.with(by).given, false);
    } else {
      d.readable = true;
    }
  } else if (rank_ == by) {
    d.readable = true;
    send(d, d.home);
    if (d.taken.kept) taken_[static_cast<std::size_t>(d.taken.there)].remove(d.taken);
    d.taken.there = d.home;
    if (cache_)
      hold_taken(d);
    else
      forget_copy(d);
  } else {
    invalidate(d);
  }
}

void task_graph::hold_taken(data_handle& d) { hold(taken_[static_cast<std::size_t>(d.home)], d.taken, true); }

// --- owners that change
// --------------------------------------------------------------------------------------------

void task_graph::set_owner(data_handle& d, int owner) {
  refuse_from_kernels("set_rank");
  check_own("set_rank", d);
  check_rank("set_rank", "owner", owner);
  settle(d, false);  // those that did not come by its last use learn that it is at home with its owner
  if (owner == d.owner) return;
  d.owner = owner;
  if (rank_ == d.home) {
    for (auto& n : d.neighbours)
      if (n->given.kept && n->rank != owner) given_[static_cast<std::size_t>(n->rank)].remove(n->given);
  } else if (rank_ != owner) {
    invalidate(d);
  }
}

// Before a datum is used otherwise: what tasks have contributed is collected, and its contents are at home
// with the owner. Where they are overwritten they need not go there.
void task_graph::settle(data_handle& d, bool overwritten) {
  close_reduction(d);
  if (d.home == d.owner) return;
  if (!overwritten) transfer_to_reader(d, d.owner);
  move_ownership(d, overwritten);
}

// The contents are on their way to the owner, or nobody wants them. Where they were there is a copy now.
void task_graph::move_ownership(data_handle& d, bool overwritten) {
  const int before = d.home;
  if (rank_ == before) forget_copies_of_others(d);
  if (rank_ == d.owner && d.taken.kept) taken_[static_cast<std::size_t>(d.taken.there)].remove(d.taken);
  d.home = d.owner;
  if (rank_ != d.home && rank_ != before) return;
  d.fixed = d.form.memory != nullptr || d.form.count == 0;
  if (!overwritten) d.readable = true;
  if (rank_ == d.home) {
    if (!overwritten && cache_) hold(given_[static_cast<std::size_t>(before)], d.with(before).given, false);
  } else {
    d.taken.there = d.home;
    if (!overwritten && cache_)
      hold_taken(d);
    else
      invalidate(d);
  }
}

// What stands at `root` is what counts, whoever had the contents before.
void task_graph::make_owner(data_handle& d, int root) {
  if (d.home == root) {
    if (rank_ != root && rank_ != d.owner) invalidate(d);
    if (rank_ == root)
      for (auto& one : d.neighbours)
        if (one->given.kept && one->rank != d.owner)
          given_[static_cast<std::size_t>(one->rank)].remove(one->given);
    return;
  }
  if (rank_ == d.home) forget_copies_of_others(d);
  if (rank_ == root && d.taken.kept) taken_[static_cast<std::size_t>(d.taken.there)].remove(d.taken);
  if (rank_ != root) invalidate(d);
  d.home = root;
}

void task_graph::fetch(data_handle* d, int rank) {
  refuse_from_kernels("fetch");
  check_rank("fetch", "rank", rank);
  if (d == nullptr) {
    if (rank == rank_)
      refuse("fetch", "handle", "is empty, but this rank is to receive the data",
             "create the data handle on this rank too");
    return;
  }
  check_own("fetch", *d);
  settle(*d, false);
  transfer_to_reader(*d, rank);
  free_evicted(d);
}

}  // namespace tutti::tasks
