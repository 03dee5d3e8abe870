// SPDX-License-Identifier: Apache-2.0
//
// A rank that is an MPI process. It keeps every message under way in a table of its own, not in the caller's
// memory, so that what an exception leaves behind can be cancelled before the buffers go.
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

/// A message under way.
struct message {
  MPI_Request request;
  std::uint32_t generation;  // of its row; changes when the message is over
  bool busy, receives;
  int peer;  // job's rank
  std::size_t bytes;
  // In checked mode a receive waits until it has seen how long its message is.
  bool unseen;
  MPI_Comm comm;
  int from, tag;
  void* into;
};

/// What a transfer holds of it.
struct ticket {
  std::uint32_t row, generation;
};
static_assert(sizeof(ticket) <= sizeof(transfer) && alignof(ticket) <= alignof(transfer));

/// A message whose bytes are the library's own: sent from a copy, or received because nobody wants it.
struct kept_message {
  std::unique_ptr<std::byte[]> data;
  transfer moving;
};

class mpi_p2p_transport;
class group_messages;
class mpi_endpoint;

/// A wait in which `meanwhile` is progressed (progress_inside_mpi.cpp).
struct progressed_wait {
  mpi_endpoint& ep;
  rank_progress& meanwhile;
  progressed_wait* outer;       // of this thread
  progressed_wait* outer_here;  // of the same endpoint
  bool in_collective = false;   // of MPI's
  bool busy = false;
  std::exception_ptr failed = nullptr;
  double failed_at = 0;
};

class mpi_endpoint final : public message_endpoint {
 public:
  /// Collective over `job`, which stays the caller's: the endpoint works on duplicates. Throws usage_error on
  /// all ranks where TUTTI_NODES does not lay them out, or where one has a TUTTI_DEADLOCK_AFTER that is none.
  /// `shared`: the program's own messages travel on this
  /// communicator of the same ranks, on which the program calls MPI too; null: on a duplicate.
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
  /// The blocking collective of MPI's own in which this rank is.
  native_word& native_now() noexcept { return native_; }
  /// Whether this rank is about to end the job by MPI_Abort, which may call exit().
  bool aborts() const noexcept { return aborts_.load(std::memory_order_relaxed); }
  /// Around a blocking collective of MPI's.
  void in_collective(bool is) noexcept {
    if (wait_ != nullptr) wait_->in_collective = is;
  }

  // --- for its contexts
  // ------------------------------------------------------------------------------------------
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
  /// As finished(), of a receive for which its place may be too large, or (`longer`) too small.
  /// On a communicator of the program's (`shared`; else null) its error handler is not called for that.
  bool finished_with(transfer& t, MPI_Status& status, bool& longer, MPI_Comm shared,
                     const shm::wait_site& site);
  /// Ends a receive whose place may go. It may have got its message.
  void cancel(transfer& t) noexcept;
  [[noreturn]] void throw_abandoned(const shm::wait_site& site);
  /// Throws the error of a message whose length differs; without `came` it is longer by an unknown number.
  [[noreturn]] void refuse_length(int peer, std::size_t expected, std::optional<std::size_t> came,
                                  const shm::wait_site& site);
  tutti::mpi::types& types() noexcept { return *types_; }
  int tag_mask() const noexcept { return tag_mask_; }
  int max_tag() const noexcept { return max_tag_; }
  bool checks() const noexcept { return failure_monitor_->checks(); }
  /// Whether blocking collectives of MPI are begun and polled. The same on all ranks of the job.
  bool begins_natives() const noexcept { return begins_natives_; }
  /// Until MPI has done what was begun.
  void wait_for_native(MPI_Request& request, const char* operation, const shm::wait_site& site) {
    native_begun();
    for (int flag = 0;;) {
      check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), operation, rank_);
      if (flag) break;
      pause(site);
    }
    native_over();
  }
  /// Collectives of MPI under way cannot be cancelled.
  void native_begun() noexcept { ++natives_; }
  void native_over() noexcept { --natives_, ++progress_; }
  /// Takes a communicator that is not used any more. After a failure it is kept, since others may still send
  /// there.
  void retire(MPI_Comm comm) noexcept;

  // --- mail (p2p_end.cpp)
  /// Carriers take in what they have found when the job fails.
  void serves(mpi_p2p_transport& one) { p2p_transports_.push_back(&one); }
  void serves_no_more(mpi_p2p_transport& one) noexcept { std::erase(p2p_transports_, &one); }
  /// Whether MPI is there, and the job has not failed.
  bool may_talk() const noexcept;
  /// Lets go of what is complete.
  void reap(std::vector<kept_message>& some);
  /// The end of a carrier: its communicator goes (where it is one) when what it leaves is complete.
  void retire_p2p(MPI_Comm comm, std::vector<kept_message> left) noexcept;
  /// Receives a message that nobody wants.
  void take_in(MPI_Message found, std::size_t bytes);

  // --- the end of a run
  // ------------------------------------------------------------------------------------------
  /// Reports the failure of this rank, if it is the one that the job reports. Empty: nobody but end_job().
  void report_by(std::function<void(int rank, const std::string& text)> how) { report_ = std::move(how); }
  /// What the program threw on this rank.
  void failed(std::exception_ptr what, const std::string& text);
  /// Waits for all ranks to end the program. Ends the job where they do not come after a failure.
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
  MPI_Comm shared_ = MPI_COMM_NULL;  // the program's; then mail_ is null
  int rank_ = 0, size_ = 1, tag_mask_ = 0, max_tag_ = 0;
  bool watchful_ = false;  // where a pause does more than count
  bool crowded_ = false, begins_natives_ = true, called_by_mpi_ = false, any_thread_ = false;
  progressed_wait* wait_ = nullptr;
  hierarchy layout_;
  std::array<engine_condition, std::size(mpi_conditions)> conditions_{};
  std::uint32_t free_ = none, generation_ = 0;
  std::uint64_t pauses_ = 0, progress_ = 0, progress_seen_ = 0;
  double looked_ = 0, progress_since_ = 0, waiting_since_ = 0;
  int natives_ = 0;
  std::vector<message> messages_;
  std::vector<MPI_Comm> opened_;  // of communicators that others may still send to
  std::vector<mpi_p2p_transport*> p2p_transports_;
  std::unique_ptr<group_messages> post_;  // of groups that were made without a message
  std::vector<retired> retired_;
  std::optional<tutti::mpi::types> types_;
  std::optional<failure_monitor> failure_monitor_;
  native_word native_{0};
  std::optional<long_wait> waits_;  // not in checked mode
  std::atomic<bool> aborts_{false};
  // What the program threw on this rank, and whether it is a cause: no peer_error, and thrown
  // before this rank was taken out of a wait.
  std::exception_ptr thrown_;
  std::string thrown_text_;
  bool cause_ = false, taken_out_ = false;
  std::function<void(int rank, const std::string& text)> report_;
  bool reported_ = false;
};

}  // namespace tutti::mpi
