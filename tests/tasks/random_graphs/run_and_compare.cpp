// SPDX-License-Identifier: Apache-2.0
//
// Runs a random program on one rank, and beside it, step by step, the same program serially on
// plain memory. The values that tasks read here, the copies, and the final owned data must be equal
// in both.
#include <cstring>
#include <deque>
#include <memory>
#include <string>

#include "random_graphs/random_graph.hpp"
#include "support/check.hpp"

namespace graphs {
namespace {

namespace tasks = tutti::tasks;
using tests::check;

/// Aligned memory for elements of any type.
class area {
 public:
  area() = default;
  explicit area(std::size_t bytes) : bytes_(bytes), words_(new std::uint64_t[bytes / 8 + 1]()) {}
  void* data() const noexcept { return words_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  std::size_t bytes_ = 0;
  std::unique_ptr<std::uint64_t[]> words_;
};

struct data_object {
  area expected;  // contents in a serial run
  area mine;      // this rank's memory, if the program provides it
  any_handle handle;
  int owner = 0;
  bool alive = false;
};

struct task_result {
  std::uint64_t actual = 0, expected = 0;
  std::size_t step = 0;
};

class program_run {
 public:
  program_run(const graph& g, const tutti::communicator& world, std::uint64_t seed)
      : g_(g), me_(world.rank()), seed_(seed), all_(g.data.size()), rt_(world, g.how) {}

  void run_all() {
    for (now_ = 0; now_ < g_.steps.size(); ++now_) {
      const step& s = g_.steps[now_];
      run(s, s.concerned[at(me_)] != 0);
    }
    compare_results();
    check.equal(rt_.statistics().tasks_run, ran_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::string text() const { return "seed " + std::to_string(seed_) + ", step " + std::to_string(now_); }

  void run(const step& s, bool here) {
    switch (s.kind) {
      case step_kind::create:
        return create(s.object, here);
      case step_kind::task:
        return task(s.work, here);
      case step_kind::fetch:
        if (here) each(s.object, [&](auto& h) { rt_.fetch(h, s.rank); });
        return;
      case step_kind::acquire:
        if (here) compare_copy(s.object);
        return;
      case step_kind::change:
        return change(s);
      case step_kind::transfer:
        return transfer(s);
      case step_kind::set_owner:
        all_[at(s.object)].owner = s.rank;
        if (!here) return;
        each(s.object, [&](auto& h) {
          rt_.set_rank(h, s.rank);
          check.equal(rt_.rank(h), s.rank);
        });
        return;
      case step_kind::scatter:
        return of_one_type(s.list, [&](const auto& list) { rt_.scatter(list, s.rank); });
      case step_kind::gather:
        return of_one_type(s.list, [&](const auto& list) { rt_.gather(list, s.rank); });
      case step_kind::cache:
        return rt_.cache(s.on);
      case step_kind::flush:
        if (here) each(s.object, [&](auto& h) { rt_.flush(h); });
        return;
      case step_kind::flush_all:
        return rt_.flush();
      case step_kind::wait_all:
        if (!here) return;
        rt_.wait_all();
        compare_results();
        if (now_ + 1 == g_.steps.size()) compare_owned();
        return;
      case step_kind::barrier:
        return rt_.barrier();
      case step_kind::progress:
        if (here) rt_.progress();
        return;
      case step_kind::remove:
        all_[at(s.object)].alive = false;
        if (here) each(s.object, [&](auto& h) { rt_.remove(h); });
        return;
    }
  }

  template <class Run>
  void each(int d, Run&& run) {
    with(g_.data[at(d)].of, all_[at(d)].handle, run);
  }

  // --- data
  void create(int which, bool here) {
    const object_shape& shape = g_.data[at(which)];
    data_object& d = all_[at(which)];
    d.expected = area(shape.bytes());
    d.owner = shape.owner;
    d.alive = true;
    const int from = shape.contents_at >= 0 ? shape.contents_at : shape.owner;
    if (shape.own_memory[at(from)]) fill(shape.of, shape.count, d.expected.data(), shape.salt);
    if (!here) return;
    if (shape.own_memory[at(me_)]) {
      d.mine = area(shape.bytes());
      if (me_ == from)
        std::memcpy(d.mine.data(), d.expected.data(), shape.bytes());
      else
        std::memset(d.mine.data(), 0x5a, shape.bytes());  // no task may see these bytes
    }
    switch (shape.of) {
      case type::number:
        return make<unsigned>(shape, d);
      case type::stamp:
        return make<stamp>(shape, d);
      case type::numbers:
        return make<numbers>(shape, d);
      case type::shorts:
        return make<shorts>(shape, d);
    }
  }
  template <class T>
  void make(const object_shape& shape, data_object& d) {
    if (shape.tag >= 0)
      d.handle.get<T>() = made<T>(shape, d, tasks::with_tag(shape.tag));
    else
      d.handle.get<T>() = made<T>(shape, d);
  }
  template <class T, class... Tag>
  tasks::handle<T> made(const object_shape& shape, data_object& d, Tag... tag) {
    const bool own = shape.own_memory[at(me_)] != 0;
    if constexpr (tasks::typed::data_traits<T>::is_span) {
      using element = typename T::element_type;
      if (own)
        return rt_.data(std::span(static_cast<element*>(d.mine.data()), shape.count), shape.owner, tag...);
      return rt_.data<T>(shape.owner, shape.count, tag...);
    } else {
      if (own) return rt_.data(*static_cast<T*>(d.mine.data()), shape.owner, tag...);
      return rt_.data<T>(shape.owner, tag...);
    }
  }

  // --- steps
  void task(const work& w, bool here) {
    const shape& s = shapes()[w.shape];
    std::vector<tasks::kernel_buffer> buffers;
    std::vector<any_handle*> data;
    for (const int d : w.data) {
      buffers.push_back({all_[at(d)].expected.data(), g_.data[at(d)].count});
      data.push_back(&all_[at(d)].handle);
    }
    task_result& t = results_.emplace_back();
    t.step = now_;
    s.run(buffers.data(), w.salt, &t.expected);
    if (w.runs >= 0 ? w.runs != me_ : !here) t.actual = t.expected;  // another rank runs the task
    if (!here) return;
    if (w.runs < 0 || w.runs == me_) ++ran_;
    insert_options how;
    if (w.placement == placement_kind::on || w.placement == placement_kind::on_after) how.on = w.runs;
    if (w.placement == placement_kind::on_after) how.waits = true, how.after = w.waits_for;
    if (w.placement == placement_kind::on_owner)
      how.owner_of = &all_[at(w.owner_of)].handle, how.owner_type = g_.data[at(w.owner_of)].of;
    s.insert(rt_, data.data(), how, w.salt, &t.actual);
  }
  void change(const step& s) {
    const object_shape& shape = g_.data[at(s.object)];
    data_object& d = all_[at(s.object)];
    if (d.owner == me_)
      each(s.object, [&](auto& h) {
        auto view = rt_.acquire(h, tasks::access::read_write);
        compare(as_span(*view), s.object);
        graphs::change(shape.of, shape.count, as_span(*view).data(), s.salt);
      });
    graphs::change(shape.of, shape.count, d.expected.data(), s.salt);
  }
  void transfer(const step& s) {
    data_object &from = all_[at(s.object)], &to = all_[at(s.other)];
    if (from.owner == me_)
      each(s.object, [&](auto& h) { rt_.isend_detached(h, to.owner, s.tag, [this] { ++called_; }); });
    if (to.owner == me_)
      each(s.other, [&](auto& h) {
        if (s.unlocks != 0)
          rt_.irecv_detached(h, from.owner, s.tag, tasks::unlock(s.unlocks));
        else
          rt_.irecv_detached(h, from.owner, s.tag, [this] { ++called_; });
      });
    expected_ += (from.owner == me_) + (to.owner == me_ && s.unlocks == 0);
    std::memcpy(to.expected.data(), from.expected.data(), from.expected.size());
  }
  // The calls take handles of one type, so there is one call for each type.
  template <class Call>
  void of_one_type(const std::vector<int>& list, Call&& call) {
    of_type<unsigned>(list, call), of_type<stamp>(list, call);
    of_type<numbers>(list, call), of_type<shorts>(list, call);
  }
  template <class T, class Call>
  void of_type(const std::vector<int>& list, Call& call) {
    std::vector<tasks::handle<T>> handles;
    for (const int d : list)
      if (g_.data[at(d)].of == type_of<T>) handles.push_back(all_[at(d)].handle.get<T>());
    call(handles);
  }

  // --- comparisons

  // The first task here that read wrong contents explains more than its result.
  [[noreturn]] void fail_difference(const std::string& what, int d) const {
    std::string more = history(g_, d, now_);
    for (const task_result& t : results_)
      if (t.actual != 0 && t.actual != t.expected) {
        more += "\n  the task of step " + std::to_string(t.step) + " has read something else before";
        for (const int used : g_.steps[t.step].work.data) more += history(g_, used, t.step);
        break;
      }
    tests::fail(text() + ": " + what + " " + std::to_string(d) + " differs from a sequential run" + more,
                std::source_location::current());
  }
  template <class E>
  void compare(std::span<E> got, int d) const {
    check.equal(got.size(), g_.data[at(d)].count);
    if (std::memcmp(got.data(), all_[at(d)].expected.data(), got.size_bytes()) != 0)
      fail_difference("data object", d);
  }
  void compare_copy(int d) {
    each(d, [&](auto& h) {
      const auto view = rt_.acquire(h, tasks::access::read);
      compare(as_span(*view), d);
    });
  }
  void compare_results() {
    for (; compared_ < results_.size(); ++compared_) {
      const task_result& t = results_[compared_];
      if (t.actual == t.expected) continue;
      std::string more;
      for (const int d : g_.steps[t.step].work.data) more += history(g_, d, t.step);
      check.that(false,
                 text() + ": the task of step " + std::to_string(t.step) +
                     (t.actual == 0 ? " has not run" : " has read other contents than in a sequential run") +
                     more);
    }
    check.equal(called_, expected_);
  }
  void compare_owned() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      data_object& d = all_[i];
      const int n = static_cast<int>(i);
      if (!d.alive || d.owner != me_) continue;
      if (d.mine.data() != nullptr && std::memcmp(d.mine.data(), d.expected.data(), d.expected.size()) != 0)
        fail_difference("owned data object", n);
      compare_copy(n);
    }
  }

  const graph& g_;
  int me_;
  std::uint64_t seed_;
  std::vector<data_object> all_;
  std::deque<task_result> results_;
  std::size_t now_ = 0, compared_ = 0;
  std::uint64_t ran_ = 0;
  int called_ = 0, expected_ = 0;
  tasks::runtime rt_;  // destroyed first: it waits for uses of the other members
};

}  // namespace

void run_and_compare(const graph& g, const tutti::communicator& world, std::uint64_t seed) {
  program_run(g, world, seed).run_all();
}

}  // namespace graphs
