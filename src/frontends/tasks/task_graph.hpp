// SPDX-License-Identifier: Apache-2.0
//
// One rank's part of a runtime: the graph of what it has inserted and not finished. Insertion is the rank's
// own thread's, and so is all communication; kernels run on any worker.
//
//   insert.cpp      who runs a task, what it waits for, and what must be sent for it
//   data_transfers.cpp       how contents come to where they are read: transfers, copies, owners that change
//   transfer_nodes.cpp   what sends and receives do when their turn has come
//   explicit_transfers.cpp       transfers that the program asks for by itself
//   reduction.cpp   contributions of tasks, and how they are collected
//   scatter_gather.cpp      scatter and gather
//   run_kernels.cpp        kernels and workers, and waiting
//   data_views.cpp       the program's own use of a datum
//   shutdown.cpp      barriers, and the end of a runtime
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "frontends/tasks/data_handle.hpp"
#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_messages.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "frontends/tasks/task_trace.hpp"
#include "frontends/tasks/worker_pool.hpp"
#include "runtime/executor/progressable.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

class kernel_node;
class explicit_transfer_node;
class hold_node;
class gather_node;
class scatter_gather_node;
class binomial;
struct argument;
struct explicit_group;

class task_graph final : public progressable {
 public:
  task_graph(detail::communicator_impl& all, const options& how, const char* header);
  ~task_graph();
  task_graph(const task_graph&) = delete;

  int rank() const noexcept { return rank_; }
  bool outlived_run() const noexcept { return detail::outlived_run(*all_); }
  int size() const noexcept { return size_; }
  int workers() const noexcept { return workers_; }
  void note(const std::source_location& at) const noexcept { detail::set_call_site(*all_, at); }
  [[noreturn]] void refuse(const char* operation, const char* parameter, std::string_view problem,
                           const char* remedy) const {
    detail::refuse(*all_, operation, parameter, problem, remedy);
  }

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

  // --- tasks
  void* begin(const use* uses, std::size_t n, const task_options& w, const code& c);
  void submit() noexcept;
  void* acquire(data_handle& d, use_mode how, place& at);
  void release_view(void* acquired) noexcept;
  void wait_all();
  void barrier();
  /// Sends what is ready, and takes in what has come. True where something happened. `calls`: callbacks too.
  bool progress(bool calls = true);
  /// The same, and all else that is under way on this rank.
  void progress_all() {
    progress();
    detail::guarded(*all_, [&] { detail::progress_others(*all_, this); });
  }

  // --- transfers that were asked for
  void* start(const explicit_transfer& t, bool sends);
  bool test(void* request, detail::envelope& found);
  void wait(void* request, detail::envelope& found);
  void drop(void* request) noexcept;
  void detach(const explicit_transfer* all, std::size_t n, bool sends, const follow_up& then);

  /// Waits for everything, of all ranks.
  void close(bool passing_by) noexcept;
  statistics told() const;

  // --- for nodes. Of any thread:
  /// It is over: those behind become ready.
  void complete(node& n) noexcept;
  void release(node& n) noexcept {
    if (n.waits.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(n);
  }
  /// `tell`: wait_all() shall throw it.
  const failure* fail(std::string task, int rank, std::string text, std::exception_ptr what,
                      bool tell = true);
  /// What a message says of one elsewhere: see text_of().
  const failure* failure_in(const char* text, std::size_t bytes);
  const failure* failure_in(const arrival& a) {
    return failure_in(reinterpret_cast<const char*>(a.in->data()), a.what.bytes);
  }
  void count_run() noexcept { run_.fetch_add(1, std::memory_order_relaxed); }
  // Of the rank's own:
  messenger& messages() noexcept { return messenger_; }
  void count_sent(int to, std::size_t bytes) noexcept {
    bytes_sent_[static_cast<std::size_t>(to)] += bytes;
    ++messages_sent_[static_cast<std::size_t>(to)];
  }
  /// To these ranks, by a tree where they are many. `tell` is told as often as is returned.
  std::size_t send_contents(const head& what, const contents& from, std::size_t bytes, const forwarding* to,
                            std::size_t n, sender* tell);
  void report_poisoned(int to, head what, const failure& why, std::span<const forwarding> further = {});
  void note_error(std::exception_ptr what);
  void meet_expected(explicit_transfer_node& one);
  task_trace::clock::time_point trace_time() const noexcept {
    return trace_ != nullptr ? task_trace::clock::now() : task_trace::clock::time_point();
  }
  void trace_transfer(bool sends, task_trace::clock::time_point began, int peer, std::size_t bytes) {
    if (trace_ != nullptr)
      trace_->add(0, sends ? task_trace::kind::send : task_trace::kind::receive, sends ? "send" : "receive",
                  began, task_trace::clock::now(), peer, bytes);
  }
  void unlock(std::uint64_t tag);
  void forget_expected(receive_node& one);
  void follow(explicit_group& g);
  void send_pack(int to, std::uint32_t number, int root, const std::vector<std::byte>& pack);
  void pass_pack(const binomial& tree, std::uint32_t number, const std::byte* at, std::size_t bytes);
  void look_after(explicit_transfer_node& one) { elsewhere_.push_back(&one); }
  void count_elsewhere(detail::communicator_impl& where, int peer, std::size_t bytes) noexcept;

  // --- as something that every wait of this rank serves
  bool go_on(bool) override {
    progress(false);
    return false;
  }
  void work() override;
  std::uint64_t moves() const noexcept override { return moves_; }
  shm::wait_site site(const char* what = "", int peer = -1) const noexcept override;

 private:
  friend class receive_node;

  template <class Node, class... Arguments>
  Node& make(Arguments&&... arguments) {
    Node* const made = store_.make<Node>(static_cast<Arguments&&>(arguments)...);
    ++pending_;
    return *made;
  }
  void make_ready(node& n) noexcept;
  // Data (data_transfers.cpp).
  void check_rank(const char* operation, const char* parameter, int r) const;
  bool concerns(const data_handle& d) const noexcept {
    return d.owner == rank_ || d.home == rank_ || d.here != nullptr || !d.partials.empty();
  }
  void settle(data_handle& d, bool overwritten);
  void transfer_to_reader(data_handle& d, int to);
  void transfer_to(data_handle& d, int to);
  void remember_copy(data_handle& d, int there);
  void hold(copy_list& list, kept_copy& c, bool here);
  void send(data_handle& d, int to);
  receive_node& receive(data_handle& d, int from);
  void forget_copy(data_handle& d);
  void forget_copies_of_others(data_handle& d);
  void invalidate(data_handle& d);
  void after_write(data_handle& d, int by);
  void new_contents(data_handle& d, bool zero);
  void hold_taken(data_handle& d);
  void free_evicted(const data_handle* but);
  void refuse_from_kernels(const char* operation) const;
  void check_own(const char* operation, const data_handle& d) const;
  [[noreturn]] void refuse_tag(const char* operation, long tag) const;
  void tag_data(data_handle& d, long tag, const char* operation);
  contents& read_by(data_handle& d, node& n);
  contents& written_by(data_handle& d, node& n, bool reads, contents*& before);
  data_handle* find(std::int64_t number) noexcept;
  void adopt_early(data_handle& d);
  // Insertion.
  int runs(const use* uses, std::size_t n, const task_options& w);
  [[noreturn]] void refuse_owners(const use* uses, std::size_t n, bool written) const;
  void fill(argument& a, const use& u, node& n);
  void follow_tag(node& n, std::uint64_t tag);
  void throttle();
  // Transfers that were asked for.
  void check_explicit(const char* operation, const explicit_transfer& t, bool sends) const;
  explicit_transfer_node& make_explicit(const explicit_transfer& t, bool sends);
  // What comes (transfer_nodes.cpp).
  void handle(std::unique_ptr<arrival> a);
  void handle_contents(std::unique_ptr<arrival> a);
  receive_node* expected_of(const arrival& a);
  void pass_on(arrival& a);
  void handle_explicit(std::unique_ptr<arrival> a);
  void handle_inquiry(const arrival& a);
  void handle_never(const arrival& a);
  // Scatter and gather.
  void handle_pack(std::unique_ptr<arrival> a);
  scatter_gather_node& make_scatter_gather(int root, bool gathers);
  void begin_scatter_gather(scatter_gather_node& node);
  void give_pack(scatter_gather_node& node, std::unique_ptr<arrival> a);
  bool packs(const data_handle& d) const noexcept;
  void written_by_scatter_gather(data_handle& d, scatter_gather_node& node, std::uint32_t index);
  void make_owner(data_handle& d, int root);
  void move_ownership(data_handle& d, bool overwritten);
  // Reductions.
  void begin_reduction(data_handle& d, const reducer& by);
  void contribute(data_handle& d, const reducer& by, int on, node* task, contents* part);
  void add_to(partial& p, const data_handle& d, node& task, contents& part);
  void close_reduction(data_handle& d);
  void close_all_reductions();
  void ask(data_handle& d, int home, const std::vector<forwarding>& whom, gather_node& asks);
  void handle_collect(std::unique_ptr<arrival> a);
  void handle_contribution(std::unique_ptr<arrival> a);
  void meet_demands(data_handle& d);
  // Work and waiting.
  node* pop() noexcept;
  bool run_one();
  void run(node& n, int worker) noexcept;
  static void help(void* self);
  void reap() noexcept;
  bool begin_own();
  void throw_pending();
  template <class Over>
  void wait_until(const Over& over, const char* what, const char* operation, bool may_sleep = true);
  void rest(int times, const char* what, bool may_sleep);
  bool may_still_move();
  void refuse_stuck(const char* operation);
  void count_rest(task_trace::clock::time_point since);
  void inquire();
  void refuse_ended();
  void make_calls();
  static constexpr std::chrono::steady_clock::time_point never = std::chrono::steady_clock::time_point::max();
  bool meet(const char* operation, std::chrono::steady_clock::time_point until);
  void leave_by_exception();
  void refuse_unrequested();
  void write_trace();

  detail::communicator_handle all_;
  int rank_, size_, workers_;
  options how_;
  message_queue& box_;
  messenger messenger_;
  node_store store_;
  std::size_t pending_ = 0;
  std::uint64_t moves_ = 0;
  bool inside_ = false, calling_ = false, closing_ = false, through_ = false, cache_ = true;
  int meeting_ = 0;

  std::vector<std::unique_ptr<data_handle>> data_;
  std::vector<data_handle*> distinct_number_;
  std::unordered_map<std::int64_t, data_handle*> tagged_;
  struct former {
    std::vector<std::unique_ptr<neighbour>> neighbours;
    std::vector<demand> demands;
  };
  std::unordered_map<std::int64_t, former> former_;  // of tags that are free again
  std::vector<std::unique_ptr<arrival>> no_rank_;    // of data that this rank has not made yet
  std::vector<copy_list> given_, taken_;             // by rank
  std::vector<receive_node*> expected_;              // that have not come
  kernel_node* inserting_ = nullptr;
  std::uint64_t inserted_ = 0, numbered_tasks_ = 0;
  std::vector<data_handle*> evicted_;

  struct task_tag {
    bool open = false;
    std::vector<node*> waiting;
  };
  std::unordered_map<std::uint64_t, task_tag> tags_;

  std::vector<explicit_transfer_node*> explicit_transfer_;  // receives that wait for their message
  std::vector<std::unique_ptr<arrival>> unrequested_;       // messages that wait for their receive
  std::vector<explicit_transfer_node*> elsewhere_;          // on other communicators
  std::vector<std::function<void()>> calls_;
  std::vector<arrival> inquiries_;
  std::vector<bool> inquired_, ended_;  // by rank: whether it was asked, and has said that it sends no more

  struct explicit_requests {
    gather_node* node;
    std::uint32_t left;
  };
  std::unordered_map<std::uint32_t, explicit_requests> explicit_requests_;  // by token
  std::uint32_t last_token_ = 0;
  std::vector<data_handle*> reduced_;  // with reductions that go on

  std::vector<std::uint64_t> met_;  // by round: meetings that were come to
  std::uint64_t meetings_ = 0;
  std::uint32_t scatters_gathers_ = 0;
  std::vector<scatter_gather_node*> scatters_gathers_under_way_;  // that wait for packs
  std::vector<std::unique_ptr<arrival>> packs_;

  // What workers share.
  std::mutex lock_;  // of the queue, and of helpers_
  node *first_ = nullptr, *last_ = nullptr;
  std::atomic<std::uint32_t> ready_{0};
  int helpers_ = 0;
  std::vector<int> helper_numbers_;
  std::unique_ptr<worker_pool> worker_pool_;
  std::atomic<node*> over_{nullptr}, own_{nullptr};
  std::mutex rest_lock_;
  std::condition_variable rested_;
  std::atomic<bool> resting_{false}, stopping_{false};
  std::mutex failing_;
  std::deque<failure> failures_;
  const failure* to_report_ = nullptr;
  std::exception_ptr error_;
  std::atomic<std::uint64_t> run_{0};

  std::vector<std::uint64_t> bytes_sent_, messages_sent_;
  std::uint64_t cache_hits_ = 0;
  double idle_ = 0;
  std::unique_ptr<task_trace> trace_;
};

/// A task_error, with what the kernel has thrown nested where it did so here.
std::exception_ptr error_of(const failure& why, const char* operation, int rank);
/// As messages tell of a failure.
std::string text_of(const failure& why);
/// For reports.
std::string name_of(const data_handle& d);

}  // namespace tutti::tasks
