// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/transfer_nodes.hpp"

#include <cstring>
#include <exception>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::tasks {

// --- sending

void send_node::start(ready_queue&) {
  begun_ = true;
  began_ = services_.trace_time();
  message_header header;
  header.origin = services_.rank;
  header.id = id_;
  if (from_.poisoned != nullptr) {
    for (const forwarding& one : to_) {
      header.sequence = one.sequence;
      services_.sender.send_failure(one.rank, header, *from_.poisoned);
    }
  } else {
    remaining_ = services_.sender.send(header, from_, bytes_, to_.data(), to_.size(), this);
  }
  if (remaining_ == 0) finish();
}

void send_node::sent() {
  if (--remaining_ == 0) finish();
}

void send_node::finish() {
  services_.trace_transfer(true, began_, to_.front().rank, bytes_);
  services_.ready.complete(*this);
}

// --- receiving

void receive_node::start(ready_queue&) {
  begun_ = true;
  began_ = services_.trace_time();
  proceed();
}

void receive_node::arrived(std::unique_ptr<arrival> a) {
  arrival_ = std::move(a);
  proceed();
}

void receive_node::proceed() {
  if (!begun_) return;
  if (lost_ != nullptr) {
    poison(lost_);
    return finish();
  }
  if (arrival_ == nullptr) return;
  arrival& a = *arrival_;
  if (a.header.poisoned != 0) {
    poison(services_.failures.add_received(reinterpret_cast<const char*>(a.memory->data()), a.header.bytes));
  } else if (a.header.bytes != bytes_) {
    services_.failures.record_error(std::make_exception_ptr(mismatch_error(
        "tasks", services_.rank, "data",
        "data handle " + std::to_string(data_.id) + " has " + std::to_string(bytes_) + " bytes here, but " +
            std::to_string(a.header.bytes) + " on rank " + std::to_string(origin_),
        "create the same data handles on all ranks, in the same order")));
    poison(services_.failures.add_lost("a transfer", services_.rank, "the sizes differ"));
  } else if (a.header.contents_tag != 0) {
    return services_.messages().receive(a, into_.data, *this);
  } else if (in_place_) {
    if (bytes_ != 0) std::memcpy(into_.data, a.memory->data(), bytes_);
    into_.poisoned = nullptr;
  } else {
    into_.use_block(std::exchange(a.memory, nullptr));
  }
  finish();
}

// Kernels receive an address even if the contents are poisoned.
void receive_node::poison(const failure* why) {
  into_.poisoned = why;
  if (into_.data == nullptr && bytes_ != 0) into_.use_block(block::make(bytes_));
}

void receive_node::give_up(const failure* why) {
  lost_ = why;
  proceed();
}

void receive_node::received() {
  into_.poisoned = nullptr;
  finish();
}

void receive_node::finish() {
  services_.trace_transfer(false, began_, origin_, bytes_);
  services_.ready.complete(*this);
}

}  // namespace tutti::tasks
