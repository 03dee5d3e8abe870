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
  head_.what.room = room;
  head_.what.state = this;
  begin();
}

messenger::~messenger() {
  by_.give_up(head_);
  for (taking& one : taking_) by_.give_up(one.w);
  if (coming_ != nullptr) coming_->drop();
  scratch_->drop();
  for (outgoing& one : outgoing_)
    for (block* b : {one.message, one.held})
      if (b != nullptr) b->drop();
}

// The head lies in front of the block's data, so that contents begin on a boundary.
void* messenger::room(void* self, const detail::envelope& what) {
  auto& me = *static_cast<messenger*>(self);
  me.coming_ = block::make(what.bytes > head_bytes ? what.bytes - head_bytes : 0);
  return me.coming_->message();
}

void messenger::begin() { by_.begin(head_); }

std::unique_ptr<arrival> messenger::next() {
  if (!head_.over()) by_.take_in(&head_);
  if (!head_.over()) return nullptr;
  head_.settle();
  auto a = std::make_unique<arrival>();
  a->from = head_.found.source;
  a->in = std::exchange(coming_, nullptr);
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
  begin();
  return a;
}

void messenger::take(const arrival& a, std::byte* into, taker& tell) {
  taking& one = taking_.emplace_back();
  one.tell = &tell;
  one.w.what.operation = "tasks";
  one.w.what.source = a.from;
  one.w.what.tag = static_cast<int>(a.what.with);
  one.w.what.into = into;
  one.w.what.most = a.what.bytes;
  by_.begin(one.w);
}

void messenger::put(int to, int tag, const void* data, std::size_t bytes, block* message, sender* tell,
                    block* held, bool& done) {
  if (spare_.empty()) spare_.emplace_back();
  outgoing_.splice(outgoing_.end(), spare_, spare_.begin());
  outgoing& one = outgoing_.back();
  const detail::send_args l{"tasks", to, tag, send_modes::standard, data, bytes};
  done = by_.by().post(l, one.moving);
  if (done) {
    spare_.splice(spare_.end(), outgoing_, std::prev(outgoing_.end()));
    return;
  }
  one.message = message;
  one.tell = tell;
  one.held = held;
  if (message != nullptr) message->keep();
  if (held != nullptr) held->keep();
}

bool messenger::give(int to, head what, const void* contents, std::size_t bytes,
                     std::span<const forwarding> further, sender* tell, block* held) {
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
  bool done = false;
  put(to, 0, at, length, message, nullptr, nullptr, done);
  if (!done && message == scratch_) {  // it is on its way out of there
    scratch_->drop();
    scratch_ = block::make(max_message);
  }
  message->drop();
  if (!alone) return true;
  put(to, static_cast<int>(what.with), contents, bytes, nullptr, tell, held, done);
  return done;
}

bool messenger::go_on() {
  bool moved = false;
  for (auto one = outgoing_.begin(); one != outgoing_.end();) {
    const auto here = one++;
    if (!by_.by().sent(here->moving, by_.site_of("tasks", "a receive of its message", -1, -1))) continue;
    moved = true;
    for (block** b : {&here->message, &here->held})
      if (*b != nullptr) std::exchange(*b, nullptr)->drop();
    sender* const tell = std::exchange(here->tell, nullptr);
    spare_.splice(spare_.end(), outgoing_, here);
    if (tell != nullptr) tell->sent();
  }
  if (!taking_.empty()) by_.take_in();
  for (auto one = taking_.begin(); one != taking_.end();) {
    const auto here = one++;
    if (!here->w.over()) continue;
    moved = true;
    here->w.settle();
    taker& tell = *here->tell;
    taking_.erase(here);
    tell.taken();
  }
  return moved;
}

}  // namespace tutti::tasks
