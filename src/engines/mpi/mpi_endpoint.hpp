// SPDX-License-Identifier: Apache-2.0
//
// The endpoint of a rank that is an MPI process. It stores the messages in progress in a table of
// its own, not in the caller's memory. So it can cancel what an exception leaves behind before the
// buffers are freed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/mpi/failure_monitor.hpp"
#include "engines/mpi/long_wait.hpp"
#include "engines/mpi/mpi_base.hpp"
#include "engines/mpi/mpi_conditions.hpp"
#include "engines/mpi/mpi_types.hpp"
#include "transport/message_endpoint.hpp"

namespace tutti::mpi {

/// A message in progress.
struct message {
  MPI_Request request;
  std::uint32_t generation;  // of its row; changes when the message is complete
  bool busy, receives;
  int peer;  // job rank
  std::size_t bytes;
  // In checked mode a receive starts only when the length of its message is known; `unseen` until
  // then.
  bool unseen;
  MPI_Comm comm;
  int from, tag;
  void* into;
};

/// The contents of a transfer.
struct ticket {
  std::uint32_t row, generation;
};
static_assert(sizeof(ticket) <= sizeof(transfer) && alignof(ticket) <= alignof(transfer));

/// A message in the library's own memory: sent from a copy, or received and discarded.
struct kept_message {
  std::unique_ptr<std::byte[]> data;
  transfer moving;
};

class mpi_p2p_transport;
class group_messages;
class mpi_endpoint;

/// A wait that progresses `meanwhile` (progress_inside_mpi.cpp).
struct progressed_wait {
  mpi_endpoint& ep;
  rank_progress& meanwhile;
  progressed_wait* outer;       // the enclosing wait of this thread
  progressed_wait* outer_here;  // the enclosing wait of this endpoint
  bool in_collective = false;   // of MPI
  bool busy = false;
  std::exception_ptr failed = nullptr;
  double failed_at = 0;
};

class mpi_endpoint final : public message_endpoint {
 public:
  /// Collective over `job`, which the caller keeps: the endpoint works on duplicates. Throws
  /// usage_error on all ranks if TUTTI_NODES does not fit them, or if one has an invalid
  /// TUTTI_DEADLOCK_AFTER. `shared`: the program's messages use this communicator of the same
  /// ranks, on which the program calls MPI too. Null: they use a duplicate.
  mpi_endpoint(MPI_Comm job, bool check, MPI_Comm shared = MPI_COMM_NULL);
  ~mpi_endpoint();

  std::string_view engine() const noexcept override { return "mpi"; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  const hierarchy& layout() const noexcept override { return layout_; }
  std::span<const engine_condition> conditions() const noexcept override { return conditions_; }
  bool any_thread() const noexcept override { return any_thread_; }
  std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) override;
  std::unique_ptr<context> open_locally(const group& members, const group_name& name) override;

  void pause(const shm::wait_site& site) override {
    if (watchful_) [[unlikely]]
      pause_watchful(site);
    else if ((++pauses_ & 1023) == 0) [[unlikely]]
      look(site);
  }
  void progressed() noexcept override { ++progress_; }
  [[noreturn]] void kill_job(const std::string& why) override { end_job(rank_, why); }
  bool progresses_inside() const noexcept override { return !begins_natives_; }
  void wait_inside(rank_progress& meanwhile, void (*wait)(void*), void* state) override;
  void progress_in_wait(progressed_wait& mine) noexcept;
  void enter_wait(progressed_wait* one) noexcept {
    wait_ = one;
    watchful_ = crowded_ || one != nullptr;
  }
  /// The blocking MPI collective that this rank is in.
  native_word& native_now() noexcept { return native_; }
  /// Whether this rank is about to call MPI_Abort, which may call exit().
  bool aborts() const noexcept { return aborts_.load(std::memory_order_relaxed); }
  /// Called before and after a blocking MPI collective.
  void in_collective(bool is) noexcept {
    if (wait_ != nullptr) wait_->in_collective = is;
  }

  // --- For the contexts of this endpoint.
  message& begin_message(transfer& t, bool receives, int peer, std::size_t bytes) {
    if (free_ == none) [[unlikely]]
      grow();
    const std::uint32_t row = free_;
    message& m = messages_[row];
    free_ = m.generation;
    m.generation = ++generation_;
    m.busy = true;
    m.receives = receives;
    m.peer = peer;
    m.bytes = bytes;
    m.unseen = false;
    *reinterpret_cast<ticket*>(t.state) = {row, m.generation};
    return m;
  }
  bool finished(transfer& t, const shm::wait_site& site) {
    const ticket own = *reinterpret_cast<const ticket*>(t.state);
    message& m = messages_[own.row];
    if (!m.busy || m.generation != own.generation) [[unlikely]]
      throw_abandoned(site);
    if (m.unseen && !see(own.row, site)) [[unlikely]]
      return false;
    int flag = 0;
    MPI_Status status;
    const int code = MPI_Test(&m.request, &flag, m.receives ? &status : MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_transfer_error(own.row, code, site);
    if (!flag) return false;
    if (m.receives) check_length(own.row, status, site);
    end_message(own.row);
    return true;
  }
  void end_message(std::uint32_t row) noexcept {
    messages_[row].busy = false;
    messages_[row].generation = free_;
    free_ = row;
    ++progress_;
  }
  void end_message(const transfer& t) noexcept { end_message(reinterpret_cast<const ticket*>(t.state)->row); }
  /// As finished(), for a receive whose buffer may be longer than the message or, then `longer`,
  /// too short. `shared` is a communicator of the program, or null. Its error handler is not called
  /// for this error.
  bool finished_with(transfer& t, MPI_Status& status, bool& longer, MPI_Comm shared,
                     const shm::wait_site& site);
  /// Ends a receive so that its buffer may be freed. It may have received its message.
  void cancel(transfer& t) noexcept;
  [[noreturn]] void throw_abandoned(const shm::wait_site& site);
  /// Throws the error of a message whose length differs; without `came` it is longer by an unknown number.
  [[noreturn]] void refuse_length(int peer, std::size_t expected, std::optional<std::size_t> came,
                                  const shm::wait_site& site);
  tutti::mpi::types& types() noexcept { return *types_; }
  int tag_mask() const noexcept { return tag_mask_; }
  int max_tag() const noexcept { return max_tag_; }
  bool checks() const noexcept { return failure_monitor_->checks(); }
  /// Whether blocking MPI collectives are begun and polled. The same on all ranks of the job.
  bool begins_natives() const noexcept { return begins_natives_; }
  /// Polls until the nonblocking MPI collective is complete.
  void wait_for_native(MPI_Request& request, const char* operation, const shm::wait_site& site) {
    native_begun();
    for (int flag = 0;;) {
      check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), operation, rank_);
      if (flag) break;
      pause(site);
    }
    native_over();
  }
  /// Counts MPI collectives in progress, which cannot be cancelled.
  void native_begun() noexcept { ++natives_; }
  void native_over() noexcept { --natives_, ++progress_; }
  /// Frees a communicator that is not used any more. After a failure it is kept, because other
  /// ranks may still send on it.
  void retire(MPI_Comm comm) noexcept;

  // --- Point-to-point messages (p2p_end.cpp).
  /// Registers a transport. If the job fails, it receives the messages that it has found.
  void serves(mpi_p2p_transport& one) { p2p_transports_.push_back(&one); }
  void serves_no_more(mpi_p2p_transport& one) noexcept { std::erase(p2p_transports_, &one); }
  /// Whether MPI is usable and the job has not failed.
  bool may_talk() const noexcept;
  /// Removes the messages that are complete.
  void reap(std::vector<kept_message>& some);
  /// Called at the end of a transport. Its communicator (unless null) is freed when `left` is
  /// complete.
  void retire_p2p(MPI_Comm comm, std::vector<kept_message> left) noexcept;
  /// Receives and discards a message.
  void take_in(MPI_Message found, std::size_t bytes);

  // --- The end of a run.
  /// Sets the function that reports this rank's failure, if the job reports that one. If it is
  /// empty, only end_job() reports.
  void report_by(std::function<void(int rank, const std::string& text)> how) { report_ = std::move(how); }
  /// Records what the program threw on this rank.
  void failed(std::exception_ptr what, const std::string& text);
  /// Waits until all ranks have ended the program. Aborts the job if they do not after a failure.
  outcome end();

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  void grow();
  void pause_watchful(const shm::wait_site& site);
  void pause_crowded(const shm::wait_site& site);
  void look(const shm::wait_site& site);
  bool see(std::uint32_t row, const shm::wait_site& site);
  void abandon(const char* why);
  template <class Error>
  [[noreturn]] void give_up(const Error& e) {
    abandon(e.what());
    throw e;
  }
  bool open_sends();
  void check_length(std::uint32_t row, MPI_Status& status, const shm::wait_site& site);
  [[noreturn]] void throw_transfer_error(std::uint32_t row, int code, const shm::wait_site& site);
  [[noreturn]] void throw_failure(const shm::wait_site& site);
  [[noreturn]] void end_job(int rank, const std::string& text);
  void report(const std::string& text);
  bool complete(MPI_Request& request, double& deadline, double began);
  void settle(double deadline);
  void drain();
  void drain(MPI_Comm comm);
  MPI_Comm duplicate(MPI_Comm from, std::uint64_t id);
  bool p2p_has_ended() noexcept;
  void end_p2p() noexcept;

  mpi_endpoint() = default;
  static bool can_progress_inside() noexcept;
  void end_wait_inside() noexcept;
  void survey(const std::exception_ptr& refused);
  hierarchy pretended(std::string_view text) const;

  struct retired {
    MPI_Comm comm;
    std::vector<kept_message> left;
  };

  MPI_Comm job_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL, p2p_ = MPI_COMM_NULL, groups_ = MPI_COMM_NULL;
  MPI_Comm shared_ = MPI_COMM_NULL;  // the program's; p2p_ is null then
  int rank_ = 0, size_ = 1, tag_mask_ = 0, max_tag_ = 0;
  bool watchful_ = false;  // a pause does more than count
  bool crowded_ = false, begins_natives_ = true, called_by_mpi_ = false, any_thread_ = false;
  progressed_wait* wait_ = nullptr;
  hierarchy layout_;
  std::array<engine_condition, std::size(mpi_conditions)> conditions_{};
  std::uint32_t free_ = none, generation_ = 0;
  std::uint64_t pauses_ = 0, progress_ = 0, progress_seen_ = 0;
  double looked_ = 0, progress_since_ = 0, waiting_since_ = 0;
  int natives_ = 0;
  std::vector<message> messages_;
  std::vector<MPI_Comm> opened_;  // communicators on which other ranks may still send
  std::vector<mpi_p2p_transport*> p2p_transports_;
  std::unique_ptr<group_messages> post_;  // for groups that were made without a message
  std::vector<retired> retired_;
  std::optional<tutti::mpi::types> types_;
  std::optional<failure_monitor> failure_monitor_;
  native_word native_{0};
  std::optional<long_wait> waits_;  // not in checked mode
  std::atomic<bool> aborts_{false};
  // The program's exception on this rank, and whether it is a cause. A cause is no peer_error, and
  // was thrown before a wait of this rank was aborted.
  std::exception_ptr thrown_;
  std::string thrown_text_;
  bool cause_ = false, taken_out_ = false;
  std::function<void(int rank, const std::string& text)> report_;
  bool reported_ = false;
};

}  // namespace tutti::mpi
