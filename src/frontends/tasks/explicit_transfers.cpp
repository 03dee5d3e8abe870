// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/explicit_transfers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "communicator/internal_calls.hpp"

namespace tutti::tasks {

// --- the table

explicit_transfer_node& explicit_transfers::make(const explicit_transfer& t, bool sends) {
  data_handle& d = *t.what;
  if (d.local_version == nullptr) replicas_.make_contents(d, true);
  if (sends) {
    auto& node = services_.ready.make<explicit_transfer_node>(*this, t, *d.local_version, true);
    replicas_.read_local(d, node);
    return node;
  }
  const bool in_place = d.in_place;
  if (!in_place) {
    // A message may be shorter than the data. The rest is zero.
    contents& replacement = replicas_.replace_local(d);
    replacement.use_block(block::make(d.bytes));
    std::memset(replacement.data, 0, d.bytes);
    d.in_place = d.home == services_.rank;
  }
  auto& node = services_.ready.make<explicit_transfer_node>(*this, t, *d.local_version, false);
  if (in_place) replicas_.wait_for_users(d, node);
  replicas_.set_writer(d, node);
  d.readable = true;
  if (d.home == services_.rank) replicas_.drop_remote_replicas(d);
  return node;
}

void explicit_transfers::handle(std::unique_ptr<arrival> a) {
  const auto one =
      std::find_if(posted_.begin(), posted_.end(), [&](const auto* p) { return p->matches(*a); });
  if (one == posted_.end()) {
    unexpected_.push_back(std::move(a));
    if (closed_) throw_if_unexpected();
    return;
  }
  explicit_transfer_node& node = **one;
  posted_.erase(one);
  node.arrived(std::move(a));
}

void explicit_transfers::post(explicit_transfer_node& one) {
  const auto a =
      std::find_if(unexpected_.begin(), unexpected_.end(), [&](const auto& u) { return one.matches(*u); });
  if (a == unexpected_.end()) return posted_.push_back(&one);
  std::unique_ptr<arrival> message = std::move(*a);
  unexpected_.erase(a);
  one.arrived(std::move(message));
}

bool explicit_transfers::poll_all() {
  bool moved = false;
  for (std::size_t i = 0; i < on_other_communicators_.size();)
    if (on_other_communicators_[i]->poll()) {
      on_other_communicators_.erase(on_other_communicators_.begin() + static_cast<std::ptrdiff_t>(i));
      moved = true;
    } else {
      ++i;
    }
  return moved;
}

void explicit_transfers::close() {
  closed_ = true;
  throw_if_unexpected();
}

// The senders of short messages do not wait.
void explicit_transfers::throw_if_unexpected() const {
  for (const auto& a : unexpected_)
    if (a->header.contents_tag != 0)
      throw mismatch_error("tasks", services_.rank, "",
                           "rank " + std::to_string(a->from) + " sent a message with tag " +
                               std::to_string(a->header.id) +
                               " that this rank has not received at the end of its runtime",
                           "match every send with a receive of the same tag");
}

bool explicit_transfers::is_waiting_for(int rank) const noexcept {
  return std::any_of(posted_.begin(), posted_.end(),
                     [&](const auto* one) { return one->receives_from(rank); });
}

void explicit_transfers::give_up(const std::vector<bool>& ended) {
  const auto is_lost = [&](const explicit_transfer_node& one) {
    if (one.receives_from(services_.rank)) return false;
    for (int r = 0; r < services_.size; ++r)
      if (one.receives_from(r) && !ended[static_cast<std::size_t>(r)]) return false;
    return true;
  };
  for (std::size_t i = 0; i < posted_.size();) {
    explicit_transfer_node& one = *posted_[i];
    if (!is_lost(one)) {
      ++i;
      continue;
    }
    posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
    one.give_up(std::make_exception_ptr(
        mismatch_error("tasks", services_.rank, "",
                       "this rank waits for " + one.description() +
                           ", but every rank that could send it has reached the end of its runtime",
                       "match every receive with a send of the same tag")));
  }
}

void explicit_transfers::count_on_other_communicator(detail::communicator_impl& where, int peer,
                                                     std::size_t bytes) noexcept {
  try {
    const int r = detail::translate(where, peer, *ranks_);
    if (r >= 0 && r < services_.size) services_.sender.count(r, bytes);
  } catch (...) {
    // The statistics omit peers that are no ranks of the runtime.
  }
}

// --- a transfer

explicit_transfer_node::explicit_transfer_node(explicit_transfers& table, const explicit_transfer& t,
                                               contents& at, bool sends)
    : node(false),
      table_(table),
      services_(table.services()),
      contents_(at),
      bytes_(t.what->bytes),
      peer_(t.peer),
      tag_(t.tag),
      communicator_(t.where),
      sends_(sends) {
  at.retain();
}

bool explicit_transfer_node::matches(const arrival& a) const noexcept {
  return receives_from(a.from) && (tag_ == tags::any || tag_ == a.header.id);
}

std::string explicit_transfer_node::description() const {
  return std::string(sends_ ? "a send to rank " : "a message from ") +
         (peer_ == rank::any ? "any rank" : (sends_ ? "" : "rank ") + std::to_string(peer_)) + ", tag " +
         (tag_ == tags::any ? "any" : std::to_string(tag_));
}

void explicit_transfer_node::start(ready_queue&) {
  began_ = services_.trace_time();
  if (communicator_ != nullptr && start_on_other_communicator()) return table_.add_polled(*this);
  if (sends_)
    send();
  else
    table_.post(*this);
}

// The program's call that started the transfer may be over.
bool explicit_transfer_node::start_on_other_communicator() {
  const detail::deferred_rejections steps(detail::count_of_deferrals(*communicator_));
  if (sends_ && contents_.poisoned == nullptr) {
    operation_ = detail::start_send(
        *communicator_,
        {.operation = "isend", .destination = peer_, .tag = tag_, .data = contents_.data, .bytes = bytes_});
    table_.count_on_other_communicator(*communicator_, peer_, bytes_);
  } else if (!sends_) {
    operation_ = detail::start_receive(
        *communicator_,
        {.operation = "irecv", .source = peer_, .tag = tag_, .into = contents_.data, .capacity = bytes_});
  }
  return static_cast<bool>(operation_);
}

void explicit_transfer_node::send() {
  message_header header;
  header.kind = message_kind::explicit_transfer;
  header.id = tag_;
  if (contents_.poisoned != nullptr) {
    fail_with(error_of(*contents_.poisoned, "isend", services_.rank));
    if (communicator_ == nullptr) services_.sender.send_failure(peer_, header, *contents_.poisoned);
    return finish();
  }
  header.origin = services_.rank;
  services_.sender.count(peer_, bytes_);
  if (peer_ == services_.rank) {  // no receive of this rank progresses during its send()
    block* const copy = block::make(bytes_);
    if (bytes_ != 0) std::memcpy(copy->data(), contents_.data, bytes_);
    services_.messages().send(peer_, header, copy->data(), bytes_, {}, nullptr, copy);
    copy->release();
    return finish();
  }
  if (services_.messages().send(peer_, header, contents_.data, bytes_, {}, this, contents_.memory)) finish();
}

void explicit_transfer_node::arrived(std::unique_ptr<arrival> a) {
  arrival_ = std::move(a);
  const message_header& header = arrival_->header;
  found_ = {arrival_->from, static_cast<int>(header.id), header.bytes};
  if (header.poisoned != 0) {
    contents_.poisoned = services_.failures.add_received(
        reinterpret_cast<const char*>(arrival_->memory->data()), header.bytes);
    found_.bytes = 0;
    fail_with(error_of(*contents_.poisoned, "irecv", services_.rank));
    return finish();
  }
  if (header.bytes > bytes_) {
    fail_with(std::make_exception_ptr(
        truncation_error("irecv", services_.rank, "handle",
                         "rank " + std::to_string(arrival_->from) + " sent " + std::to_string(header.bytes) +
                             " bytes, but the data handle has " + std::to_string(bytes_),
                         "create the data handle with the same size on both ranks")));
    if (header.contents_tag == 0) return finish();
    truncated_ = block::make(header.bytes);
    return services_.messages().receive(*arrival_, truncated_->data(), *this);
  }
  if (header.contents_tag != 0) return services_.messages().receive(*arrival_, contents_.data, *this);
  if (header.bytes != 0) std::memcpy(contents_.data, arrival_->memory->data(), header.bytes);
  contents_.poisoned = nullptr;
  finish();
}

void explicit_transfer_node::received() {
  if (truncated_ != nullptr)
    std::exchange(truncated_, nullptr)->release();
  else
    contents_.poisoned = nullptr;
  finish();
}

bool explicit_transfer_node::poll() {
  try {
    if (!operation_->test()) return false;
    found_ = detail::found(*operation_);
    if (!sends_) contents_.poisoned = nullptr;
  } catch (const mismatch_error&) {
    fail_with(std::current_exception());
  }
  operation_.reset();
  finish();
  return true;
}

void explicit_transfer_node::fail_with(std::exception_ptr e) {
  if (request != nullptr)
    error_ = std::move(e);
  else if (contents_.poisoned == nullptr)
    services_.failures.record_error(std::move(e));
}

void explicit_transfer_node::finish() {
  services_.trace_transfer(sends_, began_, sends_ ? peer_ : found_.source, bytes_);
  services_.ready.complete(*this);
}

void explicit_transfer_node::on_complete() noexcept {
  if (request != nullptr) {
    request->complete = true;
    request->found = found_;
    request->error = error_;
  }
  if (group != nullptr) table_.complete(*group);
}

}  // namespace tutti::tasks
