// SPDX-License-Identifier: Apache-2.0
//
// root_cause CASE: rank 1 rejects its arguments, and then all other ranks fail because of it.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

using namespace tutti;

namespace {

void negative_counts(communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  std::vector<int> v(p), counts(p, world.rank() == 1 ? -1 : 1);
  world.alltoallv(send_buf(v), send_counts(counts));
}

void refused_exchange(communicator& world) {
  std::vector<int> v(3), into(world.rank() == 1 ? 0 : 100);
  world.allgatherv(send_buf(v), recv_buf<no_resize>(into));
}

void begun(communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  std::vector<int> v(p), counts(p, world.rank() == 1 ? -1 : 1);
  world.ialltoallv(send_buf(v), send_counts(counts)).wait();
}

void by_root(communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<int> v(p), counts(p, -1);
  world.scatterv(send_buf(v), send_counts(counts), root(1));
}

// The other ranks rethrow the error inside one of their own.
void wrapped(communicator& world) {
  try {
    negative_counts(world);
  } catch (const peer_error& e) {
    throw peer_error("step", world.rank(), "", std::string("failed: ") + e.what(), "");
  }
}

// Repeats the case, because timing decides which rank throws first.
int found() {
  for (int i = 0; i < 200; ++i) {
    try {
      run(run_options{}, [](communicator& world) { negative_counts(world); });
      std::fprintf(stderr, "FAILED: nothing was thrown\n");
      return 1;
    } catch (const rank_error& e) {
      if (e.failed_rank() == 1 && std::string(e.what()).find("send_counts") != std::string::npos) continue;
      std::fprintf(stderr, "FAILED in run %d: rank %d is reported: %s\n", i, e.failed_rank(), e.what());
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(communicator&)>> cases = {
      {"negative_counts", negative_counts}, {"refused_exchange", refused_exchange}, {"begun", begun}, {"by_root", by_root}, {"wrapped", wrapped}};
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "found") return found();
  const auto which = cases.find(name);
  if (which == cases.end()) return std::fprintf(stderr, "root_cause CASE\n"), 2;
  return run(argc, argv, which->second);
}
