// SPDX-License-Identifier: Apache-2.0
//
// The times of a switch: when it hands a frame to which port. It reads no clock and no device, so
// tests give it the times.
//
// Each port has a rate in each direction, and a bounded queue before each. A frame leaves its
// sender when the frames before it have left. Its first bit reaches the switch after the delay.
// There it goes on at once (cut-through), or when the frames to the same port before it have left.
// It is handed over when its last bit arrives. A frame that finds a full queue is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace cluster_relay {

using nanoseconds = std::int64_t;  // since any instant

struct link_limits {
  double bits_per_second;
  nanoseconds delay;        // from port to port
  std::size_t queue_bytes;  // of one direction of one port
};

// A frame as the devices exchange it, with the bytes that it takes on the wire: a device may hand
// over several segments as one frame.
struct frame {
  std::vector<std::byte> content;
  std::size_t wire_bytes = 0;
};

class shaped_switch {
 public:
  shaped_switch(std::size_t ports, link_limits limits) : limits_(limits), ports_(ports) {}

  // A frame has come from the device of port `from`, for the ports `to`.
  void receive(std::size_t from, const std::vector<std::size_t>& to, frame f, nanoseconds now) {
    const nanoseconds time = on_wire(f.wire_bytes);
    const std::optional<nanoseconds> begin = enqueue(ports_[from].out_free, time, now);
    if (!begin) return;
    const auto shared = std::make_shared<const frame>(std::move(f));
    for (const std::size_t port : to) add({*begin + limits_.delay, 0, false, port, shared});
  }

  // The time of the next event, if there is one.
  std::optional<nanoseconds> next() const {
    return events_.empty() ? std::nullopt : std::optional(events_.top().time);
  }

  // Performs the events up to `now`: calls deliver(port, frame) for each frame that has arrived.
  template <typename Deliver>
  void advance(nanoseconds now, Deliver deliver) {
    while (!events_.empty() && events_.top().time <= now) {
      event e = events_.top();
      events_.pop();
      if (e.arrived) {
        deliver(e.port, *e.content);
        continue;
      }
      const nanoseconds time = on_wire(e.content->wire_bytes);
      const std::optional<nanoseconds> begin = enqueue(ports_[e.port].in_free, time, e.time);
      if (begin) add({*begin + time, 0, true, e.port, std::move(e.content)});
    }
  }

  std::size_t dropped() const { return dropped_; }

 private:
  struct port {
    nanoseconds out_free = 0;  // when all frames that wait for this direction have left
    nanoseconds in_free = 0;
  };
  struct event {
    nanoseconds time;
    std::uint64_t order;  // events of the same time keep their order
    bool arrived;         // the whole frame is at its port; false: its first bit is at the switch
    std::size_t port;
    std::shared_ptr<const frame> content;
    bool operator>(const event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  nanoseconds on_wire(std::size_t bytes) const {
    return static_cast<nanoseconds>(static_cast<double>(bytes) * 8e9 / limits_.bits_per_second + 0.5);
  }
  // Returns when a frame that comes at `now` begins to leave, or nothing if the queue is full.
  std::optional<nanoseconds> enqueue(nanoseconds& free, nanoseconds time, nanoseconds now) {
    const nanoseconds begin = free > now ? free : now;
    if (begin - now > on_wire(limits_.queue_bytes)) {
      ++dropped_;
      return std::nullopt;
    }
    free = begin + time;
    return begin;
  }
  void add(event e) {
    e.order = ++last_order_;
    events_.push(std::move(e));
  }

  link_limits limits_;
  std::vector<port> ports_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t last_order_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace cluster_relay
