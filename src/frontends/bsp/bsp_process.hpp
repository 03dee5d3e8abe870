// SPDX-License-Identifier: Apache-2.0
//
// A process of a section: its registered memory, its scheduled operations, and the sync that
// carries them out.
//
// A sync hands over the messages, combines the sync summaries of all processes, runs the
// collectives, and delivers the received messages. The combined summary states what there is to do.
// If one process has failed or has left, the summary has a flag for it, and the sync fails on all
// processes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "frontends/bsp/collective_calls.hpp"
#include "frontends/bsp/exchange.hpp"
#include "frontends/bsp/memory_register.hpp"
#include "frontends/bsp/outbox.hpp"
#include "frontends/bsp/repeated_allreduce.hpp"
#include "frontends/bsp/superstep_check.hpp"
#include "frontends/bsp/sync_summary.hpp"
#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::bsp {

class process {
 public:
  process(detail::communicator_impl& all, bool unbounded);
  process(const process&) = delete;

  int pid() const noexcept { return pid_; }
  int nprocs() const noexcept { return nprocs_; }
  const char* engine() const noexcept { return detail::engine_of(all_).data(); }  // a literal
  bool failed() const noexcept { return failure_ != nullptr; }
  const machine_costs& measured() const noexcept { return costs_; }

  bool resize_memory_register(std::size_t entries);
  bool resize_queue(std::size_t messages);
  bool register_memory(bool global, void* base, std::size_t bytes, slot& made);
  void deregister(slot s);
  bool put(slot from, std::size_t from_offset, int to, slot into, std::size_t offset, std::size_t bytes) {
    begin_call("put");
    if (check_ != nullptr) [[unlikely]]
      check_registered_earlier("put", "src_slot", from);
    return add_put(local_address("put", "src_slot", from, from_offset, bytes), to, into, offset, bytes);
  }
  bool get(int from, slot source, std::size_t source_offset, slot into, std::size_t offset,
           std::size_t bytes) {
    begin_call("get");
    if (check_ != nullptr) [[unlikely]]
      check_registered_earlier("get", "dst_slot", into);
    return add_get(from, source, source_offset, local_address("get", "dst_slot", into, offset, bytes), bytes);
  }
  /// The memory need not be registered.
  bool put(const void* data, int to, slot into, std::size_t offset, std::size_t bytes) {
    begin_call("put");
    return add_put(data, to, into, offset, bytes);
  }
  bool get(int from, slot source, std::size_t source_offset, void* into, std::size_t bytes) {
    begin_call("get");
    return add_get(from, source, source_offset, into, bytes);
  }
  TUTTI_API void sync();
  bool leave() noexcept;
  /// Whether this process has failed by an error that another process throws too.
  bool reported_by_another() const noexcept { return reported_by_another_; }
  /// In checked mode: messages to this process do not count in its queue.
  void count_sent_only() noexcept { ++count_sent_; }
  /// Reverts one call of count_sent_only().
  void count_all() noexcept { --count_sent_; }
  /// Collective: all processes begin a section within this one, over the same communicator. This
  /// process does not sync until end_nested().
  void begin_nested(const char* call);
  void end_nested() noexcept {
    nested_ = false;
    rejects_calls_ = failure_reported_;
  }
  void set_call_site(call_site where) noexcept { site_ = where; }

  void validate_thread(const char* operation) const {
    if (!validate_thread_.is_current_rank()) [[unlikely]]
      reject_thread(operation);
  }
  bool may_call_here() const noexcept { return detail::is_usable(all_); }
  void validate_collectives_init(unsigned s, unsigned p, unsigned hi);
  [[noreturn]] void reject_for_frontend(const char* operation, const char* parameter,
                                        std::string_view problem, const char* remedy) {
    begin_call(operation);
    reject(operation, parameter, std::string(problem), remedy);
  }
  bool make_process_set(int first, int last, int stride, const abi::limits& capacity, process_set_id& made);
  void free_process_set(process_set_id m);
  bool rooted(collective what, process_set_id m, slot from, slot into, std::size_t bytes, int root,
              bool skip_own_block);
  bool unrooted(collective what, process_set_id m, slot from, slot into, std::size_t bytes,
                bool skip_own_block);
  bool reduce(process_set_id m, void* data, slot where, std::size_t count, const reduction_operator& how,
              int root, bool single_element);

 private:
  /// Records that this process cannot continue, reports it in the next sync, and throws.
  [[noreturn]] void reject(const char* operation, const char* parameter, const std::string& problem,
                           const char* remedy);
  /// The beginning of each call of the program. Throws usage_error if another thread calls than the
  /// one that runs this process; the process has then not failed. Throws the error of a failure.
  void begin_call(const char* operation) {
    validate_thread(operation);
    if (failure_ != nullptr) [[unlikely]]
      throw_failure();
  }
  /// Returns if any thread may call.
  TUTTI_API void reject_thread(const char* operation) const;
  [[noreturn]] TUTTI_API void throw_failure();
  bool is_process(int pid) const noexcept {
    return static_cast<unsigned>(pid) < static_cast<unsigned>(nprocs_);
  }
  [[noreturn]] TUTTI_API void reject_remote(message_kind kind, int peer);
  /// Adds a message to the outbox of this superstep, without its local side. Null: the outbox is
  /// full.
  message* new_message(int peer, slot remote, std::size_t offset, std::size_t bytes, message_kind kind) {
    if (!is_process(peer) || !memory_register::is_global(remote)) [[unlikely]]
      reject_remote(kind, peer);
    outbox& out = current_outbox();
    if (out.full()) [[unlikely]] {
      if (!unbounded_) return nullptr;
      out.grow();
    }
    message& m = out.add();
    m.bytes = bytes;
    m.remote_slot = remote;
    m.remote_offset = offset;
    m.peer = peer;
    m.set_origin(pid_, kind);
    return &m;
  }
  bool add_put(const void* data, int to, slot into, std::size_t offset, std::size_t bytes) {
    message* const m = new_message(to, into, offset, bytes, message_kind::put);
    if (m == nullptr) return false;
    m->source = static_cast<const std::byte*>(data);
    if (check_ != nullptr) [[unlikely]]
      check_->add_message(site_, *m);
    return true;
  }
  bool add_get(int from, slot source, std::size_t source_offset, void* into, std::size_t bytes) {
    message* const m = new_message(from, source, source_offset, bytes, message_kind::get);
    if (m == nullptr) return false;
    m->target = static_cast<std::byte*>(into);
    if (check_ != nullptr) [[unlikely]]
      check_->add_message(site_, *m);
    return true;
  }
  [[noreturn]] TUTTI_API void reject_local(const char* operation, const char* parameter, slot s,
                                           std::size_t offset, std::size_t bytes);
  std::byte* local_address(const char* operation, const char* parameter, slot s, std::size_t offset,
                           std::size_t bytes) {
    const area* const a = memory_.find(s, offset, bytes);
    if (a == nullptr) [[unlikely]]
      reject_local(operation, parameter, s, offset, bytes);
    return a->base + offset;
  }
  TUTTI_API void check_registered_earlier(const char* operation, const char* parameter, slot s);
  [[noreturn]] void reject_piggybacked_put(const piggybacked_put& p);
  /// The memory of a slot for a collective. Null if the collective does not access it.
  std::byte* collective_buffer(const char* operation, const char* parameter, slot s, std::size_t bytes,
                               bool accessed);
  /// The combined flags, and the summaries that carry data.
  struct exchanged_summaries {
    std::uint32_t flags;
    const sync_summary* first = nullptr;
    const sync_summary* second = nullptr;
    bool puts_of_many = false;  // of more than two processes; the lines hold them
  };
  void prepare_summary_allreduce();
  /// The data that a sync summary carries.
  enum class piggyback : std::uint8_t { none, operand, put };
  piggyback choose_piggyback() noexcept;
  void fill_summary(sync_summary& into, std::uint32_t flags, piggyback data) noexcept;
  exchanged_summaries exchange_summaries(std::uint32_t flags, piggyback data);
  /// The summary of process r, after an exchange by line_exchange.
  const sync_summary& line_of(int r) const noexcept {
    return *std::launder(reinterpret_cast<const sync_summary*>(sync_allreduce_.of(r)));
  }
  exchanged_summaries combine_lines();
  void unpack_summary(const sync_summary& summary, std::optional<piggybacked_put>& out_of_range);
  void unpack_lines(std::optional<piggybacked_put>& out_of_range);
  [[noreturn]] void fail_on_all(std::uint32_t mine, std::uint32_t all);
  std::exception_ptr make_peer_failure(std::uint32_t mine, std::uint32_t all, std::uint32_t why,
                                       const std::array<int, 2>& who);
  void run_sync();
  [[noreturn]] void throw_stored_exception();
  void agree_on_exceptions();
  [[noreturn]] void throw_rejected_call(const char* operation);
  void compare_superstep();
  member_set& set_of(const char* operation, process_set_id m);
  bool has_capacity(const char* operation, member_set& s, std::size_t count, std::size_t bytes, bool element);
  void add_to_digest(const member_set& s, collective what, std::size_t count, std::size_t size, int root);
  void record_call(const char* operation, const member_set& s, std::size_t count, std::size_t size, int root);
  void record_accesses(const void* first, std::size_t blocks, std::size_t bytes, int without, bool writes);
  bool try_piggyback(member_set& s, piggybacked_reduction one);
  void schedule_reduction(member_set& s, const piggybacked_reduction& r);
  void validate_root(const char* operation, const member_set& s, int root);
  void measure();
  void broadcast_bytes(void* data, std::size_t bytes);
  double time_of_superstep(slot from, slot into, std::size_t count, std::size_t bytes, int times);

  detail::communicator_impl& all_;
  detail::thread_validation validate_thread_;
  int& deferrals_;  // for deferred_rejections
  int pid_, nprocs_;
  bool unbounded_;
  unsigned count_sent_ = 0;  // number of objects for which incoming messages do not count
  memory_register memory_;
  std::shared_ptr<outboxes> boxes_;
  // first_superstep_: the first one of the program. The library measures the machine before it.
  std::uint64_t superstep_ = 0, first_superstep_ = 0;
  std::unique_ptr<exchange> exchange_;
  collective_calls calls_;
  std::exception_ptr failure_;
  bool summary_has_payload_;          // the summary can carry data
  std::size_t max_piggybacked_puts_;  // of this process; 0: puts travel outside the summary
  piggybacked_reduction piggybacked_reduction_;
  sync_summary local_summary_, combined_summary_;
  repeated_allreduce sync_allreduce_;
  std::uint32_t digest_ = 0;       // of the collectives on all processes since the last sync
  bool made_calls_ = false;        // since the last sync
  bool may_throw_ = false;         // one of these calls has a function of the program
  bool failure_reported_ = false;  // to all processes
  bool reported_by_another_ = false;
  bool nested_ = false;  // a section within this one runs
  const char* nesting_call_ = "";
  bool rejects_calls_ = false;  // failure_reported_ or nested_
  bool peers_left_ = false;     // this process has failed only because others do not sync
  thrown_in_call thrown_;       // since the last sync
  call_site site_;
  std::unique_ptr<superstep_check> check_;  // in checked mode
  machine_costs costs_;

  outbox& current_outbox() noexcept { return (*boxes_)[superstep_ % 2]; }
};

}  // namespace tutti::bsp
