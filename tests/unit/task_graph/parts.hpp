// SPDX-License-Identifier: Apache-2.0
//
// The parts of a task graph without ranks: messages go into a list, and the test plays the other
// ranks.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/data_registry.hpp"
#include "frontends/tasks/replica_directory.hpp"
#include "frontends/tasks/transfer_services.hpp"

namespace tests {

using namespace tutti::tasks;

inline int value_of(const void* data) {
  int value = 0;
  std::memcpy(&value, data, sizeof value);
  return value;
}

/// Keeps what is sent. With `holds`, long contents are not sent until the test notifies the sender.
class recording_channel final : public message_channel {
 public:
  struct message {
    int to;
    message_header header;
    std::vector<std::byte> contents;
    std::vector<forwarding> forward_to;
    send_listener* listener;
  };
  bool send(int to, message_header header, const void* data, std::size_t bytes,
            std::span<const forwarding> forward_to, send_listener* listener, block*) override {
    const auto* const from = static_cast<const std::byte*>(data);
    header.bytes = bytes;
    sent.push_back({to, header, {from, from + bytes}, {forward_to.begin(), forward_to.end()}, listener});
    return !holds;
  }
  void receive(const arrival&, std::byte* into, receive_listener& listener) override {
    receives.push_back({into, &listener});
  }

  struct long_receive {
    std::byte* into;
    receive_listener* listener;
  };
  bool holds = false;
  std::vector<message> sent;
  std::vector<long_receive> receives;
};

/// A node that notes in a list that it has run.
class noting_node final : public node {
 public:
  noting_node(std::vector<std::string>& notes, std::string name, bool kernel = true)
      : node(kernel), notes_(notes), name_(std::move(name)) {}
  void start(ready_queue& queue) override {
    notes_.push_back(name_);
    if (!any_worker) queue.complete(*this);
  }
  void on_complete() noexcept override { notes_.push_back(name_ + " ends"); }

 private:
  std::vector<std::string>& notes_;
  std::string name_;
};

/// Rank `rank` of `size`.
struct parts {
  explicit parts(int rank = 0, int size = 4, std::size_t max_bytes = 1 << 20, bool cache = true)
      : failures(rank),
        ready(failures, 1),
        sender(channel, size),
        services{rank, size, ready, failures, sender, nullptr},
        replicas(rank, size, cache, max_bytes) {}

  /// Data of one int; `memory` belongs to the test.
  data_handle& make(int owner, int* memory = nullptr, long tag = -1) {
    return *data.add({memory, sizeof(int), 1, alignof(int), owner, tag}, sizeof(int));
  }
  noting_node& task(const std::string& name) { return ready.make<noting_node>(notes, name); }
  /// A kernel that writes `value`, behind everything that it must wait for.
  void write(data_handle& d, int value) {
    noting_node& n = task("write");
    contents* before = nullptr;
    contents& at = replicas.write_local(d, n, false, before);
    std::memcpy(at.data, &value, sizeof value);
    ready.release(n);
  }
  /// Runs all nodes that can run.
  void run() {
    for (bool moved = true; moved;) {
      moved = ready.run_one();
      moved = ready.start_rank_thread_nodes() || moved;
      ready.reap();
    }
  }
  /// A message with an int from another rank.
  std::unique_ptr<arrival> message(int from, const data_handle& d, std::uint32_t sequence, int value) {
    auto a = std::make_unique<arrival>();
    a->header.origin = a->from = from;
    a->header.id = d.id;
    a->header.sequence = sequence;
    a->header.bytes = sizeof value;
    a->memory = block::make(sizeof value);
    std::memcpy(a->memory->data(), &value, sizeof value);
    return a;
  }
  /// A message that reports a failed task of `from`.
  std::unique_ptr<arrival> failed(int from, const data_handle& d, std::uint32_t sequence) {
    const std::string text = text_of({"task \"a\"", from, "planted fault", nullptr});
    auto a = message(from, d, sequence, 0);
    a->header.poisoned = 1;
    a->header.bytes = text.size();
    a->memory->release();
    a->memory = block::make(text.size());
    std::memcpy(a->memory->data(), text.data(), text.size());
    return a;
  }

  std::vector<std::string> notes;
  recording_channel channel;
  failure_log failures;
  ready_queue ready;
  data_sender sender;
  transfer_services services;
  data_registry data;
  replica_directory replicas;
};

/// The text of the exception that `action` throws, or "".
template <class Action>
std::string thrown_by(Action&& action) {
  try {
    action();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

}  // namespace tests
