// SPDX-License-Identifier: Apache-2.0
//
// What programs that test messages share: ranks in a ring, what each sends, and cases after which no message
// of theirs may be under way.
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

/// What rank r sends, n elements.
inline std::vector<int> made_by(int r, int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1000 * r);
  return v;
}

/// A case that all ranks end before the next one begins. Each of its messages was received.
template <class Body>
void apart(tutti::communicator& comm, cases& all, const char* name, const Body& body) {
  all(name, [&] {
    body(comm);
    comm.barrier();
    check.that(!comm.iprobe(), "a message is left");
    comm.barrier();
  });
}

}  // namespace tests
