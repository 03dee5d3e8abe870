// SPDX-License-Identifier: Apache-2.0
#include "frontends/bsp/bsp_process.hpp"

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/compute/kernels.hpp"
#include "tutti/error.hpp"

namespace tutti::bsp {

process::process(detail::communicator_impl& all, bool unbounded)
    : all_(all),
      check_thread_(all),
      pid_(detail::rank_of(all)),
      nprocs_(detail::size_of(all)),
      unbounded_(unbounded),
      boxes_(std::make_shared<outboxes>()),
      exchange_(make_exchange(all, memory_, boxes_)),
      calls_(all),
      roomy_(detail::shares_memory(all) || nprocs_ == 2),
      sync_allreduce_(all, "sync") {
  prepare_meeting();
  measure();
  first_superstep_ = superstep_;
  if (detail::in_checked_mode(all)) check_ = std::make_unique<superstep_check>(all, memory_);
}

bool process::resize_register(std::size_t entries) {
  refuse_failed();
  try {
    memory_.resize(entries);
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return false;
}

bool process::resize_queue(std::size_t messages) {
  refuse_failed();
  try {
    outbox &first = (*boxes_)[0], &second = (*boxes_)[1];
    auto of_first = first.memory_for(messages), of_second = second.memory_for(messages);
    first.reserve(messages, std::move(of_first));
    second.reserve(messages, std::move(of_second));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool process::add(bool global, void* base, std::size_t bytes, slot& made) {
  const char* const operation = global ? "register_global" : "register_local";
  refuse_failed();
  if (base == nullptr && bytes > 0)
    refuse(operation, "pointer", "is null, with a size of " + std::to_string(bytes),
           "pass memory of that size");
  if (unbounded_ && memory_.full()) memory_.grow();
  if (!memory_.add(global, base, bytes, superstep_, made)) return false;
  if (check_ != nullptr && global) [[unlikely]]
    check_->registers(site_, made, bytes);
  return true;
}

void process::remove(slot s) {
  refuse_failed();
  if (memory_.find(s) == nullptr)
    refuse("deregister", "memslot", "there is no slot " + std::to_string(s),
           "deregister each registered slot once");
  memory_.remove(s);
  if (check_ != nullptr && memory_register::is_global(s)) [[unlikely]]
    check_->deregisters(site_, s);
}

void process::refuse_near(const char* operation, const char* parameter, slot s, std::size_t offset,
                          std::size_t bytes) {
  const area* const a = memory_.find(s);
  if (a == nullptr)
    refuse(operation, parameter, "there is no slot " + std::to_string(s),
           "register memory, and pass its slot");
  refuse(operation, parameter,
         std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " exceed its size of " +
             std::to_string(a->size),
         "register more memory, or pass fewer bytes");
}

// In checked mode a global slot may not be used in the superstep in which it was registered.
void process::check_fresh(const char* operation, const char* parameter, slot s) {
  const area* const a = memory_.find(s);
  if (a != nullptr && memory_register::is_global(s) && a->since == superstep_)
    refuse(operation, parameter, "slot " + std::to_string(s) + " was registered in this superstep",
           "sync before you use it");
}

// Reports an error of the remote side of a put or a get: an invalid process, or a local slot.
void process::refuse_far(direction way, int peer) {
  const char* const operation = way == direction::put ? "put" : "get";
  if (!is_process(peer))
    refuse(operation, way == direction::put ? "dst_pid" : "src_pid",
           "is " + std::to_string(peer) + ", but there are " + std::to_string(nprocs_) + " processes",
           "pass 0 to nprocs - 1");
  refuse(operation, way == direction::put ? "dst_slot" : "src_slot", "is a local slot",
         "register the memory globally, on all processes");
}

// Prepares the allreduce that every meeting makes.
void process::prepare_meeting() {
  call& c = sync_allreduce_.made();
  c.what = collective::allreduce;
  c.count = 1;
  c.op.commutative = true;
  if (roomy_) {
    c.type = {.size = sizeof(sync_summary)};
    c.input = &own_;
    c.output = &all_together_;
    c.op.combine = combine_summaries;
    c.op.state = &riding_reduction_;
    return;
  }
  // With messages of MPI and many processes the summary is one word, which MPI combines itself.
  c.type = element_of<std::uint32_t>();
  c.input = &own_.flags;
  c.output = &all_together_.flags;
  c.op.which = builtin_op::bit_or;
  c.op.combine = compute::kernel(builtin_op::bit_or, element_kind::u32);
}

inline process::riding process::what_rides() noexcept {
  if (riding_reduction_.count != 0) return riding::operand;
  return nprocs_ == 2 && box().size() == 1 && riding_put::fits(*box().begin()) ? riding::put
                                                                               : riding::nothing;
}

inline void process::write(sync_summary& into, std::uint32_t flags, riding what) noexcept {
  std::size_t used = 0;
  if (what == riding::put) {
    new (into.room) riding_put(*box().begin());
    used = sizeof(riding_put);
  } else if (what == riding::operand) {
    used = riding_reduction_.bytes();
    compute::copy(into.room, riding_reduction_.data, used);
  }
  into.flags = flags;
  into.used = static_cast<std::uint16_t>(used);
  into.reduces = what == riding::operand ? 1 : 0;
}

// Inlined with its parts: a sync takes little longer than passing a few values through memory.
[[gnu::always_inline]] inline process::met process::meet(std::uint32_t flags, riding what) {
  if (!sync_allreduce_.has_lines()) {
    write(own_, flags, what);
    sync_allreduce_.run();
    return {all_together_.flags, &all_together_};
  }
  sync_allreduce_.run_in_lines([&](std::byte* line) { write(*new (line) sync_summary, flags, what); });
  bool reduce = what == riding::operand;
  for (int r = 0; r < nprocs_; ++r) {
    if (r == pid_) continue;
    flags |= line_of(r).flags;
    reduce |= line_of(r).reduces != 0;
  }
  if (reduce) [[unlikely]]
    return combine_lines();
  if (nprocs_ != 2) return {flags};
  // Summaries are read in place. This process reads its own line only if necessary, because the
  // cache line has moved to the other process.
  const bool to_itself = what == riding::put && box().begin()->peer == pid_;
  return {flags, &line_of(1 - pid_), to_itself ? &line_of(pid_) : nullptr};
}

// Combines in rank order on all processes, so that all get the same bits.
process::met process::combine_lines() {
  combine_summaries(&line_of(0), &line_of(1), &all_together_, 1, &riding_reduction_);
  for (int r = 2; r < nprocs_; ++r)
    combine_summaries(&all_together_, &line_of(r), &all_together_, 1, &riding_reduction_);
  return {all_together_.flags, &all_together_};
}

// Called after the meeting. A put that does not fit is reported at the end of the sync, because the
// others wait for the rest of this process's work in it.
[[gnu::always_inline]] inline void process::get_off(const sync_summary& come,
                                                    std::optional<riding_put>& misfit) {
  if (come.reduces != 0) {
    if (riding_reduction_.root < 0 || riding_reduction_.root == pid_)
      compute::copy(riding_reduction_.data, come.room, riding_reduction_.bytes());
    riding_reduction_.count = 0;
    return;
  }
  const auto take = [&](const riding_put& p) {
    if (p.to != pid_) return;
    if (const area* const a = memory_.find(p.far_slot, p.far_offset, p.bytes)) [[likely]]
      compute::copy(a->base + p.far_offset, p.inside, p.bytes);
    else
      misfit = p;
  };
  take(come[0]);
  if (come.used > sizeof(riding_put)) take(come[1]);
}

void process::refuse_riding_put(const riding_put& p) {
  message m{};
  m.bytes = p.bytes;
  m.far_slot = p.far_slot;
  m.far_offset = p.far_offset;
  m.come_from(p.from, direction::put);
  std::string diagnostic;
  report_misfit(memory_, m, pid_, diagnostic);
  detail::refuse(all_, "sync", "offset", diagnostic,
                 "register more memory on that process, and sync before you use it");
}

// Called after collectives with functions of the program. If one threw on any process, values may
// be wrong on all. So this sync fails on all.
void process::agree_on_thrown() {
  std::uint32_t mine = summaries::syncing;
  if (thrown_.what != nullptr) {
    mine |= summaries::failed;
    try {
      refuse_thrown();
    } catch (...) {  // thrown below, by fail_with_others()
    }
  }
  const std::uint32_t all = meet(mine, riding::nothing).flags;
  if ((all & summaries::failed) != 0) fail_with_others(mine, all);
}

void process::begin_nested(const char* call) {
  nesting_call_ = call;
  if (refuses_calls_) throw_refused_call(call);
  const std::uint32_t mine = summaries::nesting | (failure_ != nullptr ? summaries::failed : 0);
  const std::uint32_t all = meet(mine, riding::nothing).flags;
  if ((all & (summaries::failed | summaries::leaving | summaries::syncing)) != 0) fail_with_others(mine, all);
  nested_ = refuses_calls_ = true;
}

void process::sync() {
  check_thread_("sync");
  if (refuses_calls_) [[unlikely]]
    throw_refused_call("sync");
  try {
    sync_at_once();
  } catch (...) {
    calls_.forget();
    riding_reduction_.count = 0;
    thrown_ = {};
    if (failure_ == nullptr) failure_ = std::current_exception();
    throw;
  }
}

void process::sync_at_once() {
  std::uint32_t mine = summaries::syncing;
  riding rides = riding::nothing;
  if (failure_ != nullptr) [[unlikely]] {
    mine |= summaries::failed;
  } else {
    rides = what_rides();
    if (rides != riding::put && !box().empty()) mine |= exchange_->hand_over(box(), superstep_);
    if (calls_.size() > 1) mine |= summaries::many_calls;
    if (may_throw_) mine |= summaries::may_throw;
    mine |= summaries::known_digest(digest_);
  }
  const met together = meet(mine, rides);
  const std::uint32_t all = together.flags;
  if ((all & (summaries::failed | summaries::leaving | summaries::nesting)) != 0) [[unlikely]]
    fail_with_others(mine, all);
  if (check_ != nullptr) [[unlikely]]
    compare_superstep();  // its report has more detail
  if ((all & summaries::differing) != 0 || summaries::digests_differ(all)) [[unlikely]]
    fail_with_others(mine, all);
  std::optional<riding_put> misfit;
  if (together.first != nullptr && together.first->used != 0) get_off(*together.first, misfit);
  if (together.second != nullptr) [[unlikely]]
    get_off(*together.second, misfit);
  if (!calls_.empty() || (all & summaries::many_calls) != 0)
    calls_.carry_out((all & summaries::many_calls) != 0);
  if ((all & summaries::messages) != 0) exchange_->take(box(), superstep_, all);
  if (made_calls_) calls_.forget();
  if ((all & summaries::may_throw) != 0) agree_on_thrown();
  made_calls_ = may_throw_ = false;
  digest_ = 0;
  if (misfit) [[unlikely]]
    refuse_riding_put(*misfit);
  memory_.at_sync();
  ++superstep_;
  box().renew();
}

// compare() throws on all processes, so no process needs to be informed.
void process::compare_superstep() {
  try {
    check_->compare(superstep_, superstep_ - first_superstep_,
                    unbounded_ || count_sent_ != 0 ? SIZE_MAX : box().allowed());
  } catch (...) {
    known_digest_ = refuses_calls_ = true;
    another_reports_ = pid_ != 0;
    throw;
  }
}

bool process::leave() noexcept {
  if (known_digest_) return left_alone_;
  if (!detail::is_usable(all_)) return false;
  try {
    const std::uint32_t mine = summaries::leaving | (failure_ != nullptr ? summaries::failed : 0);
    const std::uint32_t all = meet(mine, riding::nothing).flags;
    if ((all & (summaries::syncing | summaries::nesting)) != 0) fail_with_others(mine, all);
    if ((all & summaries::failed) != 0) return false;
  } catch (...) {
    // A process that has come to its end has nothing left that can fail.
  }
  return failure_ == nullptr || left_alone_;
}

}  // namespace tutti::bsp
