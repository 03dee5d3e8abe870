// SPDX-License-Identifier: Apache-2.0
//
// The calls of the program that request transfers, and wait for them. A request is a pointer to a
// shared explicit_request: the node goes on if the program drops it.
#include <exception>
#include <memory>
#include <utility>

#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {
namespace {

using shared_request = std::shared_ptr<explicit_request>;

}  // namespace

explicit_transfer_node& task_graph::make_explicit(const explicit_transfer& t, bool sends) {
  return_to_owner(*t.what, false);
  return explicit_.make(t, sends);
}

void* task_graph::start(const explicit_transfer& t, bool sends) {
  validator_.transfer(sends ? "isend" : "irecv", t, sends);
  auto* const request = new shared_request(std::make_shared<explicit_request>());
  explicit_transfer_node& node = make_explicit(t, sends);
  node.request = *request;
  ready_.release(node);
  return request;
}

bool task_graph::test(void* request, detail::envelope& found) {
  validator_.entry("test");
  auto& r = **static_cast<shared_request*>(request);
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
  auto& r = **static_cast<shared_request*>(request);
  wait_until([&] { return r.complete; }, "a transfer", "wait");
  found = r.found;
  if (r.error) std::rethrow_exception(std::exchange(r.error, nullptr));
}

// If an exception is under way, the end of the runtime waits for the transfer.
void task_graph::drop(void* request) noexcept {
  auto* const r = static_cast<shared_request*>(request);
  if (!(*r)->complete && std::uncaught_exceptions() == 0) {
    try {
      wait_until([&] { return (*r)->complete; }, "a transfer", "wait");
    } catch (...) {
      failures_.record_error(std::current_exception());
    }
  }
  delete r;
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
