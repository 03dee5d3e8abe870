// SPDX-License-Identifier: Apache-2.0
//
// Messages between the task graphs of a runtime. Each message begins with a header that identifies
// it. Short contents follow the header. Long contents are a separate message, whose tag the header
// names. So one posted receive serves all messages in any order, and no tag limits the number of
// data or transfers.
//
// data_sender and the tables of transfers send. task_graph polls for arrivals, and hands each to
// its table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "frontends/tasks/data_memory.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {
class communicator_impl;
}

namespace tutti::tasks {

using namespace tutti::detail;

enum class message_kind : std::uint16_t {
  contents,           // of data
  explicit_transfer,  // of a transfer that the program requested: `id` is its tag
  collect,            // requests contributions to a reduction, also from the ranks that follow
  contribution,       // the reply to `collect`
  inquiry,            // whether a transfer will arrive; with a token: whether any more will
  never_sent,         // the reply to `inquiry`, if the transfer will not arrive
  aborted,            // an exception has left the scope of the runtime
  barrier,            // one round of a barrier
  pack                // contents of many data: scatter and gather
};

struct message_header {
  message_kind kind = message_kind::contents;
  std::uint16_t poisoned = 0;       // a failure follows instead of contents
  std::uint32_t sequence = 0;       // counts the transfers of a pair of ranks, or of a kind
  std::int32_t origin = 0;          // the rank whose contents they are
  std::uint32_t contents_tag = 0;   // the tag of separate contents; 0: they follow the header
  std::int64_t id = 0;              // of the data
  std::uint32_t forward_count = 0;  // ranks that follow; the receiver forwards the message to them
  std::uint32_t token = 0;          // identifies a collection at the rank that requests it
  std::uint64_t bytes = 0;          // of the contents
  std::uint32_t count = 0;          // of contributions
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
  message_header header;
  int from = 0;
  block* memory = nullptr;  // the contents, with one use; null: long ones that are not received yet
  std::vector<forwarding> forward_to;
  ~arrival() {
    if (memory != nullptr) memory->release();
  }
};

/// Is notified when long contents are received.
class receive_listener {
 public:
  virtual void received() = 0;

 protected:
  ~receive_listener() = default;
};

/// The interface by which the nodes and tables of transfers send and receive. The unit tests
/// implement their own.
class message_channel {
 public:
  /// Sends a message. Returns true if the contents are no longer needed. Otherwise notifies
  /// `listener` later, and retains `keep_alive`, which may be null, until then. Short contents are
  /// copied.
  virtual bool send(int to, message_header header, const void* contents, std::size_t bytes,
                    std::span<const forwarding> forward_to = {}, send_listener* listener = nullptr,
                    block* keep_alive = nullptr) = 0;
  /// Begins to receive the separate contents of a message. `listener` is notified when they are
  /// complete.
  virtual void receive(const arrival& a, std::byte* into, receive_listener& listener) = 0;

 protected:
  ~message_channel() = default;
};

/// Messages on the communicator of the runtime.
class messenger final : public message_channel {
 public:
  static constexpr std::size_t max_inline = 4000;  // bytes that may follow the header

  explicit messenger(message_queue& queue);
  ~messenger();
  messenger(const messenger&) = delete;

  bool send(int to, message_header header, const void* contents, std::size_t bytes,
            std::span<const forwarding> forward_to, send_listener* listener, block* keep_alive) override;
  void receive(const arrival& a, std::byte* into, receive_listener& listener) override;
  /// The next arrival, or null.
  std::unique_ptr<arrival> next();
  /// Progresses sends and receives. Returns whether any is complete.
  bool progress();
  /// Whether sends, or receives of long contents, are under way.
  bool busy() const noexcept { return !outgoing_.empty() || !incoming_.empty(); }

 private:
  struct outgoing {
    transfer state;
    block* message = nullptr;
    block* keep_alive = nullptr;
    send_listener* listener = nullptr;
  };
  struct incoming {
    posted_recv posted;
    receive_listener* listener;
  };
  static void* allocate(void* self, const detail::envelope& found);
  std::uint32_t next_tag() noexcept { return last_tag_ = last_tag_ % 32000 + 1; }
  bool post(int to, int tag, const void* data, std::size_t bytes, block* message, send_listener* listener,
            block* keep_alive);

  message_queue& queue_;
  posted_recv header_recv_;
  block* arriving_block_ = nullptr;
  block* scratch_ = nullptr;  // for messages that are sent at once
  std::list<outgoing> outgoing_;
  std::list<incoming> incoming_;
  std::list<outgoing> free_;
  std::uint32_t last_tag_ = 0;
};

}  // namespace tutti::tasks
