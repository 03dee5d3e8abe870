// SPDX-License-Identifier: Apache-2.0
//
// A process of a section: its registered memory, its scheduled operations, and the sync that
// carries them out.
//
// A sync hands over the messages, exchanges a sync summary with all others (the meeting), runs the
// collectives, and delivers what has arrived. The summary states what there is to do. If one
// process has failed or has left, the summary says so, and the sync fails on all processes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "communicator/repeated_allreduce.hpp"
#include "frontends/bsp/collective_calls.hpp"
#include "frontends/bsp/exchange.hpp"
#include "frontends/bsp/memory_register.hpp"
#include "frontends/bsp/outbox.hpp"
#include "frontends/bsp/superstep_check.hpp"
#include "frontends/bsp/sync_summary.hpp"
#include "tutti/detail/bsp_abi.hpp"

namespace tutti::bsp {

class process {
 public:
  process(detail::communicator_impl& all, bool unbounded);
  process(const process&) = delete;

  int pid() const noexcept { return pid_; }
  int nprocs() const noexcept { return nprocs_; }
  const char* engine() const noexcept { return detail::engine_of(all_).data(); }  // names are literals
  bool failed() const noexcept { return failure_ != nullptr; }
  const figures& measured() const noexcept { return figures_; }

  bool resize_register(std::size_t entries);
  bool resize_queue(std::size_t messages);
  bool add(bool global, void* base, std::size_t bytes, slot& made);
  void remove(slot s);
  bool put(slot from, std::size_t from_offset, int to, slot into, std::size_t offset, std::size_t bytes) {
    refuse_failed();
    if (check_ != nullptr) [[unlikely]]
      check_fresh("put", "src_slot", from);
    return put(near_place("put", "src_slot", from, from_offset, bytes), to, into, offset, bytes);
  }
  bool get(int from, slot source, std::size_t source_offset, slot into, std::size_t offset,
           std::size_t bytes) {
    refuse_failed();
    if (check_ != nullptr) [[unlikely]]
      check_fresh("get", "dst_slot", into);
    return get(from, source, source_offset, near_place("get", "dst_slot", into, offset, bytes), bytes);
  }
  /// For memory that need not be registered.
  bool put(const void* data, int to, slot into, std::size_t offset, std::size_t bytes) {
    message* const m = new_message(to, into, offset, bytes, direction::put);
    if (m == nullptr) return false;
    m->reads = static_cast<const std::byte*>(data);
    if (check_ != nullptr) [[unlikely]]
      check_->schedules(site_, *m);
    return true;
  }
  bool get(int from, slot source, std::size_t source_offset, void* into, std::size_t bytes) {
    message* const m = new_message(from, source, source_offset, bytes, direction::get);
    if (m == nullptr) return false;
    m->writes = static_cast<std::byte*>(into);
    if (check_ != nullptr) [[unlikely]]
      check_->schedules(site_, *m);
    return true;
  }
  void sync();
  bool leave() noexcept;
  /// Whether this process has failed by an error that another process throws too.
  bool another_reports() const noexcept { return another_reports_; }
  /// In checked mode: messages to this process do not count in its queue.
  void count_sent_only() noexcept { ++count_sent_; }
  /// Reverts one call of count_sent_only().
  void count_all() noexcept { --count_sent_; }
  /// Collective: all processes begin a section within this one, over the same communicator. This
  /// process does not sync until end_nested().
  void begin_nested(const char* call);
  void end_nested() noexcept {
    nested_ = false;
    refuses_calls_ = known_digest_;
  }
  void report_site(call_site where) noexcept { site_ = where; }

  void check_process(unsigned s, unsigned p, unsigned hi);
  [[noreturn]] void refuse_from_outside(const char* operation, const char* parameter,
                                        std::string_view problem, const char* remedy) {
    refuse_failed();
    refuse(operation, parameter, std::string(problem), remedy);
  }
  bool make_members(int first, int last, int stride, const abi::limits& most, members& made);
  void end_members(members m);
  bool rooted(collective what, members m, slot from, slot into, std::size_t bytes, int root,
              bool without_own);
  bool unrooted(collective what, members m, slot from, slot into, std::size_t bytes, bool without_own);
  bool combine(members m, void* data, slot where, std::size_t count, const combining& how, int root,
               bool whole);

 private:
  /// Records that this process cannot continue, so that the others learn of it, and throws.
  [[noreturn]] void refuse(const char* operation, const char* parameter, const std::string& problem,
                           const char* remedy);
  void refuse_failed() {
    if (failure_ != nullptr) [[unlikely]]
      throw_failure();
  }
  [[noreturn]] void throw_failure();
  bool is_process(int pid) const noexcept {
    return static_cast<unsigned>(pid) < static_cast<unsigned>(nprocs_);
  }
  [[noreturn]] void refuse_far(direction way, int peer);
  /// Adds a message to the outbox of this superstep, without its local side. Null: the outbox is
  /// full.
  message* new_message(int peer, slot far, std::size_t offset, std::size_t bytes, direction way) {
    refuse_failed();
    if (!is_process(peer) || !memory_register::is_global(far)) [[unlikely]]
      refuse_far(way, peer);
    outbox& out = box();
    if (out.full()) [[unlikely]] {
      if (!unbounded_) return nullptr;
      out.grow();
    }
    message& m = out.add();
    m.bytes = bytes;
    m.far_slot = far;
    m.far_offset = offset;
    m.peer = peer;
    m.come_from(pid_, way);
    return &m;
  }
  [[noreturn]] void refuse_near(const char* operation, const char* parameter, slot s, std::size_t offset,
                                std::size_t bytes);
  std::byte* near_place(const char* operation, const char* parameter, slot s, std::size_t offset,
                        std::size_t bytes) {
    const area* const a = memory_.find(s, offset, bytes);
    if (a == nullptr) [[unlikely]]
      refuse_near(operation, parameter, s, offset, bytes);
    return a->base + offset;
  }
  void check_fresh(const char* operation, const char* parameter, slot s);
  [[noreturn]] void refuse_riding_put(const riding_put& p);
  std::byte* touched(const char* operation, const char* parameter, slot s, std::size_t bytes, bool touches);
  /// The combined result of a meeting, and the summaries that carry data.
  struct met {
    std::uint32_t flags;
    const sync_summary* first = nullptr;
    const sync_summary* second = nullptr;
  };
  void prepare_meeting();
  /// The data that a sync summary carries.
  enum class riding : std::uint8_t { nothing, operand, put };
  riding what_rides() noexcept;
  void write(sync_summary& into, std::uint32_t flags, riding what) noexcept;
  met meet(std::uint32_t flags, riding what);
  /// The summary of process r, after a meeting by line_exchange.
  const sync_summary& line_of(int r) const noexcept {
    return *std::launder(reinterpret_cast<const sync_summary*>(sync_allreduce_.of(r)));
  }
  met combine_lines();
  void get_off(const sync_summary& come, std::optional<riding_put>& misfit);
  [[noreturn]] void fail_with_others(std::uint32_t mine, std::uint32_t all);
  std::exception_ptr failure_by_others(std::uint32_t mine, std::uint32_t all, std::uint32_t why,
                                       const std::array<int, 2>& who);
  void sync_at_once();
  [[noreturn]] void refuse_thrown();
  void agree_on_thrown();
  [[noreturn]] void throw_refused_call(const char* operation);
  void compare_superstep();
  member_set& set_of(const char* operation, members m);
  bool has_room(const char* operation, member_set& s, std::size_t count, std::size_t bytes, bool element);
  void agree_on(const member_set& s, collective what, std::size_t count, std::size_t size, int root);
  void report_check(const char* operation, const member_set& s, std::size_t count, std::size_t size,
                    int root);
  void report_blocks(const void* first, std::size_t blocks, std::size_t bytes, int without, bool writes);
  bool ride(member_set& s, riding_reduction one);
  void schedule_combination(member_set& s, const riding_reduction& what);
  void check_root(const char* operation, const member_set& s, int root);
  void measure();
  void tell(void* data, std::size_t bytes);
  double time_of_superstep(slot from, slot into, std::size_t count, std::size_t bytes, int times);

  detail::communicator_impl& all_;
  detail::thread_check check_thread_;
  int pid_, nprocs_;
  bool unbounded_;
  unsigned count_sent_ = 0;  // number of objects for which incoming messages do not count
  memory_register memory_;
  std::shared_ptr<outboxes> boxes_;
  // Of the program; measuring the machine comes before it.
  std::uint64_t superstep_ = 0, first_superstep_ = 0;
  std::unique_ptr<exchange> exchange_;
  collective_calls calls_;
  std::exception_ptr failure_;
  bool roomy_;  // the summary has room for data
  riding_reduction riding_reduction_;
  sync_summary own_, all_together_;
  detail::repeated_allreduce sync_allreduce_;
  std::uint32_t digest_ = 0;   // of the collectives on all processes since the last sync
  bool made_calls_ = false;    // since the last sync
  bool may_throw_ = false;     // one of these calls has a function of the program
  bool known_digest_ = false;  // the others know of the failure
  bool another_reports_ = false;
  bool nested_ = false;  // a section within this one runs
  const char* nesting_call_ = "";
  bool refuses_calls_ = false;  // known_digest_ or nested_
  bool left_alone_ = false;     // it has failed only because others do not sync
  thrown_in_call thrown_;       // since the last sync
  call_site site_;
  std::unique_ptr<superstep_check> check_;  // in checked mode
  figures figures_;

  outbox& box() noexcept { return (*boxes_)[superstep_ % 2]; }
};

}  // namespace tutti::bsp
