// SPDX-License-Identifier: Apache-2.0
#include "communicator/internal_calls.hpp"

#include <atomic>
#include <vector>

#include "communicator/call_selection.hpp"
#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

// The preload calls it from several threads. make_rank_state() has allocated the counters.
void count_obeyed(rank_state& rank, collective what, override_kind kind) {
  std::atomic_ref(rank.use_of(what, kind).obeyed).fetch_add(1, std::memory_order_relaxed);
}

endpoint& endpoint_of(const communicator_impl& c) noexcept { return c.state().ep(); }
bool has_two_groups(const communicator_impl& c) noexcept { return c.state().inter(); }
bool knows_all_members(const communicator_impl& c) noexcept { return c.state().knows_all(); }
int address_of(const communicator_impl& c, int rank) noexcept { return c.state().members().address(rank); }
selection_context selection_context_of(const communicator_impl& c, const agreed_signature& s) {
  return selection_context_of(c.state(), s);
}
std::optional<std::size_t> native_in_memory(communicator_impl& c, const agreed_signature& s) {
  if (s.inter || !c.state().knows_all()) return {};
  c.state().open();
  return c.state().engine_context().native_in_memory(s);
}
native_offer offers_native(const communicator_impl& c, const agreed_signature& s) noexcept {
  return offers_native(c.state(), s);
}

void announce_rejection(communicator_impl& c, const call& what, mode how, bool zeros,
                        const std::string& text) {
  if (how == mode::persistent)
    c.calls().announce_at_starts(what, zeros, text);
  else
    c.calls().announce_rejection(what, zeros, text);
}

void validate_thread(const communicator_impl& c, const char* operation) {
  c.state().validate_thread(operation);
}
int& count_of_deferrals(const communicator_impl& c) noexcept {
  return c.state().this_rank().calls_that_defer_rejections;
}
void validate_entry(const communicator_impl& c, const char* operation) {
  c.state().validate_entry(operation);
}
thread_validation::thread_validation(const communicator_impl& of) noexcept
    : of_(of), running_(of.state().this_rank().running_thread) {}
void validate_usable(const communicator_impl& c, const char* operation) {
  c.state().validate_usable(operation);
}
bool is_usable(const communicator_impl& c) noexcept { return c.state().usable(); }
bool is_freed(const communicator_impl& c) noexcept { return c.state().was_freed() || !c.state().usable(); }
bool outlived_run(const communicator_impl& c) noexcept { return c.state().is_over(); }

bool in_checked_mode(const communicator_impl& c) noexcept { return c.state().this_rank().config.check; }
void leave_checked_mode(communicator_impl& c) noexcept { c.state().this_rank().config.check = false; }
void report_rejection(communicator_impl& c, const call& what, const char* why) {
  c.checked().report_rejection(what, why);
}

void add_progress(communicator_impl& c, progressable& one) { c.state().this_rank().add_active(one); }
void remove_progress(communicator_impl& c, const progressable& one) noexcept {
  std::erase(c.state().this_rank().active, &one);
}
bool has_other_operations(const communicator_impl& c, const progressable* one) noexcept {
  for (const progressable* each : c.state().this_rank().active)
    if (each != one) return true;
  return false;
}
void progress_others(communicator_impl& c, const progressable* except) {
  c.state().this_rank().progress_others(except, true);
}
void fail_job(communicator_impl& c) noexcept { c.state().fail_job(); }

message_queue& message_queue_of(communicator_impl& c, const char* operation) {
  return c.p2p().open(operation);
}

const std::string& file_of_task_trace(const communicator_impl& c) noexcept {
  return c.state().this_rank().config.trace.tasks_file;
}
unsigned count_task_trace(communicator_impl& c) noexcept { return ++c.state().this_rank().task_trace_count; }

}  // namespace tutti::detail
