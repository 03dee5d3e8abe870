// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of a runtime, and barriers. A rank that has come to the end serves the
// other ranks until all have. So ranks that wait for something that this rank will never send learn
// that.
#include <exception>
#include <string>
#include <utility>

#include "base/environment.hpp"
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
    : all_(detail::duplicate(all)),
      rank_(detail::rank_of(*all_)),
      size_(detail::size_of(*all_)),
      workers_(workers_of(how)),
      how_(how),
      box_(detail::message_queue_of(*all_, "tasks")),
      messenger_(box_),
      failures_(rank_),
      trace_(detail::file_of_task_trace(*all_).empty() ? nullptr : std::make_unique<task_trace>(workers_)),
      ready_(failures_, workers_, workers_ > 1 ? make_worker_pool(workers_, rank_, header) : nullptr,
             trace_.get()),
      replicas_(rank_, size_, how.cache, how.cache_bytes),
      checks_(*all_, data_),
      sender_(messenger_, size_),
      services_{rank_, size_, ready_, failures_, sender_, trace_.get()},
      transfers_(services_, data_, replicas_),
      reductions_(services_, data_, replicas_),
      packs_(services_),
      follow_ups_(ready_),
      explicit_(services_, replicas_, follow_ups_, &*all_),
      lost_(services_, data_, transfers_, explicit_, reductions_) {
  detail::add_progress(*all_, *this);
}

task_graph::~task_graph() {
  ready_.stop();
  detail::remove_progress(*all_, *this);
}

// Returns false if the other ranks have not come in time.
bool task_graph::meet(const char* operation, std::chrono::steady_clock::time_point until) {
  checks_.thread(operation);
  const std::uint64_t barrier = barriers_.enter();
  std::uint32_t round = 0;
  for (std::int64_t distance = 1; distance < size_; distance *= 2, ++round) {
    head what;
    what.kind = message_kind::meeting;
    what.sequence = round;
    sender_.messages().send(static_cast<int>((rank_ + distance) % size_), what, nullptr, 0);
    ++in_barrier_;
    struct leave {
      int& in_barrier;
      ~leave() { --in_barrier; }
    };
    const leave out{in_barrier_};
    bool met = false;
    wait_until(
        [&] {
          met = barriers_.arrived(round, barrier);
          return met || (until != never && std::chrono::steady_clock::now() > until);
        },
        "the other ranks", operation, until == never);
    if (!met) return false;
  }
  return true;
}

void task_graph::barrier() { meet("barrier", never); }

// The program's memory may be gone already: runs nothing and receives nothing. If nothing is under
// way, the other ranks may be about to leave in the same way. Otherwise they are notified.
void task_graph::leave_by_exception() {
  if (size_ == 1) return;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  if (ready_.pending() == 0 && meet("the end of the runtime", soon)) return;
  if (detail::endpoint_of(*all_).node() == nullptr) {
    head what;
    what.kind = message_kind::gone;
    for (int r = 0; r < size_; ++r)
      if (r != rank_) sender_.messages().send(r, what, nullptr, 0);
    return;
  }
  detail::endpoint_of(*all_).abandon(
      std::make_exception_ptr(error("tasks", rank_, "", "an exception left the runtime's scope",
                                    "catch it inside the scope if the other ranks continue")));
}

void task_graph::close(bool passing_by) noexcept {
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
    endpoint& ep = detail::endpoint_of(*all_);
    if (ep.node() == nullptr) ep.kill_job(text);
    ep.abandon(what);  // the job reports it
  };
  try {
    if (passing_by) {
      try {
        return leave_by_exception();
      } catch (...) {
        return;  // the exception that passes by matters more
      }
    }
    finish();
  } catch (...) {
    report(std::current_exception());
  }
}

// Waits until this rank and all others have nothing left to do.
void task_graph::finish() {
  lost_.end_insertion();
  reductions_.close_all();
  reductions_.end();
  wait_until([&] { return ready_.pending() == 0 && !follow_ups_.pending(); }, "its tasks",
             "the end of the runtime");
  throw_pending();
  explicit_.close();
  lost_.end_sends();
  meet("the end of the runtime", never);
  while (messenger_.busy()) {
    if (progress(false)) continue;
    detail::guarded(*all_, [&] {
      detail::progress_others(*all_, this);
      detail::endpoint_of(*all_).pause(site("its messages to be received"));
    });
  }
  detail::endpoint_of(*all_).progressed();
  if (trace_ != nullptr) write_trace(*trace_, *all_);
}

statistics task_graph::counts() const {
  return {sender_.bytes_sent(), sender_.messages_sent(), replicas_.cache_hits(), ready_.kernels_run(), idle_};
}

}  // namespace tutti::tasks
