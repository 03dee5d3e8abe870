// SPDX-License-Identifier: Apache-2.0
//
// Who runs kernels, and how a rank waits. Its own thread runs kernels while it waits, and looks after
// communication between them; other workers are called when there are more kernels than they run, and go when
// there are none.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>

#include "base/report_text.hpp"
#include "engines/embedded/sleep.hpp"
#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {

// --- of any thread
// -----------------------------------------------------------------------------------------------

void task_graph::make_ready(node& n) noexcept {
  if (!n.anywhere) return put_on(own_, n);
  n.next = nullptr;
  if (worker_pool_ == nullptr) {
    (last_ != nullptr ? last_->next : first_) = &n;
    last_ = &n;
    return;
  }
  bool call = false;
  {
    const std::lock_guard<std::mutex> held(lock_);
    (last_ != nullptr ? last_->next : first_) = &n;
    last_ = &n;
    ready_.fetch_add(1, std::memory_order_relaxed);
    if (helpers_ < workers_ - 1) {
      ++helpers_;
      call = true;
    }
  }
  if (call) worker_pool_->call(help, this);
}

node* task_graph::pop() noexcept {
  if (worker_pool_ == nullptr) {
    node* const n = first_;
    if (n != nullptr && (first_ = n->next) == nullptr) last_ = nullptr;
    return n;
  }
  if (ready_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard<std::mutex> held(lock_);
  node* const n = first_;
  if (n == nullptr) return nullptr;
  if ((first_ = n->next) == nullptr) last_ = nullptr;
  ready_.fetch_sub(1, std::memory_order_relaxed);
  return n;
}

void task_graph::complete(node& n) noexcept {
  for (edge* e = in_order(n.behind.exchange(node::closed(), std::memory_order_acq_rel)); e != nullptr;) {
    edge* const next = e->next;  // it goes with its node, which may be over soon
    release(*e->to);
    e = next;
  }
  put_on(over_, n);
  if (resting_.load(std::memory_order_seq_cst)) {
    const std::lock_guard<std::mutex> held(rest_lock_);
    rested_.notify_one();
  }
}

void task_graph::run(node& n, int worker) noexcept {
  const shm::scoped_kernel here;
  if (trace_ == nullptr) {
    n.go(*this);
  } else {
    const auto began = task_trace::clock::now();
    const auto* const kernel = dynamic_cast<kernel_node*>(&n);
    const char* const name = kernel == nullptr           ? "combine"
                             : kernel->name() != nullptr ? kernel->name()
                                                         : "task";
    n.go(*this);
    trace_->add(worker, task_trace::kind::task, name, began, task_trace::clock::now());
  }
  complete(n);
}

// What another worker does until there is nothing left; it waits for a little, since more is often about to
// come.
void task_graph::help(void* self) {
  task_graph& me = *static_cast<task_graph*>(self);
  int number = 1;
  if (me.trace_ != nullptr) {
    const std::lock_guard<std::mutex> held(me.lock_);
    number = me.helper_numbers_.back();
    me.helper_numbers_.pop_back();
  }
  for (;;) {
    while (node* const n = me.stopping_.load(std::memory_order_relaxed) ? nullptr : me.pop())
      me.run(*n, number);
    for (int i = 0; i < 500 && me.ready_.load(std::memory_order_relaxed) == 0; ++i) relax();
    const std::lock_guard<std::mutex> held(me.lock_);
    if (me.first_ != nullptr && !me.stopping_.load(std::memory_order_relaxed)) continue;
    if (me.trace_ != nullptr) me.helper_numbers_.push_back(number);
    --me.helpers_;
    return;
  }
}

const failure* task_graph::fail(std::string task, int rank, std::string text, std::exception_ptr what,
                                bool tell) {
  const std::lock_guard<std::mutex> held(failing_);
  failures_.push_back({std::move(task), rank, std::string(without_prefix(text)), std::move(what)});
  if (tell && to_report_ == nullptr) to_report_ = &failures_.back();
  return &failures_.back();
}

// --- of the rank's own
// ------------------------------------------------------------------------------------------

void task_graph::refuse_from_kernels(const char* operation) const {
  if (shm::current_rank == &shm::in_kernel) [[unlikely]]
    refuse(operation, "", "is called from a kernel", "call it from the rank's own thread");
  detail::check_thread(*all_, operation);
}

bool task_graph::run_one() {
  node* const n = pop();
  if (n == nullptr) return false;
  run(*n, 0);
  return true;
}

// One kernel, where no other worker could run it: another rank may wait for what it makes.
void task_graph::work() {
  if (worker_pool_ == nullptr && shm::current_rank != &shm::in_kernel && !inside_ && run_one())
    progress(false);
}

void task_graph::reap() noexcept {
  if (over_.load(std::memory_order_relaxed) == nullptr) return;
  node* n = over_.exchange(nullptr, std::memory_order_seq_cst);
  ++moves_;
  while (n != nullptr) {
    node* const next = n->next;
    n->end(*this);
    store_.give_back(n);
    --pending_;
    n = next;
  }
}

bool task_graph::begin_own() {
  if (own_.load(std::memory_order_relaxed) == nullptr) return false;
  for (node* n = in_order(own_.exchange(nullptr, std::memory_order_acquire)); n != nullptr;) {
    node* const next = n->next;
    n->go(*this);
    n = next;
  }
  ++moves_;
  return true;
}

bool task_graph::progress(bool calls) {
  if (inside_) return false;
  const std::uint64_t before = moves_;
  inside_ = true;
  struct leave {
    bool& inside;
    ~leave() { inside = false; }
  };
  {
    const leave out{inside_};
    detail::guarded(*all_, [&] {
      reap();
      begin_own();
      if (messenger_.busy() && messenger_.go_on()) ++moves_;
      while (std::unique_ptr<arrival> a = messenger_.next()) {
        ++moves_;
        handle(std::move(a));
      }
      for (std::size_t i = 0; i < elsewhere_.size();)
        if (elsewhere_[i]->poll()) {
          elsewhere_.erase(elsewhere_.begin() + static_cast<std::ptrdiff_t>(i));
          ++moves_;
        } else {
          ++i;
        }
      while (begin_own()) {
      }
      reap();
    });
  }
  if (calls) make_calls();
  return moves_ != before;
}

void task_graph::make_calls() {
  if (calling_ || calls_.empty()) return;
  calling_ = true;
  struct leave {
    bool& calling;
    ~leave() { calling = false; }
  };
  const leave out{calling_};
  while (!calls_.empty())
    for (std::function<void()>& call : std::exchange(calls_, {})) call();
  ++moves_;
}

void task_graph::note_error(std::exception_ptr what) {
  if (!error_) error_ = std::move(what);
}

// Once: what is wrong with the graph, or the first kernel that has thrown.
void task_graph::throw_pending() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  const failure* first = nullptr;
  {
    const std::lock_guard<std::mutex> held(failing_);
    first = std::exchange(to_report_, nullptr);
  }
  if (first == nullptr) return;
  std::rethrow_exception(error_of(*first, "wait_all", rank_));
}

std::exception_ptr error_of(const failure& why, const char* operation, int rank) {
  const task_error told(operation, rank, "",
                        why.task + " on rank " + std::to_string(why.rank) + " has thrown: " + why.text,
                        "what it should have written is spoilt until it is overwritten");
  if (why.what == nullptr) return std::make_exception_ptr(told);
  try {
    try {
      std::rethrow_exception(why.what);
    } catch (...) {
      std::throw_with_nested(told);
    }
  } catch (...) {
    return std::current_exception();
  }
}

bool task_graph::may_still_move() {
  if (messenger_.busy() || !expected_.empty() || !explicit_transfer_.empty() || !elsewhere_.empty() ||
      !explicit_requests_.empty() || !scatters_gathers_under_way_.empty())
    return true;
  if (worker_pool_ == nullptr) return false;
  const std::lock_guard<std::mutex> held(lock_);
  return helpers_ > 0 || first_ != nullptr;
}

// Everything is over but what waits for the program itself.
void task_graph::refuse_stuck(const char* operation) {
  if (over_.load() != nullptr || own_.load() != nullptr || first_ != nullptr || !calls_.empty()) return;
  std::string what;
  for (const auto& [tag, t] : tags_)
    if (!t.waiting.empty())
      what += (what.empty() ? "a task waits for tag " : ", and one for tag ") + std::to_string(tag);
  refuse(operation, "",
         "would never end: " + (what.empty() ? std::string("a view that acquire() gave still lives")
                                             : what + ", which nobody unlocks"),
         what.empty() ? "end the view before" : "give a transfer unlock() of the tag");
}

void task_graph::count_rest(task_trace::clock::time_point since) {
  const auto now = task_trace::clock::now();
  idle_ += std::chrono::duration<double>(now - since).count();
  if (trace_ != nullptr && now - since > std::chrono::microseconds(1))
    trace_->add(0, task_trace::kind::idle, "idle", since, now);
}

void task_graph::rest(int times, const char* what, bool may_sleep) {
  endpoint& ep = detail::endpoint_of(*all_);
  const shm::wait_site where = site(what);
  const bool others = detail::others_under_way(*all_, this);
  bool helped = false;
  if (worker_pool_ != nullptr) {
    const std::lock_guard<std::mutex> held(lock_);
    helped = helpers_ > 0;
    if (!helped && first_ != nullptr) return;
  }
  detail::guarded(*all_, [&] {
    if (others) detail::progress_others(*all_, this);
    // While kernels run nobody is stuck, however long they take.
    if (helped) {
      ep.pause(where);
      ep.progressed();
      // Another rank may have to run on this thread; it lets the workers have its core.
      const bool shares = ep.node() != nullptr && ep.node()->workers() < ep.size();
      if (shares && times >= 20) yield_core();
      if (shares || times < 200) return;
      std::unique_lock<std::mutex> held(rest_lock_);
      resting_.store(true, std::memory_order_seq_cst);
      if (over_.load(std::memory_order_seq_cst) == nullptr)
        rested_.wait_for(held, std::chrono::microseconds(100));
      resting_.store(false, std::memory_order_relaxed);
      return;
    }
    if (over_.load() != nullptr || own_.load() != nullptr)
      return;  // a worker that has just left completed it
    if (times == 500) inquire();
    if (times < 500 || !may_sleep || messenger_.busy() || !elsewhere_.empty() || others) {
      ep.pause(where);
    } else {
      box_.wait(where);
      if (times > 20000 && ep.node() == nullptr) {
        const timespec little{0, 20'000};
        nanosleep(&little, nullptr);
      }
    }
  });
}

shm::wait_site task_graph::site(const char* what, int) const noexcept {
  const int from = expected_.empty() ? -1 : expected_.front()->origin();
  return box_.site_of("tasks", from >= 0 ? "data from" : what, from, -1);
}

void task_graph::wait_all() {
  refuse_from_kernels("wait_all");
  close_all_reductions();
  wait_until([&] { return pending_ == 0 && calls_.empty(); }, "its tasks", "wait_all");
  throw_pending();
}

}  // namespace tutti::tasks
