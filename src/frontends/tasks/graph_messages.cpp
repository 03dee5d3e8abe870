// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/graph_messages.hpp"

#include <cstring>

namespace tutti::tasks {

static_assert(sizeof(head) == block::head_bytes);

namespace {
constexpr std::size_t head_bytes = sizeof(head);
constexpr std::size_t max_message = messenger::max_inside + 96;
}  // namespace

messenger::messenger(message_queue& by) : by_(by), scratch_(block::make(max_message)) {
  head_.what.operation = "tasks";
  head_.what.source = rank::any;
  head_.what.tag = 0;
  head_.what.room = allocate;
  head_.what.state = this;
  by_.begin(head_);
}

messenger::~messenger() {
  by_.give_up(head_);
  for (incoming& one : incoming_) by_.give_up(one.posted);
  if (arriving_ != nullptr) arriving_->drop();
  scratch_->drop();
  for (outgoing& one : outgoing_)
    for (block* b : {one.message, one.held})
      if (b != nullptr) b->drop();
}

// The head precedes the data of the block, so that contents are aligned.
void* messenger::allocate(void* self, const detail::envelope& what) {
  auto& me = *static_cast<messenger*>(self);
  me.arriving_ = block::make(what.bytes > head_bytes ? what.bytes - head_bytes : 0);
  return me.arriving_->message();
}

std::unique_ptr<arrival> messenger::next() {
  if (!head_.over()) by_.take_in(&head_);
  if (!head_.over()) return nullptr;
  head_.settle();
  auto a = std::make_unique<arrival>();
  a->from = head_.found.source;
  a->in = std::exchange(arriving_, nullptr);
  std::memcpy(&a->what, a->in->message(), head_bytes);
  const std::size_t inside = a->what.with == 0 ? a->what.bytes : 0;
  if (a->what.further != 0) {
    a->further.resize(a->what.further);
    std::memcpy(a->further.data(), a->in->data() + inside, a->what.further * sizeof(forwarding));
  }
  if (a->what.with != 0) {
    a->in->drop();
    a->in = nullptr;
  }
  by_.begin(head_);
  return a;
}

void messenger::receive(const arrival& a, std::byte* into, receive_listener& listener) {
  incoming& one = incoming_.emplace_back();
  one.listener = &listener;
  one.posted.what.operation = "tasks";
  one.posted.what.source = a.from;
  one.posted.what.tag = static_cast<int>(a.what.with);
  one.posted.what.into = into;
  one.posted.what.most = a.what.bytes;
  by_.begin(one.posted);
}

// Returns whether it is sent already.
bool messenger::post(int to, int tag, const void* data, std::size_t bytes, block* message,
                     send_listener* listener, block* held) {
  if (spare_.empty()) spare_.emplace_back();
  outgoing_.splice(outgoing_.end(), spare_, spare_.begin());
  outgoing& one = outgoing_.back();
  const detail::send_args l{"tasks", to, tag, send_modes::standard, data, bytes};
  if (by_.by().post(l, one.moving)) {
    spare_.splice(spare_.end(), outgoing_, std::prev(outgoing_.end()));
    return true;
  }
  one.message = message;
  one.listener = listener;
  one.held = held;
  if (message != nullptr) message->keep();
  if (held != nullptr) held->keep();
  return false;
}

bool messenger::send(int to, head what, const void* contents, std::size_t bytes,
                     std::span<const forwarding> further, send_listener* listener, block* held) {
  const bool alone = bytes > max_inside;
  what.bytes = bytes;
  what.with = alone ? next_tag() : 0;
  what.further = static_cast<std::uint32_t>(further.size());
  const std::size_t inside = alone ? 0 : bytes, length = head_bytes + inside + further.size_bytes();
  block* message = scratch_;
  if (length > max_message) {
    message = block::make(length);
  } else {
    message->keep();
  }
  std::byte* const at = message->message();
  std::memcpy(at, &what, head_bytes);
  if (inside != 0) std::memcpy(at + head_bytes, contents, inside);
  if (!further.empty()) std::memcpy(at + head_bytes + inside, further.data(), further.size_bytes());
  const bool done = post(to, 0, at, length, message, nullptr, nullptr);
  if (!done && message == scratch_) {  // the engine still reads it
    scratch_->drop();
    scratch_ = block::make(max_message);
  }
  message->drop();
  return !alone || post(to, static_cast<int>(what.with), contents, bytes, nullptr, listener, held);
}

bool messenger::go_on() {
  bool moved = false;
  for (auto one = outgoing_.begin(); one != outgoing_.end();) {
    const auto here = one++;
    if (!by_.by().sent(here->moving, by_.site_of("tasks", "a receive of its message", -1, -1))) continue;
    moved = true;
    for (block** b : {&here->message, &here->held})
      if (*b != nullptr) std::exchange(*b, nullptr)->drop();
    send_listener* const listener = std::exchange(here->listener, nullptr);
    spare_.splice(spare_.end(), outgoing_, here);
    if (listener != nullptr) listener->sent();
  }
  if (!incoming_.empty()) by_.take_in();
  for (auto one = incoming_.begin(); one != incoming_.end();) {
    const auto here = one++;
    if (!here->posted.over()) continue;
    moved = true;
    here->posted.settle();
    receive_listener& listener = *here->listener;
    incoming_.erase(here);
    listener.received();
  }
  return moved;
}

}  // namespace tutti::tasks
