// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of a runtime, and barriers. A rank at the end of its runtime serves the
// other ranks until all have reached the end. So it can reply to ranks that wait for data that it
// will never send.
#include <exception>
#include <string>
#include <utility>

#include "base/environment_variables.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {
namespace {

int workers_of(const options& how) {
  if (how.workers > 0) return how.workers;
  return static_cast<int>(number_setting("TUTTI_TASK_WORKERS", 1, 1024, 1));
}

}  // namespace

task_graph::task_graph(detail::communicator_impl& all, const options& how, const char* header)
    : comm_(detail::duplicate(all)),
      rank_(detail::rank_of(*comm_)),
      size_(detail::size_of(*comm_)),
      workers_(workers_of(how)),
      options_(how),
      queue_(detail::message_queue_of(*comm_, "tasks")),
      messenger_(queue_),
      failures_(rank_),
      trace_(detail::file_of_task_trace(*comm_).empty() ? nullptr : std::make_unique<task_trace>(workers_)),
      ready_(failures_, workers_, workers_ > 1 ? make_worker_pool(workers_, rank_, header) : nullptr,
             trace_.get()),
      replicas_(rank_, size_, how.cache, how.cache_bytes),
      validator_(*comm_, data_),
      sender_(messenger_, size_),
      services_{rank_, size_, ready_, failures_, sender_, trace_.get()},
      transfers_(services_, data_, replicas_),
      reductions_(services_, data_, replicas_),
      packs_(services_),
      follow_ups_(ready_),
      explicit_(services_, replicas_, follow_ups_, &*comm_),
      lost_(services_, data_, transfers_, explicit_, reductions_) {
  detail::add_progress(*comm_, *this);
}

task_graph::~task_graph() {
  *ended_ = true;
  ready_.stop();
  detail::remove_progress(*comm_, *this);
}

// Returns false if the other ranks have not arrived in time.
bool task_graph::run_barrier(const char* operation, std::chrono::steady_clock::time_point until) {
  validator_.thread(operation);
  const std::uint64_t barrier = barriers_.enter();
  std::uint32_t round = 0;
  for (std::int64_t distance = 1; distance < size_; distance *= 2, ++round) {
    message_header header;
    header.kind = message_kind::barrier;
    header.sequence = round;
    sender_.messages().send(static_cast<int>((rank_ + distance) % size_), header, nullptr, 0);
    ++in_barrier_;
    struct reset_guard {
      int& in_barrier;
      ~reset_guard() { --in_barrier; }
    };
    const reset_guard guard{in_barrier_};
    bool arrived = false;
    wait_until(
        [&] {
          arrived = barriers_.arrived(round, barrier);
          return arrived || (until != never && std::chrono::steady_clock::now() > until);
        },
        "the other ranks", operation, until == never);
    if (!arrived) return false;
  }
  return true;
}

void task_graph::barrier() {
  validator_.entry("barrier");
  run_barrier("barrier", never);
}

// Runs nothing and receives nothing, because the program's memory may already be invalid. If
// nothing is under way, the other ranks may be about to leave in the same way. Otherwise this rank
// notifies them.
void task_graph::leave_by_exception() {
  if (size_ == 1) return;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  if (ready_.pending() == 0 && run_barrier("the end of the runtime", deadline)) return;
  if (detail::endpoint_of(*comm_).node() == nullptr) {
    message_header header;
    header.kind = message_kind::aborted;
    for (int r = 0; r < size_; ++r)
      if (r != rank_) sender_.messages().send(r, header, nullptr, 0);
    return;
  }
  detail::endpoint_of(*comm_).abandon(
      std::make_exception_ptr(error("tasks", rank_, "", "an exception left the runtime's scope",
                                    "catch it inside the scope if the other ranks continue")));
}

void task_graph::close(bool by_exception) noexcept {
  const auto report = [&](std::exception_ptr what) {
    std::string text;
    try {
      std::rethrow_exception(what);
    } catch (const peer_error&) {
      return;  // the job has failed elsewhere
    } catch (const deadlock_error&) {
      return;
    } catch (const std::exception& e) {
      text = e.what();
    } catch (...) {
      text = "an exception that is not a std::exception";
    }
    endpoint& ep = detail::endpoint_of(*comm_);
    if (ep.node() == nullptr) ep.kill_job(text);
    ep.abandon(what);  // the job reports it
  };
  try {
    if (by_exception) {
      try {
        return leave_by_exception();
      } catch (...) {
        return;  // the exception in flight matters more
      }
    }
    finish();
  } catch (...) {
    report(std::current_exception());
  }
}

// Waits until this rank and all other ranks have nothing more to do.
void task_graph::finish() {
  lost_.end_insertion();
  reductions_.close_all();
  reductions_.end();
  wait_until([&] { return ready_.pending() == 0 && !follow_ups_.pending(); }, "its tasks",
             "the end of the runtime");
  throw_pending();
  explicit_.close();
  lost_.end_sends();
  run_barrier("the end of the runtime", never);
  while (messenger_.busy()) {
    if (progress(false)) continue;
    detail::guarded(*comm_, [&] {
      detail::progress_others(*comm_, this);
      detail::endpoint_of(*comm_).pause(site("its messages to be received"));
    });
  }
  detail::endpoint_of(*comm_).progressed();
  if (trace_ != nullptr) write_trace(*trace_, *comm_);
}

statistics task_graph::counts() const {
  return {sender_.bytes_sent(), sender_.messages_sent(), replicas_.cache_hits(), ready_.kernels_run(), idle_};
}

}  // namespace tutti::tasks
