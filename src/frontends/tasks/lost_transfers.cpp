// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/lost_transfers.hpp"

#include <exception>
#include <string>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::tasks {
namespace {

constexpr const char* insert_alike =
    "insert the same tasks and transfers on all ranks that they concern, in the same order";

}  // namespace

lost_transfers::lost_transfers(const transfer_services& with, data_registry& data, transfer_table& transfers,
                               explicit_transfers& requested, reductions& contributions)
    : with_(with),
      data_(data),
      transfers_(transfers),
      requested_(requested),
      contributions_(contributions),
      asked_(static_cast<std::size_t>(with.size)),
      ended_(static_cast<std::size_t>(with.size)) {}

// --- asking

void lost_transfers::inquire() {
  int times = 0;
  head what;
  what.kind = message_kind::inquiry;
  for (receive_node* one : transfers_.expected()) {
    if (one->inquired) continue;
    one->inquired = true;
    what.id = one->of().id;
    what.sequence = one->sequence();
    with_.messages().send(one->origin(), what, nullptr, 0);
    if (++times == 64) return;
  }
  head all;
  all.kind = message_kind::inquiry;
  all.token = 1;
  for (int r = 0; r < with_.size; ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r == with_.rank || asked_[at] || !requested_.awaits(r)) continue;
    asked_[at] = true;
    with_.messages().send(r, all, nullptr, 0);
  }
  requested_.give_up(ended_);
}

void lost_transfers::handle_never(const arrival& a) {
  if (a.what.origin != 0) {  // it sends no more explicit transfers, and all that it sent are here
    ended_[static_cast<std::size_t>(a.from)] = true;
    requested_.give_up(ended_);
  } else if (a.what.token != 0) {
    give_up_contribution(a);
  } else {
    give_up_receive(a);
  }
}

void lost_transfers::give_up_contribution(const arrival& a) {
  if (!contributions_.give_up(a.what.token, a.from)) return;
  const data_handle* const d = data_.find(a.what.id);
  with_.failures.note_error(std::make_exception_ptr(
      mismatch_error("tasks", with_.rank, "",
                     "rank " + std::to_string(a.from) +
                         " has reached the end of its runtime without inserting its contribution to " +
                         (d != nullptr ? name_of(*d) : "a data handle"),
                     insert_alike)));
}

void lost_transfers::give_up_receive(const arrival& a) {
  for (receive_node* one : transfers_.expected()) {
    if (one->of().id != a.what.id || one->origin() != a.from || one->sequence() != a.what.sequence) continue;
    with_.failures.note_error(std::make_exception_ptr(mismatch_error(
        "tasks", with_.rank, "",
        "this rank waits for " + name_of(one->of()) + " from rank " + std::to_string(a.from) +
            ", which has reached the end of its runtime without inserting a task or transfer that sends it",
        insert_alike)));
    transfers_.forget(*one);
    return one->give_up(with_.failures.add_lost("a transfer", a.from, "it was never inserted"));
  }
}

// --- answering

void lost_transfers::handle_inquiry(const arrival& a) {
  const bool about_all = a.what.token != 0;
  if (about_all ? sends_ : inserts_) return deferred_.push_back({a.what, a.from});
  head what;
  what.kind = message_kind::never;
  if (about_all) {
    what.origin = 1;
  } else {
    data_handle* const d = data_.find(a.what.id);
    if (d != nullptr && d->with(a.from).sent > a.what.sequence) return;
    what.id = a.what.id;
    what.sequence = a.what.sequence;
  }
  with_.messages().send(a.from, what, nullptr, 0);
}

void lost_transfers::end_insertion() {
  inserts_ = false;
  answer_deferred();
}

void lost_transfers::end_sends() {
  sends_ = false;
  answer_deferred();
}

void lost_transfers::answer_deferred() {
  for (const inquiry& one : std::exchange(deferred_, {})) {
    arrival a;
    a.what = one.what;
    a.from = one.from;
    handle_inquiry(a);
  }
}

}  // namespace tutti::tasks
