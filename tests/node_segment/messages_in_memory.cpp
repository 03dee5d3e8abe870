// SPDX-License-Identifier: Apache-2.0
//
// Messages of schedules between ranks of a node use its memory. All lengths, in both directions at
// once, many at a time, on several communicators; messages of wrong lengths; buffers that an
// exception frees. Sends of MPI are counted: there must be none.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "mpi_program.hpp"

namespace {
int sends_of_mpi = 0;
}

extern "C" int MPI_Isend(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  ++sends_of_mpi;
  return PMPI_Isend(a, n, t, to, tag, c, r);
}

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

void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  require(ep.messages_on_node() != nullptr, "the job has no memory of the node");
  const auto job = ep.open(all_ranks(), 0, nullptr);
  const auto copy = ep.open(all_ranks(), 1, job.get());
  sends_of_mpi = 0;
  for (const std::size_t bytes : {0, 1, 8, 47, 48, 49, 1000, 8191, 8192, 8193, 70'000, 1'000'001})
    for (const std::uint32_t rounds : {1u, 2u, 20u})
      if (bytes * rounds < 4'000'000) {
        exchange(*job, bytes, rounds);
        exchange(*copy, bytes, rounds);
      }
  wrong_length(*job);
  freed_buffers(*copy);
  require(sends_of_mpi == 0, "MPI has sent a message");
  ep.end();
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
