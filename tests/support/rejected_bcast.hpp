// SPDX-License-Identifier: Apache-2.0
//
// A bcast that one rank rejects, and calls that show that a communicator is usable afterwards.
#pragma once

#include <functional>

#include "support/refused_alone.hpp"

namespace tests {

inline void expect_usable(const tutti::communicator& world) {
  using namespace tutti;
  const int p = world.size();
  check.equal(world.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  if (p == 1) return;
  ints in(1, -1);
  const int me = world.rank();
  auto sent = world.isend(send_buf(me), destination((me + 1) % p));
  world.recv(recv_buf(in), source((me + p - 1) % p));
  sent.wait();
  check.equal(in.front(), (me + p - 1) % p);
}

// The root's buffer is too short. All others receive zeros.
inline void reject_bcast(const tutti::communicator& comm, int q) {
  using namespace tutti;
  ints v(comm.rank() == q ? 2 : 3, 4);
  const auto call = [&] { comm.bcast(send_recv_buf(v), send_recv_count(3), root(q)); };
  if (comm.rank() == q)
    check.throws<usage_error>(call, {"bcast", "send_recv_count"});
  else
    call();
}

}  // namespace tests
