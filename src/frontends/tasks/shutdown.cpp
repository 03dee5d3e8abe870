// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of a runtime, and barriers. A rank that has come to the end serves the others
// until all have; so whoever waits for something that this rank will never send learns that.
#include <cstdio>
#include <string>
#include <thread>

#include "base/environment.hpp"
#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {
namespace {

int workers_wanted(const options& how) {
  if (how.workers > 0) return how.workers;
  return static_cast<int>(number_setting("TUTTI_TASK_WORKERS", 1, 1024, 1));
}

}  // namespace

task_graph::task_graph(detail::communicator_impl& all, const options& how, const char* header)
    : all_(detail::duplicate(all)),
      rank_(detail::rank_of(*all_)),
      size_(detail::size_of(*all_)),
      workers_(workers_wanted(how)),
      how_(how),
      box_(detail::message_queue_of(*all_, "tasks")),
      messenger_(box_),
      cache_(how.cache),
      given_(static_cast<std::size_t>(size_)),
      taken_(static_cast<std::size_t>(size_)),
      bytes_sent_(static_cast<std::size_t>(size_)),
      messages_sent_(static_cast<std::size_t>(size_)) {
  inquired_.resize(static_cast<std::size_t>(size_));
  ended_.resize(static_cast<std::size_t>(size_));
  if (workers_ > 1) worker_pool_ = make_worker_pool(workers_, rank_, header);
  if (!detail::file_of_task_trace(*all_).empty()) {
    trace_ = std::make_unique<task_trace>(workers_);
    for (int i = 1; i < workers_; ++i) helper_numbers_.push_back(i);
  }
  detail::add_progress(*all_, *this);
}

task_graph::~task_graph() {
  stopping_.store(true);
  const auto any = [&] {
    const std::lock_guard<std::mutex> held(lock_);
    return helpers_ > 0;
  };
  while (worker_pool_ != nullptr && any()) std::this_thread::yield();
  worker_pool_.reset();
  detail::remove_progress(*all_, *this);
}

// False where the others have not come in time.
bool task_graph::meet(const char* operation, std::chrono::steady_clock::time_point until) {
  refuse_from_kernels(operation);
  const std::uint64_t times = ++meetings_;
  std::uint32_t round = 0;
  for (std::int64_t distance = 1; distance < size_; distance *= 2, ++round) {
    head what;
    what.kind = message_kind::meeting;
    what.sequence = round;
    messenger_.give(static_cast<int>((rank_ + distance) % size_), what, nullptr, 0);
    ++meeting_;
    struct leave {
      int& meeting;
      ~leave() { --meeting; }
    };
    const leave out{meeting_};
    bool met = false;
    wait_until(
        [&] {
          met = met_.size() > round && met_[round] >= times;
          return met || (until != never && std::chrono::steady_clock::now() > until);
        },
        "the other ranks", operation, until == never);
    if (!met) return false;
  }
  return true;
}

void task_graph::barrier() { meet("barrier", never); }

// Memory of the program's may be gone already: nothing runs, and nothing is taken in. Where nothing is under
// way the others may be about to leave in the same way; else they are told.
void task_graph::leave_by_exception() {
  if (size_ == 1) return;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  if (pending_ == 0 && meet("the end of the runtime", soon)) return;
  if (detail::endpoint_of(*all_).node() == nullptr) {
    head what;
    what.kind = message_kind::gone;
    for (int r = 0; r < size_; ++r)
      if (r != rank_) messenger_.give(r, what, nullptr, 0);
    return;
  }
  detail::endpoint_of(*all_).abandon(
      std::make_exception_ptr(error("tasks", rank_, "", "an exception has left the runtime's scope",
                                    "catch it within, where the others go on")));
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
        return;  // the exception that passes by is what matters
      }
    }
    closing_ = true;
    for (const arrival& a : std::exchange(inquiries_, {})) handle_inquiry(a);
    close_all_reductions();
    for (const auto& d : data_)
      if (!d->demands.empty()) meet_demands(*d);
    wait_until([&] { return pending_ == 0 && calls_.empty(); }, "its tasks", "the end of the runtime");
    throw_pending();
    through_ = true;
    refuse_unrequested();
    for (const arrival& a : std::exchange(inquiries_, {})) handle_inquiry(a);
    meet("the end of the runtime", never);
    while (messenger_.busy()) {
      if (progress(false)) continue;
      detail::guarded(*all_, [&] {
        detail::progress_others(*all_, this);
        detail::endpoint_of(*all_).pause(site("its messages to be taken"));
      });
    }
    detail::endpoint_of(*all_).progressed();
    if (trace_ != nullptr) write_trace();
  } catch (...) {
    report(std::current_exception());
  }
}

statistics task_graph::told() const {
  return {bytes_sent_, messages_sent_, cache_hits_, run_.load(std::memory_order_relaxed), idle_};
}

// Nothing of this rank's will receive these, and their senders wait.
void task_graph::refuse_unrequested() {
  for (const auto& a : unrequested_)
    if (a->what.with != 0)
      throw mismatch_error("tasks", rank_, "",
                           "rank " + std::to_string(a->from) + " sends a message of tag " +
                               std::to_string(a->what.number) +
                               " that this rank has not received at the end of its runtime",
                           "give every send its receive, with the same tag");
}

void task_graph::count_elsewhere(detail::communicator_impl& where, int peer, std::size_t bytes) noexcept {
  try {
    const int r = detail::translate(where, peer, *all_);
    if (r >= 0 && r < size_) count_sent(r, bytes);
  } catch (...) {
    // Of a rank that is none of the runtime's nothing is told.
  }
}

}  // namespace tutti::tasks
