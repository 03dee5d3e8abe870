// SPDX-License-Identifier: Apache-2.0
//
// Compares splits of communicators and of structures with MPI_Comm_split: the same ranks in the
// same order, down to single ranks. Also creates, uses and destroys 10^5 groups, which must not
// leak memory.
#include <cstdio>
#include <optional>
#include <vector>

#include <unistd.h>

#include <tutti/group.hpp>

#include "support/check.hpp"
#include "support/program.hpp"
#include "support/split_oracle.hpp"
#include "tutti/mpi.hpp"

using tests::check, tests::ints, tests::split_case;
using namespace tutti;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Returns the ranks of the world in MPI's order in `of`.
ints members_of(MPI_Comm of) {
  int n = 0, me = 0;
  MPI_Comm_size(of, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  ints all(at(n));
  MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, of);
  return all;
}

template <class Structure>
void ends_agree(const Structure& s, const ints& members, bool wraps) {
  const int n = static_cast<int>(members.size());
  check.equal(s.size(), n);
  check.equal(members[at(s.rank())], s.address());
  const bool first = s.rank() == 0, last = s.rank() == n - 1;
  check.equal(s.left(), first && !wraps ? rank::null : members[at((s.rank() + n - 1) % n)]);
  check.equal(s.right(), last && !wraps ? rank::null : members[at((s.rank() + 1) % n)]);
}

void split(const communicator& world, const communicator& comm, MPI_Comm same, unsigned seed, int depth) {
  for (const split_case& c : tests::split_cases(comm.size(), seed)) {
    const int color = c.colors[at(comm.rank())], key = c.keys[at(comm.rank())];
    MPI_Comm theirs;
    MPI_Comm_split(same, color < 0 ? MPI_UNDEFINED : color, key, &theirs);
    const auto ours = comm.split(color, key);
    const chain c1 = chain(comm).split(color, key);
    const ring r1 = ring(comm).split(color, key);
    const logchain c2 = logchain(comm).split(color, key);
    const logring r2 = logring(comm).split(color, key);
    check.equal(ours.has_value(), theirs != MPI_COMM_NULL);
    check.equal(c1.empty() && r1.empty() && c2.empty() && r2.empty(), theirs == MPI_COMM_NULL);
    if (theirs == MPI_COMM_NULL) continue;
    const ints members = members_of(theirs);
    check.equal(ours->allgather(send_buf(world.rank())), members);
    ints addresses;
    for (const int r : members) addresses.push_back(world.translate(r, comm));
    ends_agree(c1, addresses, false);
    ends_agree(c2, addresses, false);
    ends_agree(r1, addresses, true);
    ends_agree(r2, addresses, true);
    if (depth > 0 && ours->size() < comm.size()) split(world, *ours, theirs, seed + 1, depth - 1);
    MPI_Comm_free(&theirs);
  }
}

long resident_pages() {
  long whole = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  check.that(file != nullptr && std::fscanf(file, "%ld %ld", &whole, &resident) == 2);
  std::fclose(file);
  return resident;
}

void memory_stays(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const int rarely = p <= 2 ? 1 : 64;  // with more ranks than cores a call may take milliseconds
  long after_some = 0;
  for (int i = 0; i < 100000; ++i) {
    if (i == 20000) after_some = resident_pages();
    const int cut = 1 + i % std::max(p - 1, 1);
    const communicator part = p == 1     ? world.range(0, 0)
                              : me < cut ? world.range(0, cut - 1)
                                         : world.range(cut, p - 1);
    if (i % (16 * rarely) == 0)
      check.equal(part.allreduce_single(send_buf(1), op(std::plus<>{})), part.size());
    if (i % (64 * rarely) == 0) {
      const auto odd = world.split(me % 2);
      check.equal(odd->exscan_single(send_buf(1), op(std::plus<>{}), values_on_rank_0(0)), odd->rank());
      check.equal(chain(world).split_bin(2, me % 2).size(), odd->size());
    }
  }
  const long grown = (resident_pages() - after_some) * sysconf(_SC_PAGESIZE);
  check.that(grown < (2 << 20), "grew by " + std::to_string(grown) + " bytes");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const communicator world = adopt(MPI_COMM_WORLD);
    split(world, world, MPI_COMM_WORLD, 23, 1);
    memory_stays(world);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
