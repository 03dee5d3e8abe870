// SPDX-License-Identifier: Apache-2.0
//
// Reductions. Each rank combines the contributions of its tasks. The home of the data knows how
// often each rank has contributed. Before the data are used in another way, it collects the
// contributions by a tree of messages.
//
// task_graph adds contributions while it inserts, closes reductions, and hands over arrivals.
// lost_transfers reports ranks that will not contribute. Only the rank's own thread calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontends/tasks/data_registry.hpp"
#include "frontends/tasks/replica_directory.hpp"
#include "frontends/tasks/transfer_services.hpp"

namespace tutti::tasks {

/// The combined contributions of this rank's tasks to data.
struct partial {
  partial(const reducer& r, int h, std::uint32_t i) : op(r), home(h), index(i) {}
  ~partial() {
    if (sum != nullptr) sum->release();
  }
  partial(const partial&) = delete;
  const reducer& op;
  int home;
  std::uint32_t index;  // counts the partial results of these data for this home
  std::uint32_t count = 0;
  bool closed = false;
  contents* sum = nullptr;
  node_ref last;
};

/// A reduction that is not closed, at the home of the data.
struct collection {
  explicit collection(const reducer& r) : op(r), local(r, 0, 0) {}
  const reducer& op;
  partial local;
  std::vector<forwarding> contributors;
};

/// Combines contributions of other ranks: into the data at home, or into the local part, which it
/// then sends on.
class reduction_node final : public node, public send_listener {
 public:
  /// `before`: the initial value of `into`, with a use that the node releases; null if `into` has
  /// it.
  reduction_node(const transfer_services& services, const data_handle& d, contents& into, contents* local,
                 const reducer& op, contents* before);
  void start(ready_queue& queue) override;
  void release_resources() noexcept override;
  std::string description() const override { return "contributions to a reduction"; }
  void set_requester(int rank, std::uint32_t token) noexcept {
    requester_ = rank;
    token_ = token;
  }
  void arrived(std::unique_ptr<arrival> a) { replies_.push_back(std::move(a)); }
  /// A reply will never arrive.
  void give_up(const failure* why) noexcept { lost_ = why; }
  void sent() override { services_.ready.complete(*this); }

 private:
  void combine();

  const transfer_services& services_;
  contents& into_;
  contents *local_, *initial_;
  const reducer& op_;
  std::size_t count_, bytes_;
  std::int64_t id_;
  int requester_ = -1;
  const failure* lost_ = nullptr;
  std::uint32_t token_ = 0;
  std::vector<std::unique_ptr<arrival>> replies_;
};

class reductions {
 public:
  reductions(const transfer_services& services, data_registry& data, replica_directory& replicas) noexcept
      : services_(services), data_(data), replicas_(replicas) {}
  reductions(const reductions&) = delete;
  reductions& operator=(const reductions&) = delete;

  // --- insertion
  /// A task is about to contribute to data whose home is their owner. Closes a reduction by another
  /// operator.
  void begin(data_handle& d, const reducer& op);
  /// The task of rank `on` contributes. On that rank, `task` writes its contribution to `part`.
  void contribute(data_handle& d, const reducer& op, int on, node* task, contents* part);
  /// Called before the data are used in another way. Inserts the collection.
  void close(data_handle& d) {
    if (d.open_reduction != nullptr || !d.partials.empty()) close_open(d);
  }
  void close_all() {
    while (!open_.empty()) close(*open_.back());
  }
  /// This rank inserts no more tasks. Rejects all requests that it cannot fulfill, now or later.
  void end();
  /// The data are about to be removed; their reductions are closed.
  void remove(data_handle& d) { std::erase(open_, &d); }

  // --- arrivals
  void handle_collect(std::unique_ptr<arrival> a);
  void handle_contribution(std::unique_ptr<arrival> a);
  /// `rank` will not reply to the request `token`. Returns false if nothing waits for it.
  bool give_up(std::uint32_t token, int rank);
  /// Whether a contribution has not arrived.
  bool busy() const noexcept { return !requests_.empty(); }

 private:
  void close_open(data_handle& d);
  void close_collection(data_handle& d);
  void add(partial& p, const data_handle& d, node& task, contents& part);
  void collect(const data_handle& d, int home, const std::vector<forwarding>& from, reduction_node& into);
  void answer_requests(data_handle& d);
  bool try_reply(data_handle& d, const collect_request& requested);
  void reply(data_handle& d, const collect_request& requested, partial& part);

  /// Contributions that a node of this rank has requested.
  struct request {
    reduction_node* node;
    std::uint32_t remaining;
  };
  reduction_node* match_reply(std::uint32_t token);

  const transfer_services& services_;
  data_registry& data_;
  replica_directory& replicas_;
  std::vector<data_handle*> open_;                       // data with a reduction that is not closed
  std::unordered_map<std::uint32_t, request> requests_;  // by token
  std::uint32_t last_token_ = 0;
  bool ended_ = false;
};

}  // namespace tutti::tasks
