// SPDX-License-Identifier: Apache-2.0
//
// The calls of the program that request transfers, and wait for them. A request is a pointer to an
// open_request. The node goes on if the program drops it. The request may outlive the runtime.
#include <exception>
#include <memory>
#include <utility>

#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {
namespace {

struct open_request {
  std::shared_ptr<explicit_request> state;
  std::shared_ptr<const bool> runtime_ended;
};

open_request& of(void* request) noexcept { return *static_cast<open_request*>(request); }

}  // namespace

bool task_graph::outlived_by(void* request) noexcept { return *of(request).runtime_ended; }

// The end of the runtime has waited for the transfer, unless an exception ended it.
detail::envelope task_graph::result_after_end(void* request, const char* operation) {
  explicit_request& r = *of(request).state;
  if (!r.complete)
    throw usage_error(operation, -1, "request", "is used after an exception has ended its runtime",
                      "wait for it while the runtime exists");
  if (r.error) std::rethrow_exception(std::exchange(r.error, nullptr));
  return r.found;
}

void task_graph::drop_after_end(void* request) noexcept { delete &of(request); }

explicit_transfer_node& task_graph::make_explicit(const explicit_transfer& t, bool sends) {
  return_to_owner(*t.what, false);
  return explicit_.make(t, sends);
}

void* task_graph::start(const explicit_transfer& t, bool sends) {
  validator_.transfer(sends ? "isend" : "irecv", t, sends);
  std::unique_ptr<open_request> request(new open_request{std::make_shared<explicit_request>(), ended_});
  explicit_transfer_node& node = make_explicit(t, sends);
  node.request = request->state;
  ready_.release(node);
  return request.release();
}

bool task_graph::test(void* request, detail::envelope& found) {
  validator_.entry("test");
  explicit_request& r = *of(request).state;
  if (!r.complete) {
    progress_all();
    if (!r.complete && detail::endpoint_of(*comm_).size() > 1) {
      detail::endpoint_of(*comm_).pause(site("a transfer"));
      detail::endpoint_of(*comm_).progressed();
    }
    if (!r.complete) return false;
  }
  found = r.found;
  if (r.error) std::rethrow_exception(std::exchange(r.error, nullptr));
  return true;
}

void task_graph::wait(void* request, detail::envelope& found, bool is_entry) {
  if (is_entry) validator_.entry("wait");
  explicit_request& r = *of(request).state;
  wait_until([&] { return r.complete; }, "a transfer", "wait");
  found = r.found;
  if (r.error) std::rethrow_exception(std::exchange(r.error, nullptr));
}

// If an exception is under way, the end of the runtime waits for the transfer.
void task_graph::drop(void* request) noexcept {
  const explicit_request& r = *of(request).state;
  if (!r.complete && std::uncaught_exceptions() == 0) {
    try {
      wait_until([&] { return r.complete; }, "a transfer", "wait");
    } catch (...) {
      failures_.record_error(std::current_exception());
    }
  }
  delete &of(request);
}

void task_graph::detach(const explicit_transfer* all, std::size_t n, bool sends, const follow_up& action) {
  const char* const operation = sends ? "isend_detached" : "irecv_detached";
  for (std::size_t i = 0; i < n; ++i) validator_.transfer(operation, all[i], sends);
  if (action.unlocks) follow_ups_.lock(action.tag);
  auto group = std::make_shared<explicit_group>(n, action);
  if (n == 0) return follow_ups_.add(std::move(group->action));
  for (std::size_t i = 0; i < n; ++i) {
    explicit_transfer_node& node = make_explicit(all[i], sends);
    node.group = group;
    ready_.release(node);
  }
  if (++inserted_ % 32 == 0) progress(false);
}

}  // namespace tutti::tasks
