// SPDX-License-Identifier: Apache-2.0
//
// Messages between the flows of a runtime. Each begins with a head that says what it is; short contents stand
// behind it, long ones travel by themselves on a tag that the head names. So one receive of all that begins
// with a head serves everything, in whatever order it comes, and lengths of data or numbers of them are bound
// by no tag.
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
  contents,           // of a datum
  explicit_transfer,  // of a transfer that the program asked for: `number` is its tag
  collect,            // of what was contributed to a reduction, by the ranks named behind
  contribution,       // the answer
  inquiry,  // whether a transfer will ever come; with a token: whether anything will that is asked for
  never,    // the answer: it will not
  gone,     // an exception has left the runtime's scope
  meeting,  // at a barrier
  pack      // of many data: scatter and gather
};

struct head {
  message_kind kind = message_kind::contents;
  std::uint16_t poisoned = 0;  // there are no contents; what stands behind says why
  std::uint32_t sequence = 0;
  std::int32_t origin = 0;    // the rank whose contents they are
  std::uint32_t with = 0;     // the tag of contents that travel by themselves; 0: they stand behind
  std::int64_t number = 0;    // of the datum
  std::uint32_t further = 0;  // how many ranks are named behind, for which this goes on
  std::uint32_t token = 0;    // of who collects
  std::uint64_t bytes = 0;    // of the contents
  std::uint32_t count = 0;    // of contributions that are collected
  std::uint32_t unused = 0;
};

/// A rank for which a message goes on, and what the message is called there.
struct forwarding {
  std::int32_t rank = 0;
  std::uint32_t sequence = 0;
  std::uint32_t count = 0;  // of contributions that it has made
};

/// What waits until something long is sent.
class sender {
 public:
  virtual void sent() = 0;

 protected:
  ~sender() = default;
};

/// A message that has come. Where it is long it is complete once its contents are.
struct arrival {
  head what;
  int from = 0;
  block* in = nullptr;              // contents, but for long ones that are not taken yet; kept
  std::vector<forwarding> further;  // of those for which it goes on
  ~arrival() {
    if (in != nullptr) in->drop();
  }
};

/// Who is given long contents when they are there.
class taker {
 public:
  virtual void taken() = 0;

 protected:
  ~taker() = default;
};

class messenger {
 public:
  static constexpr std::size_t max_inside = 4000;  // bytes that stand behind the head

  explicit messenger(message_queue& by);
  ~messenger();
  messenger(const messenger&) = delete;

  /// Sends; what is short is copied, and then sent. True where contents are done with; else `tell` will be
  /// called, and `held`, if any, is kept until then.
  bool give(int to, head what, const void* contents, std::size_t bytes,
            std::span<const forwarding> further = {}, sender* tell = nullptr, block* held = nullptr);
  /// The next that has come, with what stands behind its head; null: none.
  std::unique_ptr<arrival> next();
  /// Begins to take long contents; `tell` is called when they are there.
  void take(const arrival& a, std::byte* into, taker& tell);
  /// Goes on with what is under way; true where something was.
  bool go_on();
  /// Whether messages are on their way that no arrival will complete.
  bool busy() const noexcept { return !outgoing_.empty() || !taking_.empty(); }
  bool sends() const noexcept { return !outgoing_.empty(); }
  message_queue& box() noexcept { return by_; }

 private:
  struct outgoing {
    transfer moving;
    block* message = nullptr;
    block* held = nullptr;
    sender* tell = nullptr;
  };
  struct taking {
    posted_recv w;
    taker* tell;
  };
  static void* room(void* self, const detail::envelope& what);
  void begin();
  std::uint32_t next_tag() noexcept { return last_tag_ = last_tag_ % 32000 + 1; }
  void put(int to, int tag, const void* data, std::size_t bytes, block* message, sender* tell, block* held,
           bool& done);

  message_queue& by_;
  posted_recv head_;
  block* coming_ = nullptr;
  block* scratch_ = nullptr;  // for what is sent at once
  std::list<outgoing> outgoing_;
  std::list<taking> taking_;
  std::list<outgoing> spare_;
  std::uint32_t last_tag_ = 0;
};

}  // namespace tutti::tasks
