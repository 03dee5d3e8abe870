// SPDX-License-Identifier: Apache-2.0
//
// Shared code of programs that test messages: ranks in a ring, their data, and cases after which
// none of their messages is in progress.
#pragma once

#include <numeric>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"

namespace tests {

struct ring {
  int p, me, right, left;
  explicit ring(const tutti::communicator& comm)
      : p(comm.size()), me(comm.rank()), right((me + 1) % p), left((me + p - 1) % p) {}
};

/// Returns the n elements that rank r sends.
inline std::vector<int> made_by(int r, int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1000 * r);
  return v;
}

/// Runs a case that all ranks end before the next one begins, and checks that all messages were
/// received.
template <class Body>
void isolated_case(tutti::communicator& comm, cases& all, const char* name, const Body& body) {
  all(name, [&] {
    body(comm);
    comm.barrier();
    check.that(!comm.iprobe(), "a message is left");
    comm.barrier();
  });
}

}  // namespace tests
