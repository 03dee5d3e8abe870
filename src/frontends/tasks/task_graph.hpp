// SPDX-License-Identifier: Apache-2.0
//
// One rank's part of a runtime: the graph of tasks and transfers that it has inserted. Only the
// rank's own thread inserts and communicates; kernels run on any worker. tasks_abi.cpp calls it for
// the program, and every wait of the rank progresses it.
//
// Its state is in its parts:
//
//   part                 owns
//   data_registry        data: handles, names, creation and removal
//   replica_directory    which rank has which version, and which nodes write and read it here
//   ready_queue          nodes: those that wait, kernels that can run, workers
//   transfer_table       transfers between ranks that tasks cause
//   explicit_transfers   transfers that the program requests; follow_ups: their follow-ups
//   pack_table           scatters and gathers
//   reductions           contributions of tasks, and their collection
//   lost_transfers       inquiries about transfers that do not arrive
//   failure_log          failures of kernels, and errors
//   data_sender          messages with contents, and their counts
//
// The class itself implements insertion (insert.cpp), calls about data (data_calls.cpp,
// data_views.cpp), requests (explicit_requests.cpp), progress and waiting (graph_progress.cpp,
// wait.hpp), and the end (shutdown.cpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "communicator/internal_calls.hpp"
#include "frontends/tasks/barrier_rounds.hpp"
#include "frontends/tasks/call_validator.hpp"
#include "frontends/tasks/data_registry.hpp"
#include "frontends/tasks/explicit_transfers.hpp"
#include "frontends/tasks/failure_log.hpp"
#include "frontends/tasks/follow_ups.hpp"
#include "frontends/tasks/graph_messages.hpp"
#include "frontends/tasks/lost_transfers.hpp"
#include "frontends/tasks/ready_queue.hpp"
#include "frontends/tasks/replica_directory.hpp"
#include "frontends/tasks/scatter_gather.hpp"
#include "frontends/tasks/task_reductions.hpp"
#include "frontends/tasks/task_trace.hpp"
#include "frontends/tasks/transfer_services.hpp"
#include "frontends/tasks/transfer_table.hpp"
#include "runtime/executor/progressable.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

class kernel_node;
struct argument;

class task_graph final : public progressable {
 public:
  /// Collective: see tasks_abi.hpp, which also documents the calls below.
  task_graph(detail::communicator_impl& all, const options& how, const char* header);
  ~task_graph();
  task_graph(const task_graph&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  int workers() const noexcept { return workers_; }
  /// Whether run() has returned, so that the engine no longer exists.
  bool outlived_run() const noexcept { return detail::outlived_run(*comm_); }
  void set_call_site(const std::source_location& at) const noexcept { detail::set_call_site(*comm_, at); }
  const call_validator& validator() const noexcept { return validator_; }
  statistics counts() const;

  // --- data
  data_handle* add(const extent& e);
  void remove(data_handle& d);
  void set_tag(data_handle& d, long tag);
  void set_owner(data_handle& d, int owner);
  void fetch(data_handle* d, int rank);
  void scatter(data_handle* const* data, std::size_t n, int root);
  void gather(data_handle* const* data, std::size_t n, int root);
  void flush(data_handle* d);
  void set_cache(bool on);
  void* acquire(data_handle& d, use_mode how, kernel_buffer& at);
  void release_view(void* acquired) noexcept;

  // --- tasks
  void* begin(const use* uses, std::size_t n, const task_options& w, const kernel_operations& k);
  void submit() noexcept;
  void unlock(std::uint64_t tag) {
    validator_.entry("unlock");
    follow_ups_.unlock(tag);
  }

  // --- transfers that the program requests
  void* start(const explicit_transfer& t, bool sends);
  bool test(void* request, detail::envelope& found);
  void wait(void* request, detail::envelope& found, bool is_entry);
  void drop(void* request) noexcept;
  /// Whether the runtime of the request has ended. The next two functions are for such requests.
  static bool outlived_by(void* request) noexcept;
  static detail::envelope result_after_end(void* request, const char* operation);
  static void drop_after_end(void* request) noexcept;
  void detach(const explicit_transfer* all, std::size_t n, bool sends, const follow_up& action);

  // --- progress and waiting
  void wait_all();
  void barrier();
  /// Communicates and begins nodes, but runs no kernel. Returns whether anything has changed.
  /// `callbacks`: whether callbacks of the program may run.
  bool progress(bool callbacks = true);
  /// The same, and all other operations that are under way on this rank.
  void progress_all() {
    progress();
    detail::guarded(*comm_, [&] { detail::progress_others(*comm_, this); });
  }
  void progress_at_entry() {
    validator_.entry("progress");
    progress_all();
  }
  void close(bool by_exception) noexcept;

  // --- as an operation that every wait of this rank progresses
  bool advance(bool) override {
    progress(false);
    return false;
  }
  void work() override;
  std::uint64_t progress_count() const noexcept override { return progress_count_ + ready_.steps(); }
  shm::wait_site site(const char* what = "", int peer = -1) const noexcept override;

 private:
  // Insertion.
  int executing_rank(const use* uses, std::size_t n, const task_options& w) const;
  [[noreturn]] void reject_owners(const use* uses, std::size_t n, bool written) const;
  bool validate_uses(const use* uses, std::size_t n, bool runs_here) const;
  void prepare_for_use(data_handle& d, const use& u);
  void set_argument(argument& a, const use& u, node& n);
  void throttle();
  // Data.
  void return_to_owner(data_handle& d, bool overwritten) {
    reductions_.close(d);
    if (d.home != d.owner) move_home_to_owner(d, overwritten);
  }
  void move_home_to_owner(data_handle& d, bool overwritten);
  void handle_unexpected(data_handle& d);
  void receive_pack(data_handle& d, scatter_gather_node& node, std::uint32_t index);
  // Requests.
  explicit_transfer_node& make_explicit(const explicit_transfer& t, bool sends);
  // Progress and waiting.
  void handle(std::unique_ptr<arrival> a);
  class fetched_contents;
  void fetch_contents(std::unique_ptr<arrival> a);
  template <class Done>
  void wait_until(const Done& done, const char* what, const char* operation, bool may_sleep = true);
  void pause_or_sleep(int idle_rounds, const char* what, bool may_sleep);
  bool may_progress();
  void throw_if_stuck(const char* operation);
  void record_idle(task_trace::clock::time_point since);
  void throw_pending();
  // The end.
  static constexpr std::chrono::steady_clock::time_point never = std::chrono::steady_clock::time_point::max();
  bool run_barrier(const char* operation, std::chrono::steady_clock::time_point until);
  void leave_by_exception();
  void finish();

  detail::communicator_handle comm_;
  std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);  // requests may outlive this object
  int rank_, size_, workers_;
  options options_;
  message_queue& queue_;
  messenger messenger_;
  failure_log failures_;
  std::unique_ptr<task_trace> trace_;
  ready_queue ready_;
  data_registry data_;
  replica_directory replicas_;
  call_validator validator_;
  kernel_node* inserting_ = nullptr;
  std::uint64_t inserted_ = 0, task_ids_ = 0;
  std::uint64_t progress_count_ = 0;
  bool in_progress_ = false;  // progress()
  int in_barrier_ = 0;

  data_sender sender_;
  transfer_services services_;
  transfer_table transfers_;
  reductions reductions_;
  pack_table packs_;
  follow_ups follow_ups_;
  explicit_transfers explicit_;
  lost_transfers lost_;
  barrier_rounds barriers_;
  double idle_ = 0;
};

}  // namespace tutti::tasks
