// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/lost_transfers.hpp"

#include <exception>
#include <string>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::tasks {
namespace {

constexpr const char* same_insertion_advice =
    "insert the same tasks and transfers on all ranks that they concern, in the same order";

}  // namespace

lost_transfers::lost_transfers(const transfer_services& services, data_registry& data,
                               transfer_table& transfers, explicit_transfers& requested,
                               reductions& contributions)
    : services_(services),
      data_(data),
      transfers_(transfers),
      explicit_(requested),
      reductions_(contributions),
      inquired_(static_cast<std::size_t>(services.size)),
      ended_(static_cast<std::size_t>(services.size)) {}

// --- inquiries

void lost_transfers::inquire() {
  int times = 0;
  message_header header;
  header.kind = message_kind::inquiry;
  for (receive_node* one : transfers_.expected()) {
    if (one->inquired) continue;
    one->inquired = true;
    header.id = one->data().id;
    header.sequence = one->sequence();
    services_.messages().send(one->origin(), header, nullptr, 0);
    if (++times == 64) return;
  }
  message_header all;
  all.kind = message_kind::inquiry;
  all.token = 1;
  for (int r = 0; r < services_.size; ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r == services_.rank || inquired_[at] || !explicit_.is_waiting_for(r)) continue;
    inquired_[at] = true;
    services_.messages().send(r, all, nullptr, 0);
  }
  explicit_.give_up(ended_);
}

void lost_transfers::handle_never_sent(const arrival& a) {
  if (a.header.origin != 0) {  // it sends no more explicit transfers, and all that it sent are here
    ended_[static_cast<std::size_t>(a.from)] = true;
    explicit_.give_up(ended_);
  } else if (a.header.token != 0) {
    give_up_contribution(a);
  } else {
    give_up_receive(a);
  }
}

void lost_transfers::give_up_contribution(const arrival& a) {
  if (!reductions_.give_up(a.header.token, a.from)) return;
  const data_handle* const d = data_.find(a.header.id);
  services_.failures.record_error(std::make_exception_ptr(
      mismatch_error("tasks", services_.rank, "",
                     "rank " + std::to_string(a.from) +
                         " has reached the end of its runtime without inserting its contribution to " +
                         (d != nullptr ? name_of(*d) : "a data handle"),
                     same_insertion_advice)));
}

void lost_transfers::give_up_receive(const arrival& a) {
  for (receive_node* one : transfers_.expected()) {
    if (one->data().id != a.header.id || one->origin() != a.from || one->sequence() != a.header.sequence)
      continue;
    services_.failures.record_error(std::make_exception_ptr(mismatch_error(
        "tasks", services_.rank, "",
        "this rank waits for " + name_of(one->data()) + " from rank " + std::to_string(a.from) +
            ", which has reached the end of its runtime without inserting a task or transfer that sends it",
        same_insertion_advice)));
    transfers_.remove_expected(*one);
    return one->give_up(services_.failures.add_lost("a transfer", a.from, "it was never inserted"));
  }
}

// --- replies

void lost_transfers::handle_inquiry(const arrival& a) {
  const bool about_all = a.header.token != 0;
  if (about_all ? sending_ : inserting_) return deferred_.push_back({a.header, a.from});
  message_header header;
  header.kind = message_kind::never_sent;
  if (about_all) {
    header.origin = 1;
  } else {
    data_handle* const d = data_.find(a.header.id);
    if (d != nullptr && d->peer(a.from).sent > a.header.sequence) return;
    header.id = a.header.id;
    header.sequence = a.header.sequence;
  }
  services_.messages().send(a.from, header, nullptr, 0);
}

void lost_transfers::end_insertion() {
  inserting_ = false;
  reply_to_deferred();
}

void lost_transfers::end_sends() {
  sending_ = false;
  reply_to_deferred();
}

void lost_transfers::reply_to_deferred() {
  for (const inquiry& one : std::exchange(deferred_, {})) {
    arrival a;
    a.header = one.header;
    a.from = one.from;
    handle_inquiry(a);
  }
}

}  // namespace tutti::tasks
