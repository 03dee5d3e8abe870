// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages of the program between ranks of a node use its memory. All modes and
// lengths, many messages before the first receive, any source, probes, several communicators,
// messages of schedules and collectives of MPI between them, and messages that nobody receives.
// Sends of MPI are counted: there must be none.
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "memory_world.hpp"

namespace {
int sends_of_mpi = 0;
}

#define COUNTED_SEND(NAME)                                                                       \
  extern "C" int MPI_##NAME(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { \
    ++sends_of_mpi;                                                                              \
    return PMPI_##NAME(a, n, t, to, tag, c);                                                     \
  }
#define COUNTED_ISEND(NAME)                                                                    \
  extern "C" int MPI_##NAME(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
                            MPI_Request* r) {                                                  \
    ++sends_of_mpi;                                                                            \
    return PMPI_##NAME(a, n, t, to, tag, c, r);                                                \
  }
COUNTED_SEND(Send)
COUNTED_SEND(Ssend)
COUNTED_ISEND(Isend)
COUNTED_ISEND(Issend)

namespace {

using namespace tests;
using namespace tutti;
using detail::envelope;
using bytes = std::vector<std::byte>;

const send_modes all_modes[] = {send_modes::standard, send_modes::buffered, send_modes::synchronous};
const std::size_t all_lengths[] = {0, 1, 47, 48, 49, 8191, 8192, 8193, 70'000, 1'000'000};

bytes contents(int from, int to, int tag, std::size_t n) {
  bytes made(n);
  for (std::size_t i = 0; i < n; ++i)
    made[i] = static_cast<std::byte>(from * 31 + to * 7 + tag * 13 + static_cast<int>(i % 251));
  return made;
}

detail::send_args to(int peer, int tag, const bytes& data, send_modes mode) {
  return {.operation = "isend",
          .destination = peer,
          .tag = tag,
          .mode = mode,
          .data = data.data(),
          .bytes = data.size()};
}

void receive(communicator& c, int source, int tag, int from, int expected_tag, std::size_t n) {
  bytes into(n + 8);
  const envelope e = detail::receive(
      detail::impl_of(c),
      {.operation = "recv", .source = source, .tag = tag, .into = into.data(), .capacity = into.size()});
  require(e.source == from && e.tag == expected_tag && e.bytes == n,
          "got tag " + std::to_string(e.tag) + " of rank " + std::to_string(e.source) + " with " +
              std::to_string(e.bytes) + " bytes instead of tag " + std::to_string(expected_tag) +
              " of rank " + std::to_string(from) + " with " + std::to_string(n));
  into.resize(n);
  require(into == contents(from, here_is.rank, expected_tag, n), std::to_string(n) + " bytes are not intact");
}

struct sends {
  std::deque<bytes> data;
  std::vector<detail::pending_call> all;

  void start(communicator& c, int peer, int tag, std::size_t n, send_modes mode) {
    data.push_back(contents(here_is.rank, peer, tag, n));
    if (mode == send_modes::buffered) {
      detail::send(detail::impl_of(c), to(peer, tag, data.back(), mode));
      for (std::byte& b : data.back()) b = std::byte{0xee};
      data.pop_back();
    } else {
      all.push_back(detail::start_send(detail::impl_of(c), to(peer, tag, data.back(), mode)));
    }
  }
  void wait() {
    for (detail::pending_call& one : all) one->wait();
    all.clear();
    data.clear();
  }
};

int right() { return (here_is.rank + 1) % here_is.size; }
int left() { return (here_is.rank + here_is.size - 1) % here_is.size; }

void modes_and_lengths(communicator& c) {
  for (const send_modes mode : all_modes)
    for (const std::size_t n : all_lengths) {
      sends s;
      for (int d = 1; d < here_is.size; ++d) s.start(c, (here_is.rank + d) % here_is.size, 5, n, mode);
      for (int d = 1; d < here_is.size; ++d) {
        const int from = (here_is.rank + here_is.size - d) % here_is.size;
        receive(c, from, 5, from, 5, n);
      }
      s.wait();
    }
}

// More messages than a ring holds arrive before the first receive, and receives take them in the
// order of their tags or in the reverse order.
void many_before_the_first_receive(communicator& c) {
  constexpr int count = 500;
  for (const bool reversed : {false, true}) {
    sends s;
    for (int i = 0; i < count; ++i)
      s.start(c, right(), i, static_cast<std::size_t>(i % 7 == 0 ? 20'000 : i % 90), all_modes[i % 3]);
    c.barrier();
    for (int k = 0; k < count; ++k) {
      const int i = reversed ? count - 1 - k : k;
      receive(c, left(), i, left(), i, static_cast<std::size_t>(i % 7 == 0 ? 20'000 : i % 90));
    }
    s.wait();
  }
}

// The messages of each sender come in their order, short and long ones.
void any_source_and_tag(communicator& c) {
  constexpr int count = 60;
  const auto length_of = [](int tag) { return static_cast<std::size_t>(tag % 3 == 0 ? 30'000 : tag); };
  sends s;
  for (int tag = 0; tag < count; ++tag)
    for (int d = 1; d < here_is.size; ++d)
      s.start(c, (here_is.rank + d) % here_is.size, tag, length_of(tag), all_modes[(tag + d) % 3]);
  std::vector<int> next(static_cast<std::size_t>(here_is.size));
  for (int i = 0; i < count * (here_is.size - 1); ++i) {
    envelope found;
    require(detail::probe(detail::impl_of(c), "probe", rank::any, tags::any, true, found),
            "nothing is there");
    const int tag = next[static_cast<std::size_t>(found.source)]++;
    require(found.tag == tag && found.bytes == length_of(tag), "the order of a sender differs");
    receive(c, rank::any, tags::any, found.source, tag, length_of(tag));
  }
  s.wait();
}

void matched_probes(communicator& c) {
  for (const std::size_t n : {std::size_t{10}, std::size_t{50'000}}) {
    sends s;
    s.start(c, right(), 1, n, send_modes::standard);
    s.start(c, right(), 1, n + 1, send_modes::synchronous);
    envelope found;
    detail::matched_message* const one = detail::mprobe(detail::impl_of(c), "mprobe", left(), 1, true, found);
    require(one != nullptr && found.bytes == n, "the first message was not found");
    receive(c, left(), 1, left(), 1, n + 1);
    bytes into(n);
    detail::recv_args r{.operation = "mrecv", .into = into.data(), .capacity = n};
    r.matched = one;
    detail::receive(detail::impl_of(c), r);
    require(into == contents(left(), here_is.rank, 1, n), "a matched message is not intact");
    s.wait();
  }
}

// The receiver opens the messages of the second communicator long after they have arrived.
void several_communicators(communicator& c) {
  communicator late = c.duplicate();
  sends s;
  for (int i = 0; i < 20; ++i) {
    s.start(late, right(), i, static_cast<std::size_t>(1000 * i), all_modes[i % 3]);
    s.start(c, right(), i, static_cast<std::size_t>(i), send_modes::buffered);
  }
  for (int i = 0; i < 20; ++i) receive(c, left(), i, left(), i, static_cast<std::size_t>(i));
  c.barrier();
  for (int i = 0; i < 20; ++i) receive(late, rank::any, i, left(), i, static_cast<std::size_t>(1000 * i));
  s.wait();
}

// Schedules use the same channels. Their messages and those of the program pass each other.
void between_schedules(communicator& c) {
  for (int i = 0; i < 20; ++i) {
    sends s;
    s.start(c, right(), i, i % 2 == 0 ? 100 : 100'000, all_modes[i % 3]);
    const std::vector<int> mine(static_cast<std::size_t>(1 + 500 * i), here_is.rank);
    const auto sum = c.allreduce(send_buf(mine), op(std::plus<>{}), algorithm("allreduce/ring"));
    for (const int one : sum) require(one == here_is.size * (here_is.size - 1) / 2, "a sum is wrong");
    receive(c, left(), i, left(), i, i % 2 == 0 ? 100 : 100'000);
    s.wait();
  }
}

// The receiver takes part in the collective only when it has the message. The sender's wait in the
// collective must send the rest of it.
void buffered_before_collectives(communicator& c) {
  for (int i = 0; i < 4; ++i) {
    sends s;
    if (here_is.rank == 0) s.start(c, 1, i, 1'000'000, send_modes::buffered);
    if (here_is.rank == 1) receive(c, 0, i, 0, i, 1'000'000);
    if (i % 2 == 0) {
      c.barrier();
    } else {
      const std::vector<int> mine(static_cast<std::size_t>(here_is.size), here_is.rank),
          one(static_cast<std::size_t>(here_is.size), 1);
      const auto got = c.alltoallv(send_buf(mine), send_counts(one));
      require(static_cast<int>(got.size()) == here_is.size && got.back() == here_is.size - 1,
              "an alltoallv is wrong");
    }
  }
}

// A receive is posted before its message is sent, while others are received.
void posted_receives(communicator& c) {
  sends s;
  s.start(c, right(), 1, 300'000, send_modes::standard);
  s.start(c, right(), 2, 300'000, send_modes::standard);
  bytes into(300'000);
  {
    const auto posted = detail::start_receive(
        detail::impl_of(c),
        {.operation = "irecv", .source = left(), .tag = 3, .into = into.data(), .capacity = into.size()});
    receive(c, left(), 2, left(), 2, 300'000);
    s.start(c, right(), 3, 300'000, send_modes::standard);
    posted->wait();
    require(into == contents(left(), here_is.rank, 3, into.size()), "a posted receive is not intact");
  }
  receive(c, left(), 1, left(), 1, 300'000);
  s.wait();
}

void run_all() {
  {
    communicator world = adopt_for_memory();
    world.barrier();
    sends_of_mpi = 0;
    modes_and_lengths(world);
    many_before_the_first_receive(world);
    any_source_and_tag(world);
    matched_probes(world);
    several_communicators(world);
    between_schedules(world);
    posted_receives(world);
    require(sends_of_mpi == 0, "MPI has sent " + std::to_string(sends_of_mpi) + " messages");
    buffered_before_collectives(world);
    // Nobody receives these.
    sends s;
    for (int i = 0; i < 30; ++i) s.start(world, right(), i, i % 2 == 0 ? 10 : 50'000, send_modes::buffered);
    world.barrier();
  }
  // A second endpoint begins with empty channels.
  communicator again = adopt_for_memory();
  modes_and_lengths(again);
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
