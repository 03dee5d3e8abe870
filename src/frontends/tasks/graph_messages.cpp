// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/graph_messages.hpp"

#include <cstring>

namespace tutti::tasks {

static_assert(sizeof(message_header) == block::header_bytes);

namespace {
constexpr std::size_t header_bytes = sizeof(message_header);
constexpr std::size_t max_message = messenger::max_inline + 96;
}  // namespace

messenger::messenger(message_queue& queue) : queue_(queue), scratch_(block::make(max_message)) {
  header_recv_.what.operation = "tasks";
  header_recv_.what.source = rank::any;
  header_recv_.what.tag = 0;
  header_recv_.what.allocate = allocate;
  header_recv_.what.state = this;
  queue_.begin(header_recv_);
}

messenger::~messenger() {
  queue_.cancel(header_recv_);
  for (incoming& one : incoming_) queue_.cancel(one.posted);
  if (arriving_block_ != nullptr) arriving_block_->release();
  scratch_->release();
  for (outgoing& one : outgoing_)
    for (block* b : {one.message, one.keep_alive})
      if (b != nullptr) b->release();
}

// The header precedes the data of the block, so that contents are aligned.
void* messenger::allocate(void* self, const detail::envelope& found) {
  auto& me = *static_cast<messenger*>(self);
  me.arriving_block_ = block::make(found.bytes > header_bytes ? found.bytes - header_bytes : 0);
  return me.arriving_block_->message();
}

std::unique_ptr<arrival> messenger::next() {
  if (!header_recv_.over()) queue_.process_arrivals(&header_recv_);
  if (!header_recv_.over()) return nullptr;
  header_recv_.rethrow_failure();
  auto a = std::make_unique<arrival>();
  a->from = header_recv_.found.source;
  a->memory = std::exchange(arriving_block_, nullptr);
  std::memcpy(&a->header, a->memory->message(), header_bytes);
  const std::size_t inline_bytes = a->header.contents_tag == 0 ? a->header.bytes : 0;
  if (a->header.forward_count != 0) {
    a->forward_to.resize(a->header.forward_count);
    std::memcpy(a->forward_to.data(), a->memory->data() + inline_bytes,
                a->header.forward_count * sizeof(forwarding));
  }
  if (a->header.contents_tag != 0) {
    a->memory->release();
    a->memory = nullptr;
  }
  queue_.begin(header_recv_);
  return a;
}

void messenger::receive(const arrival& a, std::byte* into, receive_listener& listener) {
  incoming& one = incoming_.emplace_back();
  one.listener = &listener;
  one.posted.what.operation = "tasks";
  one.posted.what.source = a.from;
  one.posted.what.tag = static_cast<int>(a.header.contents_tag);
  one.posted.what.into = into;
  one.posted.what.capacity = a.header.bytes;
  queue_.begin(one.posted);
}

// Returns whether it is sent already.
bool messenger::post(int to, int tag, const void* data, std::size_t bytes, block* message,
                     send_listener* listener, block* keep_alive) {
  if (free_.empty()) free_.emplace_back();
  outgoing_.splice(outgoing_.end(), free_, free_.begin());
  outgoing& one = outgoing_.back();
  const detail::send_args l{"tasks", to, tag, send_modes::standard, data, bytes};
  if (queue_.transport().post(l, one.state)) {
    free_.splice(free_.end(), outgoing_, std::prev(outgoing_.end()));
    return true;
  }
  one.message = message;
  one.listener = listener;
  one.keep_alive = keep_alive;
  if (message != nullptr) message->retain();
  if (keep_alive != nullptr) keep_alive->retain();
  return false;
}

bool messenger::send(int to, message_header header, const void* contents, std::size_t bytes,
                     std::span<const forwarding> forward_to, send_listener* listener, block* keep_alive) {
  const bool separate = bytes > max_inline;
  header.bytes = bytes;
  header.contents_tag = separate ? next_tag() : 0;
  header.forward_count = static_cast<std::uint32_t>(forward_to.size());
  const std::size_t inline_bytes = separate ? 0 : bytes;
  const std::size_t length = header_bytes + inline_bytes + forward_to.size_bytes();
  block* message = scratch_;
  if (length > max_message) {
    message = block::make(length);
  } else {
    message->retain();
  }
  std::byte* const at = message->message();
  std::memcpy(at, &header, header_bytes);
  if (inline_bytes != 0) std::memcpy(at + header_bytes, contents, inline_bytes);
  if (!forward_to.empty())
    std::memcpy(at + header_bytes + inline_bytes, forward_to.data(), forward_to.size_bytes());
  const bool done = post(to, 0, at, length, message, nullptr, nullptr);
  if (!done && message == scratch_) {  // the engine still reads it
    scratch_->release();
    scratch_ = block::make(max_message);
  }
  message->release();
  return !separate ||
         post(to, static_cast<int>(header.contents_tag), contents, bytes, nullptr, listener, keep_alive);
}

bool messenger::progress() {
  bool moved = false;
  for (auto one = outgoing_.begin(); one != outgoing_.end();) {
    const auto here = one++;
    if (!queue_.transport().sent(here->state, queue_.site_of("tasks", "a receive of its message", -1, -1)))
      continue;
    moved = true;
    for (block** b : {&here->message, &here->keep_alive})
      if (*b != nullptr) std::exchange(*b, nullptr)->release();
    send_listener* const listener = std::exchange(here->listener, nullptr);
    free_.splice(free_.end(), outgoing_, here);
    if (listener != nullptr) listener->sent();
  }
  if (!incoming_.empty()) queue_.process_arrivals();
  for (auto one = incoming_.begin(); one != incoming_.end();) {
    const auto here = one++;
    if (!here->posted.over()) continue;
    moved = true;
    here->posted.rethrow_failure();
    receive_listener& listener = *here->listener;
    incoming_.erase(here);
    listener.received();
  }
  return moved;
}

}  // namespace tutti::tasks
