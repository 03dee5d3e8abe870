// SPDX-License-Identifier: Apache-2.0
//
// Messages between the task graphs of a runtime. Each message begins with a head that identifies
// it. Short contents follow the head; long ones travel alone, on a tag that the head names. So one
// posted receive serves all messages in any order, and no tag limits the number of data or
// transfers.
//
// data_sender and the tables of transfers send. task_graph asks for arrivals, and hands each to its
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "communicator/p2p/message_queue.hpp"
#include "frontends/tasks/data_memory.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {
class communicator_impl;
}

namespace tutti::tasks {

enum class message_kind : std::uint16_t {
  contents,           // of data
  explicit_transfer,  // of a transfer that the program requested: `id` is its tag
  collect,            // asks for contributions to a reduction, for the ranks that follow too
  contribution,       // the answer
  inquiry,            // whether a transfer will arrive; with a token: whether any more will
  never,              // the answer: it will not
  gone,               // an exception has left the scope of the runtime
  meeting,            // at a barrier
  pack                // contents of many data: scatter and gather
};

struct head {
  message_kind kind = message_kind::contents;
  std::uint16_t poisoned = 0;  // a failure follows instead of contents
  std::uint32_t sequence = 0;  // counts the transfers of a pair of ranks, or of a kind
  std::int32_t origin = 0;     // the rank whose contents they are
  std::uint32_t with = 0;      // the tag of contents that travel alone; 0: they follow the head
  std::int64_t id = 0;         // of the data
  std::uint32_t further = 0;   // how many ranks follow, to which the receiver forwards this
  std::uint32_t token = 0;     // identifies a collection at the rank that asks
  std::uint64_t bytes = 0;     // of the contents
  std::uint32_t count = 0;     // of contributions
  std::uint32_t unused = 0;
};

/// A rank to which a message is forwarded, and the sequence number of the message there.
struct forwarding {
  std::int32_t rank = 0;
  std::uint32_t sequence = 0;
  std::uint32_t count = 0;  // of its contributions
};

/// Is notified when long contents are sent.
class send_listener {
 public:
  virtual void sent() = 0;

 protected:
  ~send_listener() = default;
};

/// A message that has arrived. A long one is complete when its contents are received too.
struct arrival {
  head what;
  int from = 0;
  block* in = nullptr;  // the contents, with one use; null: long ones that are not received yet
  std::vector<forwarding> further;
  ~arrival() {
    if (in != nullptr) in->drop();
  }
};

/// Is notified when long contents are received.
class receive_listener {
 public:
  virtual void received() = 0;

 protected:
  ~receive_listener() = default;
};

/// How the nodes and tables of transfers send and receive. The unit tests have their own.
class message_channel {
 public:
  /// Sends a message. Returns true if the contents are no longer needed. Otherwise notifies
  /// `listener` later, and keeps `held`, which may be null, until then. Short contents are copied.
  virtual bool send(int to, head what, const void* contents, std::size_t bytes,
                    std::span<const forwarding> further = {}, send_listener* listener = nullptr,
                    block* held = nullptr) = 0;
  /// Begins to receive the contents of a message that travel alone. `listener` is notified when
  /// they are complete.
  virtual void receive(const arrival& a, std::byte* into, receive_listener& listener) = 0;

 protected:
  ~message_channel() = default;
};

/// Messages on the communicator of the runtime.
class messenger final : public message_channel {
 public:
  static constexpr std::size_t max_inside = 4000;  // bytes that may follow the head

  explicit messenger(message_queue& by);
  ~messenger();
  messenger(const messenger&) = delete;

  bool send(int to, head what, const void* contents, std::size_t bytes, std::span<const forwarding> further,
            send_listener* listener, block* held) override;
  void receive(const arrival& a, std::byte* into, receive_listener& listener) override;
  /// The next arrival, or null.
  std::unique_ptr<arrival> next();
  /// Progresses sends and receives. Returns whether any is complete.
  bool go_on();
  /// Whether sends, or receives of long contents, are under way.
  bool busy() const noexcept { return !outgoing_.empty() || !incoming_.empty(); }

 private:
  struct outgoing {
    transfer moving;
    block* message = nullptr;
    block* held = nullptr;
    send_listener* listener = nullptr;
  };
  struct incoming {
    posted_recv posted;
    receive_listener* listener;
  };
  static void* allocate(void* self, const detail::envelope& what);
  std::uint32_t next_tag() noexcept { return last_tag_ = last_tag_ % 32000 + 1; }
  bool post(int to, int tag, const void* data, std::size_t bytes, block* message, send_listener* listener,
            block* held);

  message_queue& by_;
  posted_recv head_;
  block* arriving_ = nullptr;
  block* scratch_ = nullptr;  // for messages that are sent at once
  std::list<outgoing> outgoing_;
  std::list<incoming> incoming_;
  std::list<outgoing> spare_;
  std::uint32_t last_tag_ = 0;
};

}  // namespace tutti::tasks
