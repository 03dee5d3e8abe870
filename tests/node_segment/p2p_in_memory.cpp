// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages of the program between ranks of a node use its memory, on communicators
// and on groups that are made without a message. The tests cover all modes and lengths, many
// messages before the first receive, any source, probes, several communicators, messages of
// schedules and collectives of MPI between them, and messages that no rank receives. MPI must send
// no message but those of a rank to itself.
#include <cstdio>
#include <string>
#include <vector>

#include <mpi.h>

#include "checked_messages.hpp"
#include "counted_sends.hpp"

namespace {

using namespace tests;
using namespace tutti;
using detail::envelope;

const std::size_t all_lengths[] = {0, 1, 47, 48, 49, 8191, 8192, 8193, 70'000, 1'000'000};

void modes_and_lengths(communicator& c) {
  for (const send_modes mode : all_modes)
    for (const std::size_t n : all_lengths) {
      sends s;
      for (int d = 1; d < c.size(); ++d) s.start(c, (c.rank() + d) % c.size(), 5, n, mode);
      for (int d = 1; d < c.size(); ++d) {
        const int from = (c.rank() + c.size() - d) % c.size();
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
      s.start(c, right(c), i, static_cast<std::size_t>(i % 7 == 0 ? 20'000 : i % 90), all_modes[i % 3]);
    c.barrier();
    for (int k = 0; k < count; ++k) {
      const int i = reversed ? count - 1 - k : k;
      receive(c, left(c), i, left(c), i, static_cast<std::size_t>(i % 7 == 0 ? 20'000 : i % 90));
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
    for (int d = 1; d < c.size(); ++d)
      s.start(c, (c.rank() + d) % c.size(), tag, length_of(tag), all_modes[(tag + d) % 3]);
  std::vector<int> next(static_cast<std::size_t>(c.size()));
  for (int i = 0; i < count * (c.size() - 1); ++i) {
    envelope found;
    require(detail::probe(detail::impl_of(c), "probe", rank::any, tags::any, true, found),
            "nothing is there");
    const int tag = next[static_cast<std::size_t>(found.source)]++;
    require(found.tag == tag && found.bytes == length_of(tag), "the order of a sender differs");
    receive(c, rank::any, tags::any, found.source, tag, length_of(tag));
  }
  s.wait();
  c.barrier();  // no later message may come between these
}

void matched_probes(communicator& c) {
  for (const std::size_t n : {std::size_t{10}, std::size_t{50'000}}) {
    sends s;
    s.start(c, right(c), 1, n, send_modes::standard);
    s.start(c, right(c), 1, n + 1, send_modes::synchronous);
    envelope found;
    detail::matched_message* const one =
        detail::mprobe(detail::impl_of(c), "mprobe", left(c), 1, true, found);
    require(one != nullptr && found.bytes == n, "the first message was not found");
    receive(c, left(c), 1, left(c), 1, n + 1);
    bytes into(n);
    detail::recv_args r{.operation = "mrecv", .into = into.data(), .capacity = n};
    r.matched = one;
    detail::receive(detail::impl_of(c), r);
    require(into == contents(left(c), c.rank(), 1, n), "a matched message is not intact");
    s.wait();
  }
}

// The receiver opens the messages of the second communicator long after they have arrived.
void several_communicators(communicator& c) {
  communicator late = c.duplicate();
  sends s;
  for (int i = 0; i < 20; ++i) {
    s.start(late, right(c), i, static_cast<std::size_t>(1000 * i), all_modes[i % 3]);
    s.start(c, right(c), i, static_cast<std::size_t>(i), send_modes::buffered);
  }
  for (int i = 0; i < 20; ++i) receive(c, left(c), i, left(c), i, static_cast<std::size_t>(i));
  c.barrier();
  for (int i = 0; i < 20; ++i) receive(late, rank::any, i, left(c), i, static_cast<std::size_t>(1000 * i));
  s.wait();
}

// Schedules use the same channels. Their messages and those of the program pass each other.
void between_schedules(communicator& c) {
  for (int i = 0; i < 20; ++i) {
    sends s;
    s.start(c, right(c), i, i % 2 == 0 ? 100 : 100'000, all_modes[i % 3]);
    const std::vector<int> mine(static_cast<std::size_t>(1 + 500 * i), c.rank());
    const auto sum = c.allreduce(send_buf(mine), op(std::plus<>{}), algorithm("allreduce/ring"));
    for (const int one : sum) require(one == c.size() * (c.size() - 1) / 2, "a sum is wrong");
    receive(c, left(c), i, left(c), i, i % 2 == 0 ? 100 : 100'000);
    s.wait();
  }
}

// The receiver takes part in the collective only when it has the message. The sender's wait in the
// collective must send the rest of it.
void buffered_before_collectives(communicator& c) {
  for (int i = 0; i < 4; ++i) {
    sends s;
    if (c.rank() == 0) s.start(c, 1, i, 1'000'000, send_modes::buffered);
    if (c.rank() == 1) receive(c, 0, i, 0, i, 1'000'000);
    if (i % 2 == 0) {
      c.barrier();
    } else {
      const std::vector<int> mine(static_cast<std::size_t>(c.size()), c.rank()),
          one(static_cast<std::size_t>(c.size()), 1);
      const auto got = c.alltoallv(send_buf(mine), send_counts(one));
      require(static_cast<int>(got.size()) == c.size() && got.back() == c.size() - 1,
              "an alltoallv is wrong");
    }
  }
}

// A receive is posted before its message is sent, while others are received.
void posted_receives(communicator& c) {
  sends s;
  s.start(c, right(c), 1, 300'000, send_modes::standard);
  s.start(c, right(c), 2, 300'000, send_modes::standard);
  bytes into(300'000);
  {
    const auto posted = detail::start_receive(
        detail::impl_of(c),
        {.operation = "irecv", .source = left(c), .tag = 3, .into = into.data(), .capacity = into.size()});
    receive(c, left(c), 2, left(c), 2, 300'000);
    s.start(c, right(c), 3, 300'000, send_modes::standard);
    posted->wait();
    require(into == contents(left(c), c.rank(), 3, into.size()), "a posted receive is not intact");
  }
  receive(c, left(c), 1, left(c), 1, 300'000);
  s.wait();
}

// Messages in two groups of the same members have the same tags. The receiver takes those of the
// second group first.
void alternating_groups(communicator& c) {
  communicator one = c.range(0, c.size() - 1), other = c.range(0, c.size() - 1);
  for (int round = 0; round < 10; ++round) {
    sends s;
    for (int i = 0; i < 10; ++i) {
      const auto n = static_cast<std::size_t>(i % 3 == 0 ? 9000 : i);
      s.start(i % 2 == 0 ? one : other, right(c), i % 4, n, all_modes[i % 3]);
    }
    for (const int first : {1, 0})
      for (int i = first; i < 10; i += 2)
        receive(first == 0 ? one : other, left(c), tags::any, left(c), i % 4,
                static_cast<std::size_t>(i % 3 == 0 ? 9000 : i));
    s.wait();
  }
}

// The sender has freed its group before the receiver uses it.
void freed_before_the_receive(communicator& c) {
  for (int i = 0; i < 20; ++i) {
    communicator group = c.range(0, c.size() - 1);
    if (group.rank() == 0) {
      sends s;
      s.start(group, 1, i, static_cast<std::size_t>(i), send_modes::buffered);
      group = communicator(c);
      s.start(c, 1, i, 0, send_modes::standard);
      s.wait();
    } else if (group.rank() == 1) {
      receive(c, 0, i, 0, i, 0);
      receive(group, 0, i, 0, i, static_cast<std::size_t>(i));
    }
  }
}

// MPI carries messages of a rank to itself. A probe of any source finds them and the others.
void to_itself(communicator& c) {
  for (const std::size_t n : {std::size_t{5}, std::size_t{60'000}}) {
    sends s;
    s.start(c, c.rank(), 1, n, send_modes::standard);
    s.start(c, right(c), 2, n, send_modes::standard);
    for (int i = 0; i < 2; ++i) {
      envelope found;
      require(detail::probe(detail::impl_of(c), "probe", rank::any, tags::any, true, found),
              "nothing is there");
      require(found.tag == (found.source == c.rank() ? 1 : 2), "a message has another source");
      receive(c, found.source, found.tag, found.source, found.tag, n);
    }
    s.wait();
    c.barrier();  // no later message may come between these
  }
}

void in_a_group(communicator& c) {
  if (c.size() < 2) return;
  modes_and_lengths(c);
  many_before_the_first_receive(c);
  any_source_and_tag(c);
  matched_probes(c);
  between_schedules(c);
  posted_receives(c);
}

void in_groups(communicator& world) {
  const int p = world.size();
  communicator all = world.range(0, p - 1), reversed = world.range(p - 1, 0, -1);
  in_a_group(all);
  in_a_group(reversed);
  alternating_groups(world);
  alternating_groups(reversed);
  freed_before_the_receive(all);
  if (world.rank() >= 2) return;
  communicator two = world.list({1, 0}), within = two.range(1, 0, -1);
  in_a_group(two);
  in_a_group(within);
  alternating_groups(within);
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
    in_groups(world);
    require_sends_of_mpi(0, "messages of the program");
    to_itself(world);
    communicator all = world.range(0, world.size() - 1);
    to_itself(all);
    require(sends_of_mpi > 0, "messages to itself are not counted");
    buffered_before_collectives(world);
    // Nobody receives these.
    sends s;
    for (int i = 0; i < 30; ++i)
      s.start(world, right(world), i, i % 2 == 0 ? 10 : 50'000, send_modes::buffered);
    world.barrier();
  }
  // A second endpoint begins with empty channels.
  communicator again = adopt_for_memory();
  modes_and_lengths(again);
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
