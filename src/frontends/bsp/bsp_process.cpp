// SPDX-License-Identifier: Apache-2.0
#include "frontends/bsp/bsp_process.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/agreed_signature.hpp"
#include "base/compute/kernels.hpp"
#include "tutti/error.hpp"

namespace tutti::bsp {
namespace {

call make_summary_call() noexcept {
  call c;
  c.what = collective::allreduce;
  c.count = 1;
  c.type = {.size = sizeof(sync_summary)};
  c.op.commutative = true;
  c.op.combine = combine_summaries;
  return c;
}

// Whether the summary can carry data; the same on all processes. It can if the allreduce of a whole
// summary takes as long as that of a word. This holds in shared memory, and between two processes,
// which send each other one message.
bool has_summary_with_payload(detail::communicator_impl& all) {
  const int nprocs = detail::size_of(all);
  if (nprocs == 2 || detail::shares_memory(all)) return true;
  const auto max_bytes = detail::native_in_memory(all, agreed_part(make_summary_call(), nprocs));
  return max_bytes && *max_bytes >= sizeof(sync_summary);
}

// The same on all processes. More than two threads or fibers need no puts in the summary, because
// they link them into inboxes.
std::size_t max_puts_in_summary(detail::communicator_impl& all, bool has_payload) noexcept {
  const int nprocs = detail::size_of(all);
  if (nprocs == 2) return 1;
  return has_payload && nprocs <= piggybacked_put::max_processes && !detail::shares_memory(all)
             ? sync_summary::payload_bytes / sizeof(piggybacked_put)
             : 0;
}

}  // namespace

process::process(detail::communicator_impl& all, bool unbounded)
    : all_(all),
      validate_thread_(all),
      deferrals_(detail::count_of_deferrals(all)),
      pid_(detail::rank_of(all)),
      nprocs_(detail::size_of(all)),
      unbounded_(unbounded),
      boxes_(std::make_shared<outboxes>()),
      exchange_(make_exchange(all, memory_, boxes_)),
      calls_(all),
      summary_has_payload_(has_summary_with_payload(all)),
      max_piggybacked_puts_(max_puts_in_summary(all, summary_has_payload_)),
      sync_allreduce_(all, "sync") {
  prepare_summary_allreduce();
  measure();
  first_superstep_ = superstep_;
  if (detail::in_checked_mode(all)) check_ = std::make_unique<superstep_check>(all, memory_);
}

bool process::resize_memory_register(std::size_t entries) {
  begin_call("resize_memory_register");
  try {
    memory_.resize(entries);
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return false;
}

bool process::resize_queue(std::size_t messages) {
  begin_call("resize_message_queue");
  try {
    outbox &first = (*boxes_)[0], &second = (*boxes_)[1];
    auto first_memory = first.memory_for(messages), second_memory = second.memory_for(messages);
    first.reserve(messages, std::move(first_memory));
    second.reserve(messages, std::move(second_memory));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool process::register_memory(bool global, void* base, std::size_t bytes, slot& made) {
  const char* const operation = global ? "register_global" : "register_local";
  begin_call(operation);
  if (base == nullptr && bytes > 0)
    reject(operation, "pointer", "is null, with a size of " + std::to_string(bytes),
           "pass memory of that size");
  if (unbounded_ && memory_.full()) memory_.grow();
  if (!memory_.add(global, base, bytes, superstep_, made)) return false;
  if (check_ != nullptr && global) [[unlikely]]
    check_->add_registration(site_, made, bytes);
  return true;
}

void process::deregister(slot s) {
  begin_call("deregister");
  if (memory_.find(s) == nullptr)
    reject("deregister", "memslot", "there is no slot " + std::to_string(s),
           "deregister each registered slot once");
  memory_.remove(s);
  if (check_ != nullptr && memory_register::is_global(s)) [[unlikely]]
    check_->add_deregistration(site_, s);
}

void process::reject_local(const char* operation, const char* parameter, slot s, std::size_t offset,
                           std::size_t bytes) {
  const area* const a = memory_.find(s);
  if (a == nullptr)
    reject(operation, parameter, "there is no slot " + std::to_string(s),
           "register memory, and pass its slot");
  reject(operation, parameter,
         std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " exceed its size of " +
             std::to_string(a->size),
         "register more memory, or pass fewer bytes");
}

// In checked mode a global slot may not be used in the superstep in which it was registered.
void process::check_registered_earlier(const char* operation, const char* parameter, slot s) {
  const area* const a = memory_.find(s);
  if (a != nullptr && memory_register::is_global(s) && a->registered_in == superstep_)
    reject(operation, parameter, "slot " + std::to_string(s) + " was registered in this superstep",
           "sync before you use it");
}

// Reports an error of the remote side of a put or a get: an invalid process, or a local slot.
void process::reject_remote(message_kind kind, int peer) {
  const char* const operation = kind == message_kind::put ? "put" : "get";
  if (!is_process(peer))
    reject(operation, kind == message_kind::put ? "dst_pid" : "src_pid",
           "is " + std::to_string(peer) + ", but there are " + std::to_string(nprocs_) + " processes",
           "pass 0 to nprocs - 1");
  reject(operation, kind == message_kind::put ? "dst_slot" : "src_slot", "is a local slot",
         "register the memory globally, on all processes");
}

// Prepares the allreduce of the summaries.
void process::prepare_summary_allreduce() {
  call& c = sync_allreduce_.made();
  c = make_summary_call();
  if (summary_has_payload_) {
    c.input = &local_summary_;
    c.output = &combined_summary_;
    c.op.state = &piggybacked_reduction_;
    return;
  }
  // With messages between many processes the summary is one word, which MPI combines itself.
  c.type = element_of<std::uint32_t>();
  c.input = &local_summary_.flags;
  c.output = &combined_summary_.flags;
  c.op.which = builtin_op::bit_or;
  c.op.combine = compute::kernel(builtin_op::bit_or, element_kind::u32);
}

inline process::piggyback process::choose_piggyback() noexcept {
  if (piggybacked_reduction_.count != 0) return piggyback::operand;
  outbox& out = current_outbox();
  if (out.empty() || out.size() > max_piggybacked_puts_) return piggyback::none;
  // Without lines this process sets no_lines, so that all puts become messages.
  if (nprocs_ > 2 && !sync_allreduce_.has_lines()) [[unlikely]]
    return piggyback::none;
  return std::all_of(out.begin(), out.end(), piggybacked_put::fits) ? piggyback::put : piggyback::none;
}

inline void process::fill_summary(sync_summary& into, std::uint32_t flags, piggyback data) noexcept {
  std::size_t used = 0;
  if (data == piggyback::put) {
    for (const message& m : current_outbox()) {
      new (into.payload + used) piggybacked_put(m);
      used += sizeof(piggybacked_put);
    }
  } else if (data == piggyback::operand) {
    used = piggybacked_reduction_.bytes();
    compute::copy(into.payload, piggybacked_reduction_.data, used);
  }
  into.flags = flags;
  into.used = static_cast<std::uint16_t>(used);
  into.is_reduction = data == piggyback::operand ? 1 : 0;
}

// Inlined with all that it calls, because a sync takes little more time than passing a few values
// through memory.
[[gnu::always_inline]] inline process::exchanged_summaries process::exchange_summaries(std::uint32_t flags,
                                                                                       piggyback data) {
  if (!sync_allreduce_.has_lines()) {
    fill_summary(local_summary_, flags | summaries::no_lines, data);
    sync_allreduce_.run();
    const sync_summary& all = combined_summary_;
    const bool puts_of_many = nprocs_ > 2 && all.used != 0 && all.is_reduction == 0;
    return {all.flags, puts_of_many ? nullptr : &all, nullptr, puts_of_many};
  }
  sync_allreduce_.run_in_lines([&](std::byte* line) { fill_summary(*new (line) sync_summary, flags, data); });
  bool reduce = data == piggyback::operand, has_data = data != piggyback::none;
  for (int r = 0; r < nprocs_; ++r) {
    if (r == pid_) continue;
    flags |= line_of(r).flags;
    reduce |= line_of(r).is_reduction != 0;
    has_data |= line_of(r).used != 0;
  }
  if (reduce) [[unlikely]]
    return combine_lines();
  if (nprocs_ != 2) return {flags, nullptr, nullptr, has_data};
  // Summaries are read in place. This process reads its own line only if necessary, because the
  // cache line has moved to the other process.
  const bool to_itself = data == piggyback::put && current_outbox().begin()->peer == pid_;
  return {flags, &line_of(1 - pid_), to_itself ? &line_of(pid_) : nullptr};
}

// Combines in rank order on all processes, so that all get the same bits.
process::exchanged_summaries process::combine_lines() {
  combine_summaries(&line_of(0), &line_of(1), &combined_summary_, 1, &piggybacked_reduction_);
  for (int r = 2; r < nprocs_; ++r)
    combine_summaries(&combined_summary_, &line_of(r), &combined_summary_, 1, &piggybacked_reduction_);
  return {combined_summary_.flags, &combined_summary_};
}

// Called after the exchange of the summaries. A put that exceeds its slot is reported at the end of
// the sync. Until then the others wait for the rest of this process's work.
[[gnu::always_inline]] inline void process::unpack_summary(const sync_summary& summary,
                                                           std::optional<piggybacked_put>& out_of_range) {
  if (summary.is_reduction != 0) {
    if (piggybacked_reduction_.root < 0 || piggybacked_reduction_.root == pid_)
      compute::copy(piggybacked_reduction_.data, summary.payload, piggybacked_reduction_.bytes());
    piggybacked_reduction_.count = 0;
    return;
  }
  const auto apply = [&](const piggybacked_put& p) {
    if (p.to != pid_) return;
    if (const area* const a = memory_.find(p.remote_slot, p.remote_offset, p.bytes)) [[likely]]
      compute::copy(a->base + p.remote_offset, p.inline_data, p.bytes);
    else
      out_of_range = p;
  };
  apply(summary[0]);
  if (summary.used > sizeof(piggybacked_put)) apply(summary[1]);
}

void process::unpack_lines(std::optional<piggybacked_put>& out_of_range) {
  for (int r = 0; r < nprocs_; ++r)
    if (line_of(r).used != 0) unpack_summary(line_of(r), out_of_range);
}

void process::reject_piggybacked_put(const piggybacked_put& p) {
  message m{};
  m.bytes = p.bytes;
  m.remote_slot = p.remote_slot;
  m.remote_offset = p.remote_offset;
  m.set_origin(p.from, message_kind::put);
  std::string diagnostic;
  report_out_of_range(memory_, m, pid_, diagnostic);
  detail::reject(all_, "sync", "offset", diagnostic,
                 "register more memory on that process, and sync before you use it");
}

// Called after collectives with functions of the program. If one threw on any process, values may
// be wrong on all. So this sync fails on all.
void process::agree_on_exceptions() {
  std::uint32_t mine = summaries::syncing;
  if (thrown_.what != nullptr) {
    mine |= summaries::failed;
    try {
      throw_stored_exception();
    } catch (...) {  // thrown below, by fail_on_all()
    }
  }
  const std::uint32_t all = exchange_summaries(mine, piggyback::none).flags;
  if ((all & summaries::failed) != 0) fail_on_all(mine, all);
}

void process::begin_nested(const char* call) {
  validate_thread(call);
  nesting_call_ = call;
  if (rejects_calls_) throw_rejected_call(call);
  const std::uint32_t mine = summaries::nesting | (failure_ != nullptr ? summaries::failed : 0);
  const std::uint32_t all = exchange_summaries(mine, piggyback::none).flags;
  if ((all & (summaries::failed | summaries::leaving | summaries::syncing)) != 0) fail_on_all(mine, all);
  nested_ = rejects_calls_ = true;
}

void process::sync() {
  validate_thread_.at_entry("sync");
  if (rejects_calls_) [[unlikely]]
    throw_rejected_call("sync");
  try {
    run_sync();
  } catch (...) {
    calls_.clear();
    piggybacked_reduction_.count = 0;
    thrown_ = {};
    if (failure_ == nullptr) failure_ = std::current_exception();
    throw;
  }
}

void process::run_sync() {
  const detail::deferred_rejections steps(deferrals_);
  std::uint32_t mine = summaries::syncing;
  piggyback data = piggyback::none;
  if (failure_ != nullptr) [[unlikely]] {
    mine |= summaries::failed;
  } else {
    data = choose_piggyback();
    outbox& out = current_outbox();
    if (data != piggyback::put && !out.empty()) mine |= exchange_->hand_over(out, superstep_);
    if (calls_.size() > 1) mine |= summaries::many_calls;
    if (may_throw_) mine |= summaries::may_throw;
    mine |= summaries::encode_digest(digest_);
  }
  const exchanged_summaries exchanged = exchange_summaries(mine, data);
  std::uint32_t all = exchanged.flags;
  if ((all & (summaries::failed | summaries::leaving | summaries::nesting)) != 0) [[unlikely]]
    fail_on_all(mine, all);
  // If a process does not read the lines, the puts become messages, because the outboxes still hold
  // them.
  const bool has_puts_in_lines = exchanged.puts_of_many && (all & summaries::no_lines) == 0;
  if (exchanged.puts_of_many && !has_puts_in_lines) [[unlikely]]
    all |= summaries::messages;
  if (check_ != nullptr) [[unlikely]]
    compare_superstep();  // its report has more detail
  if ((all & summaries::differing) != 0 || summaries::digests_differ(all)) [[unlikely]]
    fail_on_all(mine, all);
  std::optional<piggybacked_put> out_of_range;
  if (exchanged.first != nullptr && exchanged.first->used != 0)
    unpack_summary(*exchanged.first, out_of_range);
  if (exchanged.second != nullptr) [[unlikely]]
    unpack_summary(*exchanged.second, out_of_range);
  if (has_puts_in_lines) unpack_lines(out_of_range);
  if (!calls_.empty() || (all & summaries::many_calls) != 0)
    calls_.run_all((all & summaries::many_calls) != 0);
  if ((all & summaries::messages) != 0) exchange_->deliver(current_outbox(), superstep_, all);
  if (made_calls_) calls_.clear();
  if ((all & summaries::may_throw) != 0) agree_on_exceptions();
  made_calls_ = may_throw_ = false;
  digest_ = 0;
  if (out_of_range) [[unlikely]]
    reject_piggybacked_put(*out_of_range);
  memory_.at_sync();
  ++superstep_;
  current_outbox().reset();
}

// compare() throws on all processes, so no process needs to be informed.
void process::compare_superstep() {
  try {
    check_->compare(superstep_, superstep_ - first_superstep_,
                    unbounded_ || count_sent_ != 0 ? SIZE_MAX : current_outbox().allowed());
  } catch (...) {
    failure_reported_ = rejects_calls_ = true;
    reported_by_another_ = pid_ != 0;
    throw;
  }
}

bool process::leave() noexcept {
  if (failure_reported_) return peers_left_;
  if (!detail::is_usable(all_)) return false;
  try {
    const std::uint32_t mine = summaries::leaving | (failure_ != nullptr ? summaries::failed : 0);
    const std::uint32_t all = exchange_summaries(mine, piggyback::none).flags;
    if ((all & (summaries::syncing | summaries::nesting)) != 0) fail_on_all(mine, all);
    if ((all & summaries::failed) != 0) return false;
  } catch (...) {
    // A process that leaves the section has nothing left that can fail.
  }
  return failure_ == nullptr || peers_left_;
}

}  // namespace tutti::bsp
