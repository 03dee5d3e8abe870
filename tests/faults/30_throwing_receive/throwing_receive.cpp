// SPDX-License-Identifier: Apache-2.0
//
// Tests that a receive whose container throws when it is resized throws the same exception and
// discards the message. Its synchronous sender continues, and no other receive gets the message.
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

template <class T>
struct allocator {
  using value_type = T;
  allocator() = default;
  template <class U>
  allocator(const allocator<U>&) noexcept {}
  T* allocate(std::size_t) { throw std::bad_alloc(); }
  void deallocate(T*, std::size_t) noexcept {}
  friend bool operator==(const allocator&, const allocator&) = default;
};
using failing_vector = std::vector<int, allocator<int>>;

// Below and above the length that goes through the library.
constexpr std::size_t lengths[] = {3, 100000};

// Every rank sends to the next one, and `receive(left)` must throw.
template <class Receive>
void discards(const communicator& world, const std::string& name, const Receive& receive,
              std::size_t longest = 100000) {
  const int p = world.size(), right = (world.rank() + 1) % p, left = (world.rank() + p - 1) % p;
  for (const std::size_t n : lengths) {
    if (n > longest) continue;
    const std::vector<int> mine(n, 1);
    auto sent = world.issend(send_buf(mine), destination(right), tag(1));
    bool threw = false;
    try {
      receive(left);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    check.that(threw, name + " throws the exception of its container");
    sent.wait();
    world.barrier();
    check.that(!world.iprobe(tag(1)), name + " discards the message");
    world.barrier();  // the next messages have the same tag
    check.equal(world.sendrecv(send_buf(n), destination(right), source(left), tag(1)).front(), n);
    world.barrier();
  }
}

void blocking(const communicator& world) {
  discards(world, "recv", [&](int from) {
    world.recv(recv_buf(alloc_new<failing_vector>), source(from), tag(1));
  });
  discards(world, "recv into a container", [&](int from) {
    failing_vector v;
    world.recv(recv_buf<resize_to_fit>(v), source(from), tag(1));
  });
  discards(world, "try_recv", [&](int from) {
    failing_vector v;
    while (!world.try_recv(recv_buf<resize_to_fit>(v), source(from), tag(1))) {
    }
  });
}

void nonblocking(const communicator& world) {
  discards(world, "irecv", [&](int from) {
    world.irecv(recv_buf(alloc_new<failing_vector>), source(from), tag(1)).wait();
  });
  discards(world, "recv_init", [&](int from) {
    failing_vector v;
    auto plan = world.recv_init(recv_buf<resize_to_fit>(v), source(from), tag(1));
    plan.start();
    plan.wait();
  });
}

void matched(const communicator& world) {
  discards(world, "the receive of a matched message", [&](int from) {
    message m = world.mprobe(source(from), tag(1));
    try {
      m.recv(recv_buf(alloc_new<failing_vector>));
    } catch (const std::bad_alloc&) {
      check.that(!m.valid(), "the message is consumed");
      throw;
    }
  });
  discards(world, "the irecv of a matched message", [&](int from) {
    message m = world.mprobe(source(from), tag(1));
    m.irecv(recv_buf(alloc_new<failing_vector>)).wait();
  });
}

// recv_count resizes the container before the message is there.
void counted(const communicator& world) {
  for (const std::size_t n : lengths) {
    const std::string of = " of " + std::to_string(n);
    discards(world, "recv" + of, [&](int from) {
      world.recv(recv_buf(alloc_new<failing_vector>), recv_count(n), source(from), tag(1));
    }, n);
    discards(world, "recv into a container" + of, [&](int from) {
      failing_vector v;
      world.recv(recv_buf<resize_to_fit>(v), recv_count(n), source(from), tag(1));
    }, n);
    discards(world, "irecv" + of, [&](int from) {
      world.irecv(recv_buf(alloc_new<failing_vector>), recv_count(n), source(from), tag(1)).wait();
    }, n);
    discards(world, "recv_init" + of, [&](int from) {
      failing_vector v;
      auto plan = world.recv_init(recv_buf<resize_to_fit>(v), recv_count(n), source(from), tag(1));
      plan.start();
      plan.wait();
    }, n);
    discards(world, "the receive of a matched message" + of, [&](int from) {
      message m = world.mprobe(source(from), tag(1));
      m.recv(recv_buf(alloc_new<failing_vector>), recv_count(n));
    }, n);
    discards(world, "the irecv of a matched message" + of, [&](int from) {
      message m = world.mprobe(source(from), tag(1));
      m.irecv(recv_buf(alloc_new<failing_vector>), recv_count(n)).wait();
    }, n);
  }
}

// A container that has memory only when it is resized again, once the message is there. The count
// still limits the length.
struct late_container {
  using value_type = int;
  std::vector<int> inside;
  bool fails = true;
  int* data() { return inside.data(); }
  std::size_t size() const { return inside.size(); }
  void resize(std::size_t n) {
    if (std::exchange(fails, false)) throw std::bad_alloc();
    inside.resize(n);
  }
};

void second_attempt(const communicator& world) {
  const int p = world.size(), right = (world.rank() + 1) % p, left = (world.rank() + p - 1) % p;
  for (const std::size_t n : lengths) {
    const std::vector<int> mine(n, world.rank());
    auto sent = world.issend(send_buf(mine), destination(right), tag(1));
    late_container v;
    world.recv(recv_buf<resize_to_fit>(v), recv_count(n), source(left), tag(1));
    check.equal(v.inside, std::vector<int>(n, left));
    sent.wait();
    for (int form = 0; form < 2; ++form) {
      auto longer = world.issend(send_buf(mine), destination(right), tag(1));
      late_container shorter;
      check.throws<truncation_error>([&] {
        if (form == 0) {
          world.recv(recv_buf<resize_to_fit>(shorter), recv_count(n - 1), source(left), tag(1));
        } else {
          message m = world.mprobe(source(left), tag(1));
          m.irecv(recv_buf<resize_to_fit>(shorter), recv_count(n - 1)).wait();
        }
      }, {"recv_count"});
      longer.wait();
    }
    world.barrier();
    check.that(!world.iprobe(tag(1)), "a message that is too long is discarded");
    world.barrier();
  }
}

void exchanged(const communicator& world) {
  const int p = world.size(), right = (world.rank() + 1) % p, left = (world.rank() + p - 1) % p;
  failing_vector v;
  check.throws<std::bad_alloc>([&] {
    world.sendrecv(send_buf(std::vector<int>(100000, 1)), destination(right), source(left),
                   recv_buf<resize_to_fit>(v));
  }, {});
  world.barrier();
  check.that(!world.iprobe(), "sendrecv discards the message");
  world.barrier();
  check.throws<std::bad_alloc>([&] {
    world.sendrecv(send_buf(std::vector<int>(100000, 1)), destination(right), source(left),
                   recv_buf<resize_to_fit>(v), recv_count(100000));
  }, {});
  world.barrier();
  check.that(!world.iprobe(), "sendrecv with recv_count discards the message");
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& run) {
    run("blocking", [&] { blocking(world); });
    run("nonblocking", [&] { nonblocking(world); });
    run("matched", [&] { matched(world); });
    run("counted", [&] { counted(world); });
    run("second_attempt", [&] { second_attempt(world); });
    run("exchanged", [&] { exchanged(world); });
  });
}
