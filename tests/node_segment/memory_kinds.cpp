// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a node agree on the kind of memory that they share, whatever each of them alone can
// use.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <linux/capability.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engines/mpi/node_segment.hpp"
#include "support/system_calls.hpp"

namespace {

using tutti::mpi::node_segment;
using tutti::shm::memory_kind;
using namespace tutti::shm;

int rank = 0, size = 1;
const char* now = "";

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("rank " + std::to_string(rank) + ", " + now + ": " + what);
}

// Collective.
void expect_same_text(const std::string& text) {
  char first[1024] = "";
  std::snprintf(first, sizeof first, "%s", text.c_str());
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  require(text == first, "\"" + text + "\" differs from \"" + first + "\" on rank 0");
}

void contains(const std::string& text, const std::string& part) {
  require(text.find(part) != text.npos, "\"" + text + "\" should contain \"" + part + "\"");
}

struct counters_layout {
  explicit counters_layout(const char* name = "counters")
      : layout(size), total(layout.add("total", 4)), counter(layout.add_per_rank(name, 64)) {}
  segment_layout layout;
  segment_part total, counter;
};

std::atomic<int>& word(std::byte* at) { return *reinterpret_cast<std::atomic<int>*>(at); }

// Every rank increments the counters of all ranks.
void use(segment& s, const counters_layout& l) {
  require(word(s.at(l.counter, rank)) < size, "the memory had no zeros");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) ++word(s.at(l.counter, r));
  ++word(s.at(l.total));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    require(word(s.at(l.counter, r)) == size, "a counter is wrong");
    require(s.role(r) == segment_role::joined && s.peer_is_alive(r), "a rank is missing");
  }
  require(word(s.at(l.total)) == size && s.lost_rank() == -1, "a shared word is wrong");
  MPI_Barrier(MPI_COMM_WORLD);
}

// A process may look into another one only if it has all capabilities of that one.
bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

struct expected {
  memory_kind kind;
  const char* why_not_better;  // a part of it; empty: nothing
};

// Opens a segment, uses and closes it. One rank has no segment, whatever the case is.
void run(const char* name, memory_kind best, const counters_layout& l, const expected& e, bool free = true) {
  now = name;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  node_segment s;
  s.open(node, l.layout, best);
  MPI_Comm_free(&node);
  const std::string why = s.why_not_better();
  if (rank == 0) std::printf("%s: %s (%s)\n", name, name_of(s.memory().kind()), why.c_str());
  expect_same_text(why);
  if (size == 1) return require(!s.is_open() && why == "the node has one rank", "one rank");
  require(s.memory().kind() == e.kind, std::string("the kind is ") + name_of(s.memory().kind()));
  require(s.is_open() == (e.kind != memory_kind::none), "is_open()");
  contains(why, e.why_not_better);
  require(why.empty() == (*e.why_not_better == '\0'), "\"" + why + "\"");
  if (s.is_open()) use(s.memory(), l);
  free ? s.close_together() : s.close();
  require(!s.is_open(), "close()");
}

void run_all() {
  const counters_layout common;
  const bool last = rank == size - 1;
  run("the best kind", memory_kind::memfd, common, {memory_kind::memfd, ""});
  run("a file", memory_kind::file, common, {memory_kind::file, ""});
  run("a window", memory_kind::window, common, {memory_kind::window, ""});
  run("a window that nobody frees", memory_kind::window, common, {memory_kind::window, ""}, false);
  run("none", memory_kind::none, common, {memory_kind::none, ""});
  run("settings that differ", last ? memory_kind::file : memory_kind::memfd, common, {memory_kind::file, ""});

  const std::string other =
      "rank " + std::to_string(size - 1) + " of the node: the leader of the node has another layout";
  run("layouts that differ", memory_kind::memfd, last ? counters_layout("other") : common,
      {memory_kind::none, ("memfd: " + other).c_str()});

  // From here on the ranks cannot use some kinds. For other users than root the next case needs two
  // user namespaces, where the MPIs do not start.
  if (geteuid() == 0) {
    require(!last || drop_capabilities(), "capset");
    run("a rank that may not look into the leader", memory_kind::memfd, common,
        {memory_kind::file, "Permission denied"});
  }
  require(rank != 0 || tests::refuse_system_call(SYS_memfd_create, ENOSYS).empty(), "no seccomp filter");
  run("a leader without memfd", memory_kind::memfd, common,
      {memory_kind::file, "memfd: rank 0 of the node: memfd_create: Function not implemented"});
  require(!last || tests::refuse_system_call(SYS_fallocate, ENOSPC).empty(), "no seccomp filter");
  run("a rank without memory", memory_kind::file, common, {memory_kind::window, "/dev/shm: rank "});
}

}  // namespace

int main(int argc, char** argv) {
  // Open MPI does not notice that a rank has lost the right to read the memory of another one.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    run_all();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
