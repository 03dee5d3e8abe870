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
#include "engines/mpi/group_entry.hpp"
#include "engines/mpi/job_trees.hpp"
#include "engines/mpi/long_wait.hpp"
#include "engines/mpi/mpi_base.hpp"
#include "engines/mpi/mpi_conditions.hpp"
#include "engines/mpi/mpi_types.hpp"
#include "engines/mpi/node_counters.hpp"
#include "engines/mpi/node_memory.hpp"
#include "engines/mpi/node_messages.hpp"
#include "engines/mpi/node_p2p.hpp"
#include "engines/mpi/peer_watch.hpp"
#include "engines/mpi/pending_message.hpp"
#include "engines/mpi/rank_info.hpp"
#include "engines/mpi/transport_report.hpp"
#include "transport/message_endpoint.hpp"

namespace tutti::mpi {

/// The owner of the communicators of a context, which frees them.
enum class comm_owner : std::uint8_t {
  endpoint,
  context,  // or the transport of its point-to-point messages
  program   // the program calls MPI on the communicator of the point-to-point messages too
};

/// What a rank requests for its node.
struct node_settings {
  memory_use use_of_memory = memory_use::off;      ///< TUTTI_SHM
  bool several_threads = false;                    ///< MPI_THREAD_MULTIPLE
  bool inner_levels = false;                       ///< TUTTI_NODE_LEVELS
  network_speed network = network_speed::unknown;  ///< TUTTI_NETWORK
  bool prefers_native = false;                     ///< TUTTI_PREFER
};

class mpi_p2p_transport;
class memory_collectives;
class group_messages;
class mpi_endpoint;
/// A wait that progresses `operations` (progress_inside_mpi.cpp).
struct progressed_wait {
  mpi_endpoint& ep;
  rank_progress& operations;
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
  std::string_view trees() const noexcept override { return trees_; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  const hierarchy& topology() const noexcept override { return topology_; }
  int node_level() const noexcept override { return node_level_; }
  std::span<const engine_condition> conditions() const noexcept override { return conditions_; }
  bool any_thread() const noexcept override { return any_thread_; }
  std::vector<std::string> transports() const override;
  std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) override;
  std::unique_ptr<context> open_locally(const group& members, const group_name& name) override;

  void pause(const shm::wait_site& site) override {
    if (node_p2p_ && node_p2p_->progress_is_due())
      progress_on_node();
    else if (node_messages_ && node_messages_->is_busy())
      node_messages_->progress_all();
    if (slow_pause_) [[unlikely]]
      pause_slowly(site);
    else if ((++pauses_ & 1023) == 0) [[unlikely]]
      poll_failures(site);
  }
  void progressed() noexcept override { ++progress_; }
  [[noreturn]] void kill_job(const std::string& why) override { end_job(rank_, why); }
  bool progresses_in_waits() const noexcept override { return !polls_natives_; }
  void wait_with_progress(rank_progress& operations, void (*wait)(void*), void* state) override;
  void progress_in_wait(progressed_wait& mine) noexcept;
  /// Whether waits progress other operations of this rank.
  bool has_other_operations() const noexcept { return wait_ != nullptr; }
  /// Whether the machine has more ranks of the job than cores.
  bool is_oversubscribed() const noexcept { return oversubscribed_; }
  /// Part of each wait: progresses MPI, and throws if the job has failed.
  void poll_failures(const shm::wait_site& site);
  /// The collectives of a group in memory. Null, on all its members, if they share no memory.
  /// Otherwise they may still be closed. Makes `entry` if it is empty. It must outlive the result.
  std::unique_ptr<memory_collectives> open_memory_collectives(const group& members, const group_name& name,
                                                              std::optional<group_entry>& entry);
  node_memory& memory() noexcept { return node_memory_; }
  /// Messages to ranks of this node; null if there is no memory. `rank_on_node`: -1 if the rank of
  /// the job is on another node, or is this one.
  node_messages* messages_on_node() noexcept { return node_messages_ ? &*node_messages_ : nullptr; }
  int rank_on_node(int rank) const noexcept {
    return rank == rank_ ? -1 : rank_on_node_[static_cast<std::size_t>(rank)];
  }
  /// The rank of the job of another rank of this node.
  int job_rank_of(int rank_on_node) const noexcept;
  /// Messages of the program to ranks of this node; null: they use MPI.
  node_p2p* p2p_on_node() noexcept { return node_p2p_ && !leaves_p2p_to_mpi_ ? &*node_p2p_ : nullptr; }
  /// Called before any message, on all ranks: the program waits in MPI too, where only MPI
  /// progresses its own messages.
  void leave_p2p_to_mpi(bool leave) noexcept { leaves_p2p_to_mpi_ = leave; }
  bool finished_on_node(const transfer& t, const shm::wait_site& site) {
    return is_over(node_messages_->advance(t), site);
  }
  /// The same for a transfer of node_p2p.
  bool sent_on_node(const transfer& t, const shm::wait_site& site) {
    return is_over(node_p2p_->advance(t), site);
  }
  bool is_over(node_messages::progress now, const shm::wait_site& site) {
    if (now == node_messages::progress::under_way) return false;
    if (now != node_messages::progress::complete) [[unlikely]]
      throw_not_received(now, site);
    ++progress_;
    look_for_rejections();
    return true;
  }
  /// Progresses the messages in memory of all endpoints of this process. The program may wait on
  /// one of them while its peers wait for messages of another.
  static void progress_on_node();
  /// The same, called by MPI while it waits in a collective.
  static void progress_on_node_inside_mpi() noexcept;
  /// Whether all ranks of the job share it.
  bool has_node_memory() const noexcept { return has_node_memory_; }
  void enter_wait(progressed_wait* one) noexcept {
    wait_ = one;
    slow_pause_ = oversubscribed_ || one != nullptr;
  }
  /// The blocking MPI collective that this rank is in.
  native_word& native_now() noexcept { return native_; }
  /// Whether this rank is about to call MPI_Abort, which may call exit().
  bool aborts() const noexcept { return aborts_.load(std::memory_order_relaxed); }
  /// Called before and after a blocking MPI collective.
  void enter_collective() noexcept {
    if (wait_ != nullptr) wait_->in_collective = true;
  }
  void leave_collective() noexcept {
    if (wait_ != nullptr) wait_->in_collective = false;
  }

  // --- for the contexts of this endpoint
  message& begin_send(transfer& t, int peer, std::size_t bytes) {
    return begin_message(t, false, peer, bytes);
  }
  message& begin_receive(transfer& t, int peer, std::size_t bytes) {
    return begin_message(t, true, peer, bytes);
  }
  bool finished(transfer& t, const shm::wait_site& site) {
    const request_id id = *reinterpret_cast<const request_id*>(t.state);
    message& m = messages_[id.index];
    if (!m.busy || m.generation != id.generation) [[unlikely]]
      throw_abandoned(site);
    if (m.unmatched && !start_if_arrived(id.index, site)) [[unlikely]]
      return false;
    int flag = 0;
    MPI_Status status;
    const int code = MPI_Test(&m.request, &flag, m.receives ? &status : MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_transfer_error(id.index, code, site);
    if (!flag) return false;
    if (m.receives) {
      compare_length(id.index, status, site);
      end_message(id.index);
      look_for_rejections();
    } else {
      end_message(id.index);
    }
    return true;
  }
  void end_message(std::uint32_t index) noexcept {
    messages_[index].busy = false;
    messages_[index].generation = free_;
    free_ = index;
    ++progress_;
  }
  void end_message(const transfer& t) noexcept {
    end_message(reinterpret_cast<const request_id*>(t.state)->index);
  }
  /// Like finished(), for a receive whose buffer may be longer or shorter than the message. If the
  /// buffer is too short, sets `truncated`. `program_comm` is a communicator of the program, or
  /// null. Its error handler is not called for this error.
  bool test_receive(transfer& t, MPI_Status& status, bool& truncated, MPI_Comm program_comm,
                    const shm::wait_site& site);
  /// Ends a receive so that its buffer may be freed. MPI completes a cancelled receive at once,
  /// unless a message has matched it. Then this waits for the contents, however long the sender
  /// computes. If the job fails meanwhile, it ends as in every other wait. If MPI fails, this ends
  /// the job.
  void end_receive(transfer& t) noexcept;
  [[noreturn]] void throw_abandoned(const shm::wait_site& site);
  /// Throws the error of a message whose length differs. Without `actual` it is longer by an
  /// unknown number.
  [[noreturn]] void throw_wrong_length(int peer, std::size_t expected, std::optional<std::size_t> actual,
                                       const shm::wait_site& site);
  tutti::mpi::types& types() noexcept { return *types_; }
  int tag_mask() const noexcept { return tag_mask_; }
  int max_tag() const noexcept { return max_tag_; }
  bool checks() const noexcept { return failure_monitor_->checks(); }
  /// Whether blocking MPI collectives are begun and polled. The same on all ranks of the job.
  bool polls_natives() const noexcept { return polls_natives_; }
  /// Polls until the nonblocking MPI collective is complete.
  void wait_for_native(MPI_Request& request, const char* operation, const shm::wait_site& site);
  /// Counts MPI collectives in progress, which cannot be cancelled.
  void native_begun() noexcept { ++natives_; }
  void native_over() noexcept { --natives_, ++progress_, look_for_rejections(); }
  void send_rejection(int to, const rejection& what) override;
  void wait_for_rejections() noexcept override;
  void receive_rejections(rejection_inbox* into) noexcept override;
  /// Called when data of other ranks has arrived. Receives the rejections that they sent before.
  void look_for_rejections() noexcept {
    if (rejections_sent_here_->load(std::memory_order_relaxed) != rejections_seen_) [[unlikely]]
      fetch_rejections();
  }
  /// Frees a communicator that open() made. After a failure the destructor frees it, because other
  /// ranks may still send on it.
  void free_comm(MPI_Comm comm) noexcept;

  // --- point-to-point messages (p2p_end.cpp)
  /// Registers a transport. If the job fails, it receives the messages that it has matched.
  void add_transport(mpi_p2p_transport& one) { p2p_transports_.push_back(&one); }
  void remove_transport(mpi_p2p_transport& one) noexcept { std::erase(p2p_transports_, &one); }
  /// Whether MPI is usable and the job has not failed.
  bool can_communicate() const noexcept;
  /// Receives a message of `bytes` bytes by `start(memory, state)`, and discards it. Without memory
  /// for it this ends the job, because its sender would wait forever.
  template <class Start>
  void receive_and_discard(std::vector<buffered_message>& some, std::size_t bytes,
                           const Start& start) noexcept {
    try {
      buffered_message one;
      one.data.reset(new std::byte[bytes + 1]);
      some.reserve(some.size() + 1);
      start(one.data.get(), one.state);
      some.push_back(std::move(one));
      release_completed(some);
    } catch (const std::bad_alloc&) {
      kill_job("there is no memory to receive, and discard, a message of " + std::to_string(bytes) +
               " bytes");
    } catch (...) {
      // The next wait reports MPI's error.
    }
  }
  /// Removes the messages that are complete.
  void release_completed(std::vector<buffered_message>& some);
  /// Called at the end of a transport. Its communicator (unless null) is freed when its pending
  /// messages are complete.
  void close_p2p(MPI_Comm comm, std::vector<buffered_message> pending) noexcept;
  /// Receives and discards a message.
  void receive_and_discard(MPI_Message matched, std::size_t bytes);

  // --- the end of a run
  /// Sets the function that reports this rank's failure, if the job reports that one. If it is
  /// empty, only end_job() reports.
  void set_reporter(std::function<void(int rank, const std::string& text)> how) { report_ = std::move(how); }
  /// Records what the program threw on this rank.
  void failed(std::exception_ptr what, const std::string& text);
  /// Waits until all ranks have ended the program. Aborts the job if they do not after a failure.
  outcome end();

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  message& begin_message(transfer& t, bool receives, int peer, std::size_t bytes) {
    if (free_ == none) [[unlikely]]
      grow();
    const std::uint32_t index = free_;
    message& m = messages_[index];
    free_ = m.generation;
    m.generation = ++generation_;
    m.busy = true;
    m.receives = receives;
    m.peer = peer;
    m.bytes = bytes;
    m.unmatched = false;
    *reinterpret_cast<request_id*>(t.state) = {index, m.generation};
    return m;
  }
  void grow();
  void fetch_rejections() noexcept;
  void use_node_memory(const std::vector<int>& leaders);
  void find_node_counter(const std::vector<int>& leaders, bool may_share);
  void pause_slowly(const shm::wait_site& site);
  void pause_oversubscribed(const shm::wait_site& site);
  bool start_if_arrived(std::uint32_t index, const shm::wait_site& site);
  void abandon(const char* why);
  [[noreturn]] void throw_not_received(node_messages::progress why, const shm::wait_site& site);
  template <class Error>
  [[noreturn]] void abandon_and_throw(const Error& e) {
    abandon(e.what());
    throw e;
  }
  bool open_sends();
  void compare_length(std::uint32_t index, MPI_Status& status, const shm::wait_site& site);
  [[noreturn]] void throw_transfer_error(std::uint32_t index, int code, const shm::wait_site& site);
  [[noreturn]] void throw_failure(const shm::wait_site& site);
  [[noreturn]] void end_job(int rank, const std::string& text);
  [[noreturn]] void end_job_after(const peer_watch::loss& what);
  void report(const std::string& text);
  bool complete(MPI_Request& request, double& deadline, double began);
  void complete_all_messages(double deadline);
  void drain();
  void drain(MPI_Comm comm);
  MPI_Comm duplicate(MPI_Comm from, std::uint64_t id);
  bool release_closed_p2p() noexcept;
  void end_p2p() noexcept;

  mpi_endpoint() = default;
  static bool can_progress_in_waits() noexcept;
  void register_progress() noexcept;
  void unregister_progress() noexcept;
  void drop_on_node() noexcept;
  void discover_topology(const std::exception_ptr& settings_error, const node_settings& requested);
  hierarchy configured_topology(std::string_view text) const;
  void choose_trees(const std::vector<rank_info>& all, int nodes);
  double measure_network(const std::vector<rank_info>& all);

  /// The communicator of a closed transport, and its messages that MPI has not completed.
  struct closed_p2p {
    MPI_Comm comm;
    std::vector<buffered_message> pending;
  };

  MPI_Comm job_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL, p2p_ = MPI_COMM_NULL, groups_ = MPI_COMM_NULL;
  MPI_Comm shared_ = MPI_COMM_NULL;  // the program's; p2p_ is null then
  int rank_ = 0, size_ = 1, tag_mask_ = 0, max_tag_ = 0;
  bool slow_pause_ = false;  // a pause does more than count
  bool oversubscribed_ = false, polls_natives_ = true, progress_registered_ = false, any_thread_ = false;
  progressed_wait* wait_ = nullptr;
  hierarchy topology_;
  int node_level_ = 0;
  std::string_view trees_ = "mpi";
  std::array<engine_condition, std::size(mpi_conditions)> conditions_{};
  std::uint32_t free_ = none, generation_ = 0;
  std::uint64_t pauses_ = 0, progress_ = 0, progress_seen_ = 0;
  double last_poll_ = 0, progress_since_ = 0, waiting_since_ = 0;
  int natives_ = 0;
  // The number of rejections that other ranks have sent to this one, if all ranks of the job are
  // on one node. Between nodes the value always differs, so this rank asks MPI after each receive
  // of a collective and each collective of MPI. Before anyone receives rejections, the value is 0.
  static inline node_counters::counter always_{1}, never_{0};
  node_counters node_counters_;
  node_memory node_memory_;
  std::optional<node_messages> node_messages_;
  std::optional<node_p2p> node_p2p_;
  bool leaves_p2p_to_mpi_ = false;
  static inline std::vector<mpi_endpoint*> with_node_memory_;  // of this process
  std::optional<peer_watch> peer_watch_;
  bool has_node_memory_ = false;
  transport_reasons reasons_;
  std::vector<int> rank_on_node_;  // of each rank of the job; -1: on another node
  bool counts_rejections_ = false;
  node_counters::counter* rejections_sent_here_ = &never_;
  std::uint32_t rejections_seen_ = 0;
  std::vector<message> messages_;
  // The communicators that open() made. Other ranks may still send on them.
  std::vector<MPI_Comm> opened_;
  std::vector<mpi_p2p_transport*> p2p_transports_;
  std::unique_ptr<group_messages> group_messages_;  // for groups that were made without a message
  std::vector<closed_p2p> closed_p2p_;
  std::optional<tutti::mpi::types> types_;
  std::optional<failure_monitor> failure_monitor_;
  native_word native_{0};
  std::optional<long_wait> long_wait_;  // not in checked mode
  std::atomic<bool> aborts_{false};
  // The program's exception on this rank, and whether it is a cause. A cause is no peer_error, and
  // was thrown before a wait of this rank was aborted.
  std::exception_ptr thrown_;
  std::string thrown_text_;
  bool cause_ = false, wait_aborted_ = false;
  std::function<void(int rank, const std::string& text)> report_;
  bool reported_ = false;
  bool on_first_node_ = true;  // of the machine, not of TUTTI_NODES
};

}  // namespace tutti::mpi
