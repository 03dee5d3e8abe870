// SPDX-License-Identifier: Apache-2.0
#include "communicator/internal_calls.hpp"

#include <utility>
#include <vector>

#include "communicator/call_selection.hpp"
#include "communicator/communicator_impl.hpp"
#include "communicator/make_communicators.hpp"
#include "communicator/native_substitute.hpp"

namespace tutti::detail {

std::shared_ptr<rank_state> make_rank_state(std::unique_ptr<endpoint> ep, const settings& config,
                                            std::shared_ptr<const selection> by,
                                            std::uint32_t engine_conditions) {
  auto made = std::make_shared<rank_state>();
  made->config = config;
  made->owned = std::move(ep);
  made->use(*made->owned);
  made->any_thread = true;
  made->by = std::move(by);
  made->engine_conditions = engine_conditions;
  made->begin_trace();
  return made;
}
void count_obeyed(rank_state& rank, collective what, override_kind kind) { ++rank.use_of(what, kind).obeyed; }

communicator_handle make_world(const std::shared_ptr<rank_state>& shared) {
  endpoint& ep = *shared->ep;
  return make_over(shared, ep.open(group::range(0, 1, ep.size(), ep.rank()), 1, nullptr));
}
communicator_handle make_over(const std::shared_ptr<rank_state>& shared, std::unique_ptr<context> where,
                              topology shape) {
  return communicator_handle(new communicator_impl(shared, std::move(where), std::move(shape)));
}
communicator_handle make_group(const std::shared_ptr<rank_state>& shared, const group& members,
                               const group_name& name) {
  return communicator_impl::make(shared, members, name);
}
void compare_settings(communicator_impl& c) { compare_settings(c.state(), c.calls()); }

endpoint& endpoint_of(const communicator_impl& c) noexcept { return c.state().ep(); }
bool has_two_groups(const communicator_impl& c) noexcept { return c.state().inter(); }
bool knows_all_members(const communicator_impl& c) noexcept { return c.state().knows_all(); }
int address_of(const communicator_impl& c, int rank) noexcept { return c.state().members().address(rank); }
selection_context selection_context_of(const communicator_impl& c, const agreed_signature& s) {
  return selection_context_of(c.state(), s);
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
void report_refusal(communicator_impl& c, const call& what, const char* why) {
  c.checked().report_refusal(what, why);
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

native_substitute::native_substitute(communicator_impl& of) noexcept
    : of_(of), active_(of.state().this_rank().active), next_id_(of.calls().next_id()) {}
std::optional<shm::line_exchange> native_substitute::lines_of(collective what) const {
  return of_.calls().lines_of(what);
}

message_queue& message_queue_of(communicator_impl& c, const char* operation) {
  return c.p2p().open(operation);
}

const std::string& file_of_task_trace(const communicator_impl& c) noexcept {
  return c.state().this_rank().config.trace.tasks_file;
}
unsigned count_task_trace(communicator_impl& c) noexcept { return ++c.state().this_rank().task_trace_count; }

}  // namespace tutti::detail
