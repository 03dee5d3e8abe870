// SPDX-License-Identifier: Apache-2.0
//
// Progress and waiting. A rank that waits runs kernels on its own thread, and communicates in
// between. If it has nothing to do it pauses, and after a while sleeps until a message arrives.
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
  fetched_contents(task_graph& graph, std::unique_ptr<arrival> a) : graph_(graph), arrival_(std::move(a)) {
    arrival_->memory = block::make(arrival_->header.bytes);
    graph.messenger_.receive(*arrival_, arrival_->memory->data(), *this);
  }
  void received() override {
    const std::unique_ptr<fetched_contents> self(this);
    arrival_->header.contents_tag = 0;
    graph_.handle(std::move(arrival_));
  }

 private:
  task_graph& graph_;
  std::unique_ptr<arrival> arrival_;
};

// Long contents are received directly at their destination if it is known and no other rank waits
// for them.
void task_graph::handle(std::unique_ptr<arrival> a) {
  const bool separate = a->header.contents_tag != 0;
  switch (a->header.kind) {
    case message_kind::contents:
      if (!separate) return transfers_.handle_contents(std::move(a));
      if (a->forward_to.empty())
        if (receive_node* const one = transfers_.find_receive(*a);
            one != nullptr && one->can_receive_directly())
          return transfers_.deliver(*one, std::move(a));
      return fetch_contents(std::move(a));
    case message_kind::explicit_transfer:
      return explicit_.handle(std::move(a));
    case message_kind::collect:
      return reductions_.handle_collect(std::move(a));
    case message_kind::contribution:
      return separate ? fetch_contents(std::move(a)) : reductions_.handle_contribution(std::move(a));
    case message_kind::inquiry:
      return lost_.handle_inquiry(*a);
    case message_kind::never_sent:
      return lost_.handle_never_sent(*a);
    case message_kind::aborted:
      return failures_.record_error(std::make_exception_ptr(
          peer_error("tasks", rank_, "",
                     "an exception left the runtime's scope on rank " + std::to_string(a->from), "")));
    case message_kind::barrier:
      return barriers_.add_arrival(a->header.sequence);
    case message_kind::pack:
      return separate ? fetch_contents(std::move(a)) : packs_.handle(std::move(a));
  }
}

void task_graph::fetch_contents(std::unique_ptr<arrival> a) { new fetched_contents(*this, std::move(a)); }

bool task_graph::progress(bool callbacks) {
  if (in_progress_) return false;
  const std::uint64_t before = progress_count();
  in_progress_ = true;
  struct reset_guard {
    bool& in_progress;
    ~reset_guard() { in_progress = false; }
  };
  {
    const reset_guard guard{in_progress_};
    detail::guarded(*comm_, [&] {
      ready_.reap();
      ready_.start_rank_thread_nodes();
      if (messenger_.busy() && messenger_.progress()) ++progress_count_;
      while (std::unique_ptr<arrival> a = messenger_.next()) {
        ++progress_count_;
        handle(std::move(a));
      }
      if (explicit_.poll()) ++progress_count_;
      while (ready_.start_rank_thread_nodes()) {
      }
      ready_.reap();
    });
  }
  if (callbacks && follow_ups_.pending()) {
    // A callback runs once, so it must not end because of a rejection.
    const detail::deferred_rejections steps(detail::count_of_deferrals(*comm_));
    if (follow_ups_.run_callbacks()) ++progress_count_;
  }
  return progress_count() != before;
}

// Another rank may wait for the result of a kernel. If there are other workers, they run it.
void task_graph::work() {
  if (!ready_.has_pool() && shm::current_rank != &shm::kernel_identity && !in_progress_ && ready_.run_one())
    progress(false);
}

// --- waiting

// Throws each error once: a mistake in the graph, or the first kernel that has thrown.
void task_graph::throw_pending() {
  failures_.throw_error();
  failures_.throw_first("wait_all");
}

void task_graph::wait_all() {
  validator_.entry("wait_all");
  reductions_.close_all();
  wait_until([&] { return ready_.pending() == 0 && !follow_ups_.pending(); }, "its tasks", "wait_all");
  throw_pending();
}

bool task_graph::may_progress() {
  return messenger_.busy() || !transfers_.expected().empty() || explicit_.busy() || reductions_.busy() ||
         packs_.busy() || ready_.other_workers() != ready_queue::worker_state::idle;
}

// All nodes are complete except those that wait for the program itself.
void task_graph::throw_if_stuck(const char* operation) {
  if (ready_.has_work() || follow_ups_.pending()) return;
  const std::string what = follow_ups_.waiting();
  validator_.reject(
      operation, "",
      "would never end: " + (what.empty() ? std::string("a view that acquire() returned still exists")
                                          : what + ", which no transfer unlocks"),
      what.empty() ? "end the view before this call" : "pass unlock() with this tag to a transfer");
}

void task_graph::record_idle(task_trace::clock::time_point since) {
  const auto now = task_trace::clock::now();
  idle_ += std::chrono::duration<double>(now - since).count();
  if (trace_ != nullptr && now - since > std::chrono::microseconds(1))
    trace_->add(0, task_trace::kind::idle, "idle", since, now);
}

// `idle_rounds`: how often the wait has paused since it last had something to do.
void task_graph::pause_or_sleep(int idle_rounds, const char* what, bool may_sleep) {
  endpoint& ep = detail::endpoint_of(*comm_);
  const shm::wait_site where = site(what);
  const bool other_operations = detail::has_other_operations(*comm_, this);
  const auto workers = ready_.other_workers();
  if (workers == ready_queue::worker_state::kernels_ready) return;
  detail::guarded(*comm_, [&] {
    if (other_operations) detail::progress_others(*comm_, this);
    // While kernels run, a long wait is no deadlock.
    if (workers == ready_queue::worker_state::running) {
      ep.pause(where);
      ep.progressed();
      // If this thread also runs other ranks, it yields its core to the workers.
      const bool shares = ep.node() != nullptr && ep.node()->workers() < ep.size();
      if (shares && idle_rounds >= 20) yield_core();
      if (!shares && idle_rounds >= 200) ready_.sleep_until_complete();
      return;
    }
    if (ready_.has_rank_thread_work()) return;  // a worker has become idle since
    if (idle_rounds == 500) lost_.inquire();
    if (idle_rounds < 500 || !may_sleep || messenger_.busy() || explicit_.busy_on_other_communicators() ||
        other_operations) {
      ep.pause(where);
    } else {
      queue_.wait(where);
      if (idle_rounds > 20000 && ep.node() == nullptr) {
        const timespec short_pause{0, 20'000};
        nanosleep(&short_pause, nullptr);
      }
    }
  });
}

shm::wait_site task_graph::site(const char* what, int) const noexcept {
  const auto& expected = transfers_.expected();
  const int from = expected.empty() ? -1 : expected.front()->origin();
  return queue_.site_of("tasks", from >= 0 ? "data from" : what, from, -1);
}

}  // namespace tutti::tasks
