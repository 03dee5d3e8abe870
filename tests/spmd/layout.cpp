// SPDX-License-Identifier: Apache-2.0
//
// Tests what an engine reports about the nodes of its ranks and about its conditions. Every rank
// compares it with the processors and host names of all ranks, and, from three ranks on, with a
// TUTTI_NODES of this program. Over MPI only rank 0 sets the right value, because rank 0's value
// counts.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include "communicator/internal_calls.hpp"
#include "communicator/make_communicators.hpp"
#include "communicator/rank_state.hpp"
#include "engines/engine_table.hpp"
#include "runtime/launch/modules.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "support/scoped_variable.hpp"

namespace {

using namespace tutti;
using namespace tutti::detail;
using tests::check;

// Returns the values of all ranks, concatenated. `id`: a different one for each call.
std::vector<int> of_all(endpoint& ep, std::uint64_t id, const std::vector<int>& mine) {
  const auto shared = std::make_shared<detail::rank_state>();
  shared->ep = &ep;
  // Without trees, selection uses native collectives or the fallback in code.
  shared->by = std::make_shared<const selection>();
  const auto world =
      detail::make_over(shared, ep.open(group::range(0, 1, ep.size(), ep.rank()), id, nullptr));
  std::vector<int> all(mine.size() * static_cast<std::size_t>(ep.size()));
  call c;
  c.what = collective::allgather;
  c.type = element_of<int>();
  c.count = mine.size();
  c.input = mine.data();
  c.output = all.data();
  detail::run_call(*world, c);
  return all;
}

int node_of(int rank) { return rank * rank % 3; }

// Counts the cores that any rank of the job may use. All ranks are on one machine here.
int cores_of(endpoint& ep) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> mine(CPU_SETSIZE);
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) mine[i] = CPU_ISSET(i, &set) ? 1 : 0;
  const std::vector<int> all = of_all(ep, 1, mine);
  int cores = 0;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    bool used = false;
    for (std::size_t at = i; at < all.size(); at += CPU_SETSIZE) used = used || all[at] != 0;
    cores += used ? 1 : 0;
  }
  return cores;
}

std::vector<int> nodes_expected(endpoint& ep, bool overridden) {
  std::vector<int> expected;
  if (overridden) {
    for (int r = 0; r < ep.size(); ++r) expected.push_back(node_of(r));
    return expected;
  }
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  const std::vector<int> all = of_all(ep, 2, std::vector<int>(name, name + sizeof name));
  // Finds the first rank of the same name.
  for (std::size_t at = 0; at < all.size(); at += sizeof name)
    for (std::size_t first = 0;; first += sizeof name)
      if (std::equal(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + sizeof name),
                     all.begin() + static_cast<long>(first))) {
        expected.push_back(static_cast<int>(first));
        break;
      }
  return expected;
}

void check_topology(endpoint& ep, bool overridden, const std::string& mpi) {
  const hierarchy& layout = ep.topology();
  check.equal(layout.ranks(), ep.size());
  check.equal(layout.levels(), 1);
  const std::vector<int> expected = nodes_expected(ep, overridden);
  for (int a = 0; a < ep.size(); ++a)
    for (int b = 0; b < a; ++b)
      check.equal(layout.node_of(a) == layout.node_of(b),
                  expected[static_cast<std::size_t>(a)] == expected[static_cast<std::size_t>(b)]);

  const auto declared = find_engine(ep.engine())->conditions;
  check.equal(ep.conditions().size(), declared.size());
  const int cores = cores_of(ep);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const engine_condition& one = ep.conditions()[i];
    check.equal(one.name, declared[i].name);
    if (one.name == "oversubscribed") check.equal(one.holds, ep.size() > cores);
    if (one.name == "open_mpi") check.equal(one.holds, mpi == "openmpi");
    if (one.name == "mpich") check.equal(one.holds, mpi == "mpich");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const tests::program_start start(argc, argv);
  const launcher by = find_launcher();
  launch how;
  how.ranks = by.mpi ? by.ranks : std::stoi(tests::variable("TUTTI_RANKS").value_or("4"));
  const bool overridden = how.ranks >= 3;
  if (overridden) {
    std::string text = std::to_string(node_of(0));
    for (int r = 1; r < how.ranks; ++r) text += ":" + std::to_string(node_of(r));
    for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
      if (tests::variable(rank).value_or("0") != "0") text = "other";
    setenv("TUTTI_NODES", text.c_str(), 1);
  }
  const auto program = [&](endpoint& ep) { check_topology(ep, overridden, by.module); };
  outcome end;
  if (by.mpi) {
    end.failed_rank = 0;
    end.text = "there is no module " + by.module;
    for (const module_file& m : find_modules())
      if (m.name == by.module) end = load_module(m).module.run(argc, argv, how, program);
  } else {
    end = find_engine(tests::variable("TUTTI_ENGINE").value_or("fibers"))->run(how, program);
  }
  if (end.failed_rank < 0) return 0;
  const std::string engine = by.mpi ? by.module : tests::variable("TUTTI_ENGINE").value_or("fibers");
  tests::print_failure(start, {end.failed_rank, how.ranks, engine}, std::runtime_error(end.text));
  return 1;
}
