// SPDX-License-Identifier: Apache-2.0
//
// A thousand communicators one after another, and three hundred at the same time, all of them in
// use in the memory of the node. The memory does not grow.
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "memory_world.hpp"

namespace {
int collectives_of_mpi = 0;
}

extern "C" int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  ++collectives_of_mpi;
  return PMPI_Allreduce(a, b, n, t, o, c);
}
extern "C" int MPI_Iallreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
                              MPI_Request* r) {
  ++collectives_of_mpi;
  return PMPI_Iallreduce(a, b, n, t, o, c, r);
}

namespace {

using namespace tests;
using namespace tutti;

// The KiB of the segment that this process has touched.
std::size_t resident() {
  std::ifstream maps("/proc/self/smaps");
  bool is_segment = false;
  std::size_t all = 0, one = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("tutti-segment") != std::string::npos) is_segment = true;
    if (is_segment && std::sscanf(line.c_str(), "Rss: %zu kB", &one) == 1) {
      all += one;
      is_segment = false;
    }
  }
  return all;
}

void use(const communicator& c, int salt) {
  const std::vector<int> mine{here_is.rank + salt, 1};
  std::vector<int> sum(2), spread{here_is.rank == 0 ? salt : -1};
  c.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}), algorithm("native"));
  c.bcast(send_recv_buf(spread), root(0), algorithm("native"));
  const int p = here_is.size;
  require(sum == std::vector<int>{p * (p - 1) / 2 + p * salt, p} && spread.front() == salt,
          "a call of communicator " + std::to_string(salt) + " is wrong");
}

// To make a communicator of MPI takes long if ranks share a core.
int fewer(int with_cores) { return here_is.size == 2 ? with_cores : with_cores / 20; }

void one_after_another(const communicator& world, int n) {
  for (int i = 0; i < n; ++i) {
    const communicator one = world.duplicate();
    use(one, i);
    use(world, -i);
  }
}

void at_the_same_time(const communicator& world, int n) {
  std::vector<communicator> all;
  for (int i = 0; i < n; ++i) {
    all.push_back(world.duplicate());
    use(all.back(), i);
  }
  std::vector<int> mine(static_cast<std::size_t>(n), here_is.rank), sums(mine.size());
  for (int round = 0; round < 3; ++round) {
    for (int i = n; i-- > 0;) use(all[static_cast<std::size_t>(i)], i + round);
    // A call under way on each of them.
    std::vector<decltype(world.iallreduce(send_buf(mine[0]), recv_buf(sums[0]), op(std::plus<>{})))> pending;
    for (std::size_t i = 0; i < all.size(); ++i)
      pending.push_back(
          all[i].iallreduce(send_buf(mine[i]), recv_buf(sums[i]), op(std::plus<>{}), algorithm("native")));
    for (auto& one : pending) one.wait();
    require(sums == std::vector<int>(sums.size(), here_is.size * (here_is.size - 1) / 2),
            "a call under way with others is wrong");
  }
  // Some are freed, and others get their memory.
  for (int i = 0; i < n; i += 2) {
    all[static_cast<std::size_t>(i)] = world.duplicate();
    use(all[static_cast<std::size_t>(i)], 1000 + i);
  }
  for (int i = 0; i < n; ++i) use(all[static_cast<std::size_t>(i)], i);
}

// If the memory of freed communicators were lost, the calls of later ones would use MPI, because
// the segment has memory for 1036 groups. The ranks leave a communicator at different times, so a
// few of them may not get the memory of the last one.
template <class Run>
void without_growth(int n, const Run& run) {
  const std::size_t before = resident(), of_one = static_cast<std::size_t>(here_is.size) * 640;
  run(fewer(n));
  const std::size_t after = resident(), all = static_cast<std::size_t>(n) * of_one / 1024;
  require(after < before + all / 2, std::to_string(n) + " communicators take memory: " +
                                        std::to_string(after) + " after " + std::to_string(before) + " KiB");
}

void run_all() {
  communicator world = adopt_for_memory();
  tutti::mpi::node_memory& memory = endpoint_of(world).memory();
  require(memory.kind() == tutti::shm::memory_kind::memfd,
          "the memory is no memfd: " + memory.why_not_better());
  collectives_of_mpi = 0;
  const std::size_t bytes = memory.bytes();
  one_after_another(world, 20);
  require(resident() > 0, "the mapping of the segment was not found");
  without_growth(1000, [&](int n) { one_after_another(world, n); });
  at_the_same_time(world, fewer(300));
  without_growth(450, [&](int) { at_the_same_time(world, fewer(300)); });
  require(memory.bytes() == bytes, "the segment has another size");
  require(collectives_of_mpi == 0, "MPI has executed " + std::to_string(collectives_of_mpi) + " collectives");
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
