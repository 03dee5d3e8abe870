// SPDX-License-Identifier: Apache-2.0
//
// The kinds of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/data_handle.hpp"
#include "frontends/tasks/graph_messages.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "frontends/tasks/task_trace.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

/// One datum of a task.
struct argument {
  contents* at = nullptr;
  contents* from = nullptr;     // what `at` begins as: written anew, but read too
  const reducer* by = nullptr;  // of a contribution: `at` begins as neutral
  std::uint32_t count = 0, element = 0;
  bool reads = false, writes = false;

  std::size_t bytes() const noexcept { return std::size_t{count} * element; }
};

/// A task that this rank runs.
class kernel_node final : public node {
 public:
  kernel_node(const code& c, std::size_t arguments, const char* name, std::uint64_t number);
  ~kernel_node() override;
  void go(task_graph& in) override;
  void let_go() noexcept override;
  std::string what() const override;

  argument& operator[](std::size_t i) noexcept { return arguments_[i]; }
  std::size_t size() const noexcept { return size_; }
  void* closure() const noexcept { return closure_; }
  const char* name() const noexcept { return name_; }

 private:
  const failure* first_poisoned() const noexcept;
  void end_closure() noexcept;

  const code* type_;
  argument* arguments_;
  void* closure_;
  std::byte* apart_ = nullptr;  // where they do not fit into the node
  const char* name_;
  std::uint64_t number_;
  std::uint32_t size_;
  bool ended_ = false;  // the closure
  alignas(16) std::byte own_[272];
};
static_assert(sizeof(kernel_node) <= node_store::most);

/// Two contributions become one.
class combine_node final : public node {
 public:
  combine_node(contents& into, contents& part, const reducer& by, std::size_t n)
      : node(true), into_(into), part_(part), by_(by), n_(n) {
    into.keep();
    part.keep();
  }
  void go(task_graph& in) override;
  void let_go() noexcept override {
    into_.drop();
    part_.drop();
  }

 private:
  contents &into_, &part_;
  const reducer& by_;
  std::size_t n_;
};

/// Contents go to other ranks; more of them may join until it begins.
class send_node final : public node, public sender {
 public:
  send_node(task_graph& in, data_handle& d, contents& from);
  void add(int to, std::uint32_t sequence) { to_.push_back({to, sequence, 0}); }
  /// Whether a rank may join: it has not begun, and that one is not among them.
  bool takes(int to) const noexcept {
    for (const forwarding& one : to_)
      if (one.rank == to) return false;
    return !begun_;
  }
  void go(task_graph& in) override;
  void let_go() noexcept override { from_.drop(); }
  void sent() override;
  std::string what() const override { return "a send"; }

 private:
  void finish();
  task_graph& in_;
  contents& from_;
  std::int64_t number_;
  std::size_t bytes_;
  std::size_t left_ = 0;
  bool begun_ = false;
  task_trace::clock::time_point began_;
  std::vector<forwarding> to_;
};

/// Contents come from another rank.
class receive_node final : public node, public taker {
 public:
  receive_node(data_handle& d, contents& into, int origin, std::uint32_t sequence)
      : node(false),
        of_(d),
        into_(into),
        bytes_(d.bytes),
        in_place_(d.fixed),
        origin_(origin),
        sequence_(sequence) {
    into.keep();
  }
  void go(task_graph& in) override;
  void let_go() noexcept override { into_.drop(); }
  std::string what() const override;

  data_handle& of() const noexcept { return of_; }
  int origin() const noexcept { return origin_; }
  std::uint32_t sequence() const noexcept { return sequence_; }
  bool explicit_transfer = false;  // whether it was inquired
  std::size_t place = 0;           // among those that the flow expects
  /// Whether long contents may go straight to where they belong.
  bool waits_in_place() const noexcept { return in_ != nullptr && in_place_; }
  void came(std::unique_ptr<arrival> a);
  void taken() override;
  /// It will never come.
  void give_up(const failure* why);

 private:
  void meet();
  void finish();

  data_handle& of_;
  contents& into_;
  std::size_t bytes_;
  bool in_place_;
  int origin_;
  std::uint32_t sequence_;
  task_graph* in_ = nullptr;  // once it has begun
  const failure* lost_ = nullptr;
  task_trace::clock::time_point began_;
  std::unique_ptr<arrival> came_;
};

/// What the program knows of a transfer that it asked for.
struct explicit_request {
  bool over = false;
  detail::envelope found;
  std::exception_ptr error;
};
/// Several that one thing follows.
struct explicit_group {
  std::size_t left = 0;
  follow_up then;
};

/// A transfer that the program asked for.
class explicit_transfer_node final : public node, public sender, public taker {
 public:
  explicit_transfer_node(task_graph& in, const explicit_transfer& t, contents& at, bool sends)
      : node(false),
        in_(in),
        at_(at),
        bytes_(t.what->bytes),
        peer_(t.peer),
        tag_(t.tag),
        where_(t.where),
        sends_(sends) {
    at.keep();
  }
  void go(task_graph& in) override;
  void end(task_graph& in) noexcept override;
  void let_go() noexcept override { at_.drop(); }
  std::string what() const override;

  std::shared_ptr<explicit_request> request;
  std::shared_ptr<explicit_group> group;

  bool sends() const noexcept { return sends_; }
  bool takes(const arrival& a) const noexcept;
  bool comes_from(int r) const noexcept { return peer_ == rank::any || peer_ == r; }
  void came(std::unique_ptr<arrival> a);
  /// On another communicator: true once it is complete.
  bool poll();
  void sent() override;
  void taken() override;
  /// Its message will never come.
  void give_up(std::exception_ptr why) {
    fail_with(std::move(why));
    finish();
  }

 private:
  void finish();
  void fail_with(std::exception_ptr e);

  task_graph& in_;
  contents& at_;
  std::size_t bytes_;
  int peer_, tag_;
  detail::communicator_impl* where_;
  bool sends_;
  task_trace::clock::time_point began_;
  std::unique_ptr<arrival> came_;
  block* aside_ = nullptr;
  detail::pending_call elsewhere_;
  detail::envelope found_;
  std::exception_ptr error_;
};

/// The program's own use of a datum.
class hold_node final : public node {
 public:
  hold_node() noexcept : node(false) {}
  void holds(contents& at, contents* before, std::size_t bytes) noexcept {
    at_ = &at;
    before_ = before;
    bytes_ = bytes;
    at.keep();
  }
  void go(task_graph& in) override;
  /// Nobody wants it any more: it is over when it would be held.
  void give_up() noexcept { given_up_ = true; }
  void let_go() noexcept override {
    at_->drop();
    if (before_ != nullptr) before_->drop();
  }
  std::string what() const override { return "a view that acquire() returned and that still exists"; }
  bool held() const noexcept { return held_; }
  contents& at() noexcept { return *at_; }

 private:
  contents *at_ = nullptr, *before_ = nullptr;
  std::size_t bytes_ = 0;
  bool held_ = false, given_up_ = false;
};

/// What tasks of a rank have contributed to a datum.
struct partial {
  partial(const reducer& r, int h, std::uint32_t i) : by(r), home(h), index(i) {}
  ~partial() {
    if (sum != nullptr) sum->drop();
  }
  const reducer& by;
  int home;
  std::uint32_t index;  // of those of this rank for this datum, while it is at home there
  std::uint32_t count = 0;
  bool closed = false;
  contents* sum = nullptr;
  node_ref last;
};

/// A reduction that goes on, as the rank knows it where the datum is at home.
struct collection {
  explicit collection(const reducer& r) : by(r), own(r, 0, 0) {}
  const reducer& by;
  partial own;
  std::vector<forwarding> others;
};

/// Contributions of others come together here: into the datum, at home, or into the own part, to be sent on.
class gather_node final : public node, public sender {
 public:
  /// `before`: what `into` begins as, where it is made anew; and its count.
  gather_node(task_graph& in, data_handle& d, contents& into, contents* own, const reducer& by,
              contents* before);
  void go(task_graph& in) override;
  void let_go() noexcept override;
  std::string what() const override { return "contributions to a reduction"; }
  void answer_to(int rank, std::uint32_t token) noexcept {
    to_ = rank;
    token_ = token;
  }
  void came(std::unique_ptr<arrival> a) { answers_.push_back(std::move(a)); }
  /// An answer will never come.
  void give_up(const failure* why) noexcept { lost_ = why; }
  void sent() override;

 private:
  task_graph& in_;
  contents& into_;
  contents *own_, *before_;
  const reducer& by_;
  std::size_t count_, bytes_;
  std::int64_t number_;
  int to_ = -1;
  const failure* lost_ = nullptr;
  std::uint32_t token_ = 0;
  std::vector<std::unique_ptr<arrival>> answers_;
};

}  // namespace tutti::tasks
