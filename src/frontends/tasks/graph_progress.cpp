// SPDX-License-Identifier: Apache-2.0
//
// Progress and waiting. A rank that waits runs kernels on its own thread, and communicates in
// between. If it has nothing to do it pauses, and after a while sleeps until a message comes.
#include <chrono>
#include <ctime>
#include <exception>
#include <string>
#include <utility>

#include "engines/embedded/sleep.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {

// --- progress

/// Receives long contents into a block, and then handles the message. Deletes itself.
class task_graph::fetched_contents final : public receive_listener {
 public:
  fetched_contents(task_graph& of, std::unique_ptr<arrival> a) : of_(of), arrival_(std::move(a)) {
    arrival_->in = block::make(arrival_->what.bytes);
    of.messenger_.receive(*arrival_, arrival_->in->data(), *this);
  }
  void received() override {
    const std::unique_ptr<fetched_contents> self(this);
    arrival_->what.with = 0;
    of_.handle(std::move(arrival_));
  }

 private:
  task_graph& of_;
  std::unique_ptr<arrival> arrival_;
};

// Long contents go straight to their destination if that is known and no other rank waits for them.
void task_graph::handle(std::unique_ptr<arrival> a) {
  const bool alone = a->what.with != 0;
  switch (a->what.kind) {
    case message_kind::contents:
      if (!alone) return transfers_.handle_contents(std::move(a));
      if (a->further.empty())
        if (receive_node* const one = transfers_.receive_for(*a); one != nullptr && one->waits_in_place())
          return transfers_.deliver(*one, std::move(a));
      return fetch_contents(std::move(a));
    case message_kind::explicit_transfer:
      return explicit_.handle(std::move(a));
    case message_kind::collect:
      return reductions_.handle_collect(std::move(a));
    case message_kind::contribution:
      return alone ? fetch_contents(std::move(a)) : reductions_.handle_contribution(std::move(a));
    case message_kind::inquiry:
      return lost_.handle_inquiry(*a);
    case message_kind::never:
      return lost_.handle_never(*a);
    case message_kind::gone:
      return failures_.note_error(std::make_exception_ptr(
          peer_error("tasks", rank_, "",
                     "an exception left the runtime's scope on rank " + std::to_string(a->from), "")));
    case message_kind::meeting:
      return barriers_.add_arrival(a->what.sequence);
    case message_kind::pack:
      return alone ? fetch_contents(std::move(a)) : packs_.handle(std::move(a));
  }
}

void task_graph::fetch_contents(std::unique_ptr<arrival> a) { new fetched_contents(*this, std::move(a)); }

bool task_graph::progress(bool callbacks) {
  if (inside_) return false;
  const std::uint64_t before = moves();
  inside_ = true;
  struct leave {
    bool& inside;
    ~leave() { inside = false; }
  };
  {
    const leave out{inside_};
    detail::guarded(*all_, [&] {
      ready_.reap();
      ready_.begin_own();
      if (messenger_.busy() && messenger_.go_on()) ++moves_;
      while (std::unique_ptr<arrival> a = messenger_.next()) {
        ++moves_;
        handle(std::move(a));
      }
      if (explicit_.poll()) ++moves_;
      while (ready_.begin_own()) {
      }
      ready_.reap();
    });
  }
  if (callbacks && follow_ups_.run_callbacks()) ++moves_;
  return moves() != before;
}

// Another rank may wait for what a kernel computes. With other workers, they run it.
void task_graph::work() {
  if (!ready_.has_pool() && shm::current_rank != &shm::in_kernel && !inside_ && ready_.run_one())
    progress(false);
}

// --- waiting

// Throws each error once: a mistake in the graph, or the first kernel that has thrown.
void task_graph::throw_pending() {
  failures_.throw_error();
  failures_.throw_first("wait_all");
}

void task_graph::wait_all() {
  checks_.thread("wait_all");
  reductions_.close_all();
  wait_until([&] { return ready_.pending() == 0 && !follow_ups_.pending(); }, "its tasks", "wait_all");
  throw_pending();
}

bool task_graph::may_still_move() {
  return messenger_.busy() || !transfers_.expected().empty() || explicit_.busy() || reductions_.busy() ||
         packs_.busy() || ready_.look_at_others() != ready_queue::others::absent;
}

// All nodes are complete but those that wait for the program itself.
void task_graph::refuse_stuck(const char* operation) {
  if (ready_.has_any() || follow_ups_.pending()) return;
  const std::string what = follow_ups_.waiting();
  checks_.refuse(
      operation, "",
      "would never end: " + (what.empty() ? std::string("a view that acquire() returned still exists")
                                          : what + ", which no transfer unlocks"),
      what.empty() ? "end the view before this call" : "pass unlock() with this tag to a transfer");
}

void task_graph::count_rest(task_trace::clock::time_point since) {
  const auto now = task_trace::clock::now();
  idle_ += std::chrono::duration<double>(now - since).count();
  if (trace_ != nullptr && now - since > std::chrono::microseconds(1))
    trace_->add(0, task_trace::kind::idle, "idle", since, now);
}

// `times`: how often the wait has rested since it last had something to do.
void task_graph::rest(int times, const char* what, bool may_sleep) {
  endpoint& ep = detail::endpoint_of(*all_);
  const shm::wait_site where = site(what);
  const bool others = detail::others_under_way(*all_, this);
  const auto workers = ready_.look_at_others();
  if (workers == ready_queue::others::kernels_wait) return;
  detail::guarded(*all_, [&] {
    if (others) detail::progress_others(*all_, this);
    // While kernels run, a long wait is no deadlock.
    if (workers == ready_queue::others::run_kernels) {
      ep.pause(where);
      ep.progressed();
      // If this thread carries other ranks too, it yields its core to the workers.
      const bool shares = ep.node() != nullptr && ep.node()->workers() < ep.size();
      if (shares && times >= 20) yield_core();
      if (!shares && times >= 200) ready_.sleep_until_complete();
      return;
    }
    if (ready_.has_own()) return;  // a worker has left since
    if (times == 500) lost_.inquire();
    if (times < 500 || !may_sleep || messenger_.busy() || explicit_.busy_elsewhere() || others) {
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
  const auto& expected = transfers_.expected();
  const int from = expected.empty() ? -1 : expected.front()->origin();
  return box_.site_of("tasks", from >= 0 ? "data from" : what, from, -1);
}

}  // namespace tutti::tasks
