// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/transfer_nodes.hpp"

#include <cstring>
#include <exception>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::tasks {

// --- sending

void send_node::go(ready_queue&) {
  begun_ = true;
  began_ = with_.trace_time();
  head what;
  what.origin = with_.rank;
  what.id = id_;
  if (from_.poisoned != nullptr) {
    for (const forwarding& one : to_) {
      what.sequence = one.sequence;
      with_.sender.send_failure(one.rank, what, *from_.poisoned);
    }
  } else {
    left_ = with_.sender.send(what, from_, bytes_, to_.data(), to_.size(), this);
  }
  if (left_ == 0) finish();
}

void send_node::sent() {
  if (--left_ == 0) finish();
}

void send_node::finish() {
  with_.trace_transfer(true, began_, to_.front().rank, bytes_);
  with_.ready.complete(*this);
}

// --- receiving

void receive_node::go(ready_queue&) {
  begun_ = true;
  began_ = with_.trace_time();
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
  if (a.what.poisoned != 0) {
    poison(with_.failures.add_received(reinterpret_cast<const char*>(a.in->data()), a.what.bytes));
  } else if (a.what.bytes != bytes_) {
    with_.failures.note_error(std::make_exception_ptr(mismatch_error(
        "tasks", with_.rank, "data",
        "data handle " + std::to_string(of_.id) + " has " + std::to_string(bytes_) + " bytes here, but " +
            std::to_string(a.what.bytes) + " on rank " + std::to_string(origin_),
        "create the same data handles on all ranks, in the same order")));
    poison(with_.failures.add_lost("a transfer", with_.rank, "the sizes differ"));
  } else if (a.what.with != 0) {
    return with_.messages().receive(a, into_.data, *this);
  } else if (in_place_) {
    if (bytes_ != 0) std::memcpy(into_.data, a.in->data(), bytes_);
    into_.poisoned = nullptr;
  } else {
    into_.use_block(std::exchange(a.in, nullptr));
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
  with_.trace_transfer(false, began_, origin_, bytes_);
  with_.ready.complete(*this);
}

}  // namespace tutti::tasks
