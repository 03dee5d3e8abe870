// SPDX-License-Identifier: Apache-2.0
//
// Messages of schedules between ranks of a node use its memory. They have all lengths, travel in
// both directions at once and many at a time, on several communicators and on groups that are made
// without a message. Some have wrong lengths, or an exception frees their buffers. At the end there
// are more groups than the table of the node holds. MPI must send no message, except in groups that
// the full table refuses.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "counted_sends.hpp"

namespace {

using namespace tests;
using namespace tutti;
using namespace tutti::detail;

std::byte byte_of(int from, int to, std::uint32_t run, std::size_t i) {
  return static_cast<std::byte>(from * 31 + to * 7 + static_cast<int>(run) * 13 + static_cast<int>(i % 251));
}

struct one_message {
  transfer state;
  std::vector<std::byte> data;
  int peer;
  std::uint32_t run;
  bool receives, complete = false;
};

void begin(context& c, one_message& m, std::size_t bytes) {
  m.data.resize(bytes);
  if (m.receives) return c.irecv(m.peer, m.run, m.data.data(), bytes, m.state);
  for (std::size_t i = 0; i < bytes; ++i) m.data[i] = byte_of(here_is.rank, m.peer, m.run, i);
  c.isend(m.peer, m.run, m.data.data(), bytes, m.state);
}

void compare(const one_message& m) {
  if (!m.receives) return;
  for (std::size_t i = 0; i < m.data.size(); ++i)
    require(m.data[i] == byte_of(m.peer, here_is.rank, m.run, i),
            "byte " + std::to_string(i) + " of a message of " + std::to_string(m.data.size()) +
                " from rank " + std::to_string(m.peer));
}

// Progresses the last ones first.
void wait_for_all(context& c, std::vector<one_message>& all) {
  for (std::size_t left = all.size(); left > 0;) {
    const std::size_t before = left;
    for (std::size_t i = all.size(); i-- > 0;)
      if (one_message& m = all[i]; !m.complete && c.done(m.state, here)) {
        m.complete = true;
        compare(m);
        --left;
      }
    if (left == before) c.ep().pause(here);
  }
}

// All pairs, in both directions, `rounds` messages each; some receives are begun before the sends.
void exchange(context& c, std::size_t bytes, std::uint32_t rounds) {
  std::vector<one_message> all;
  for (std::uint32_t run = 0; run < rounds; ++run)
    for (const bool receives : {run % 2 == 0, run % 2 != 0})
      for (int d = 1; d < here_is.size; ++d) {
        const int peer = (here_is.rank + (receives ? here_is.size - d : d)) % here_is.size;
        all.push_back({{}, {}, peer, run, receives});
      }
  for (one_message& m : all) begin(c, m, bytes == 0 ? 0 : bytes + m.run);
  wait_for_all(c, all);
}

// A receiver that expects another length gets an error, and all other messages arrive.
void wrong_length(context& c) {
  constexpr std::size_t sent = 100'000;
  if (here_is.rank == 1) {
    std::vector<one_message> all(2);
    all[0] = {{}, {}, 0, 1, false};
    all[1] = {{}, {}, 0, 2, false};
    begin(c, all[0], sent);
    begin(c, all[1], 10);
    wait_for_all(c, all);
  } else if (here_is.rank == 0) {
    std::vector<one_message> all(1);
    all[0] = {{}, {}, 1, 1, true};
    begin(c, all[0], sent - 1);
    try {
      wait_for_all(c, all);
      require(false, "a message of another length was received");
    } catch (const truncation_error& e) {
      require(std::string(e.what()).find("100000") != std::string::npos, e.what());
    }
    all[0] = {{}, {}, 1, 2, true};
    begin(c, all[0], 10);
    wait_for_all(c, all);
  }
}

// An error ends the messages of a rank in progress. Their buffers are freed at once, and what was
// sent arrives all the same.
void freed_buffers(context& c) {
  constexpr std::size_t bytes = 3'000'000;
  if (here_is.rank == 0) {
    auto sent = std::make_unique<one_message>();
    *sent = {{}, {}, 1, 5, false};
    begin(c, *sent, bytes);
    one_message wrong{{}, {}, 1, 4, true};
    begin(c, wrong, 1);
    try {
      while (!c.done(wrong.state, here)) c.ep().pause(here);
      require(false, "a message of another length was received");
    } catch (const truncation_error&) {
    }
    for (std::byte& b : sent->data) b = std::byte{0xee};
    sent.reset();
    std::vector<one_message> all(1);
    all[0] = {{}, {}, 1, 6, true};
    begin(c, all[0], 3);
    wait_for_all(c, all);
  } else if (here_is.rank == 1) {
    std::vector<one_message> all(1);
    all[0] = {{}, {}, 0, 4, false};
    begin(c, all[0], 2);
    wait_for_all(c, all);
    all[0] = {{}, {}, 0, 5, true};
    begin(c, all[0], bytes);
    wait_for_all(c, all);
    all[0] = {{}, {}, 0, 6, false};
    begin(c, all[0], 3);
    wait_for_all(c, all);
  }
}

// Two groups with the same members in opposite orders, and a communicator, have messages with the
// same number of the call in progress.
void exchange_in_several(context& one, context& other, context& communicator) {
  const int peer = here_is.rank ^ 1;
  if (peer >= here_is.size) return;
  const int in_other = here_is.size - 1 - peer;
  std::vector<one_message> all(6);
  context* const of[] = {&one, &other, &communicator};
  for (const bool receives : {false, true})
    for (int i = 0; i < 3; ++i) {
      one_message& m = all[static_cast<std::size_t>(receives ? 5 - i : i)];
      m = {{}, {}, i == 1 ? in_other : peer, 3, receives};
      m.data.resize(2000);
      context& c = *of[i];
      if (receives) {
        c.irecv(m.peer, m.run, m.data.data(), m.data.size(), m.state);
      } else {
        for (std::byte& b : m.data) b = static_cast<std::byte>(i);
        c.isend(m.peer, m.run, m.data.data(), m.data.size(), m.state);
      }
    }
  for (const bool receives : {false, true})
    for (int i = 0; i < 3; ++i) {
      one_message& m = all[static_cast<std::size_t>(receives ? 5 - i : i)];
      while (!of[i]->done(m.state, here)) of[i]->ep().pause(here);
      for (const std::byte b : m.data)
        require(b == static_cast<std::byte>(i), "a message has come from another communicator");
    }
}

// Rank 0 sends a message to rank 1. Both wait until it is complete.
void send_one(context& c, std::size_t bytes) {
  std::vector<one_message> all(1);
  all[0] = {{}, {}, 1 - here_is.rank, 1, here_is.rank == 1};
  begin(c, all[0], bytes);
  wait_for_all(c, all);
}

// Only two members use each group, and the sender may free it before the receiver uses it. The
// table has fewer entries than there are groups, so the entries must become free.
void many_short_groups(mpi::mpi_endpoint& ep) {
  if (here_is.rank >= 2) return;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    const auto c = ep.open_locally(all_ranks(), {n, 6});
    send_one(*c, 1 + n % 100);
  }
}

// Groups with a number continue to use memory. Later groups use MPI, on all members.
void full_table(mpi::mpi_endpoint& ep) {
  const auto before = ep.open_locally(all_ranks(), {1, 7});
  exchange(*before, 1000, 1);
  require_sends_of_mpi(0, "before the table is full");
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<shm::group_memory::membership> all;
  if (here_is.rank == 0)
    for (std::uint64_t n = 0; n < shm::group_memory::sizes{}.all_groups; ++n)
      all.push_back(ep.memory().groups().enter({n, 8}, ep.memory().rank()));
  MPI_Barrier(MPI_COMM_WORLD);
  if (here_is.rank == 0) send_one(*ep.open_locally(all_ranks(), {2, 7}), 10);
  // Free entries do not admit it on other members.
  for (const auto& one : all) ep.memory().groups().leave(one, ep.memory().rank());
  MPI_Barrier(MPI_COMM_WORLD);
  if (here_is.rank == 1) send_one(*ep.open_locally(all_ranks(), {2, 7}), 10);
  sends_of_mpi = 0;
  exchange(*before, 9000, 2);
  require_sends_of_mpi(0, "a group of the full table");
  exchange(*ep.open_locally(all_ranks(), {3, 7}), 1000, 2);
  require_sends_of_mpi(2 * (here_is.size - 1), "a group without a number");
}

void run_all() {
  mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  require(ep.messages_on_node() != nullptr, "the job has no memory of the node");
  const auto job = ep.open(all_ranks(), 0, nullptr);
  const auto copy = ep.open(all_ranks(), 1, job.get());
  const auto group = ep.open_locally(all_ranks(), {1, 5});
  const auto reversed = ep.open_locally(
      detail::group::range(here_is.size - 1, -1, here_is.size, here_is.size - 1 - here_is.rank), {2, 5});
  sends_of_mpi = 0;
  for (const std::size_t bytes : {0, 1, 8, 47, 48, 49, 1000, 8191, 8192, 8193, 70'000, 1'000'001})
    for (const std::uint32_t rounds : {1u, 2u, 20u})
      if (bytes * rounds < 4'000'000)
        for (const auto* const c : {&job, &copy, &group}) exchange(**c, bytes, rounds);
  for (int i = 0; i < 100; ++i) exchange_in_several(*group, *reversed, *copy);
  for (const auto* const c : {&job, &group}) wrong_length(**c);
  for (const auto* const c : {&copy, &group}) freed_buffers(**c);
  require_sends_of_mpi(0, "messages of schedules");
  many_short_groups(ep);
  require_sends_of_mpi(0, "groups of which two members use one");
  full_table(ep);
  ep.end();
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
