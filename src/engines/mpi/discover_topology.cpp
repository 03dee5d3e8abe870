// SPDX-License-Identifier: Apache-2.0
//
// Discovers where the ranks of an MPI job run, once at its start. It determines which ranks share
// memory, whether they have a core each, and the topology of TUTTI_NODES. All ranks get the same
// result, although launchers may give them different environments and cores.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <sched.h>

#include "base/environment.hpp"
#include "base/report_text.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/node_layout.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

// What each rank reports about itself to all ranks.
struct place {
  int leader;       // the first rank that it shares memory with
  int crowded;      // 1: its machine has more ranks than cores
  int text_length;  // of its TUTTI_NODES
  int begins;       // 1: it must begin and poll its blocking collectives
  int refused;      // length of the error that it found in its settings; 0: none
};
constexpr int place_ints = sizeof(place) / sizeof(int);

// Launchers may have bound each rank to some cores, so this function unites the sets of all ranks
// of the machine.
place place_of(MPI_Comm job, int rank) {
  MPI_Comm node;
  check(MPI_Comm_split_type(job, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "run", rank);
  int ranks = 1, leader = rank;
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof mine, &mine);
  check(MPI_Comm_size(node, &ranks), "run", rank);
  check(MPI_Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, node), "run", rank);
  check(MPI_Bcast(&leader, 1, MPI_INT, 0, node), "run", rank);
  check(MPI_Comm_free(&node), "run", rank);
  return {leader, ranks > std::max(1, CPU_COUNT(&all)) ? 1 : 0, 0, 0, 0};
}

std::string text_of(const std::exception_ptr& what) {
  if (!what) return {};
  try {
    std::rethrow_exception(what);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// The first rank with an error in its settings sends the text to the others, so that all ranks
// throw.
void throw_refusal(const std::vector<place>& all, const std::exception_ptr& own, MPI_Comm job, int rank) {
  const auto first = std::find_if(all.begin(), all.end(), [](const place& p) { return p.refused != 0; });
  if (first == all.end()) return;
  const auto who = static_cast<int>(first - all.begin());
  std::string text = text_of(own);
  text.resize(static_cast<std::size_t>(first->refused));
  check(MPI_Bcast(text.data(), first->refused, MPI_CHAR, who, job), "run", rank);
  if (own) std::rethrow_exception(own);
  throw peer_error(
      "run", rank, "",
      "rank " + std::to_string(who) + " rejected its settings: " + std::string(without_prefix(text)), "");
}

}  // namespace

// `refused`: the exception for this rank's environment, or null.
void mpi_endpoint::survey(const std::exception_ptr& refused) {
  const std::string own = setting(layout_variable).value_or("");
  mpi::place mine = place_of(job_, rank_);
  mine.text_length = static_cast<int>(own.size());
  mine.begins = failure_monitor_->checks() || !can_progress_inside() ? 1 : 0;
  mine.refused = static_cast<int>(text_of(refused).size());
  std::vector<mpi::place> all(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&mine, place_ints, MPI_INT, all.data(), place_ints, MPI_INT, job_), "run", rank_);
  throw_refusal(all, refused, job_, rank_);

  crowded_ = mine.crowded != 0;
  enter_wait(nullptr);
  begins_natives_ = std::any_of(all.begin(), all.end(), [](const mpi::place& p) { return p.begins != 0; });
  std::copy(std::begin(mpi_conditions), std::end(mpi_conditions), conditions_.begin());
  state(conditions_, "oversubscribed",
        std::any_of(all.begin(), all.end(), [](const mpi::place& p) { return p.crowded != 0; }));
#if defined(OPEN_MPI)
  state(conditions_, "open_mpi", true);
#elif defined(MPICH_VERSION)
  state(conditions_, "mpich", true);
#endif

  if (all.front().text_length != 0) {
    std::string text = own;
    text.resize(static_cast<std::size_t>(all.front().text_length));
    check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, job_), "run", rank_);
    layout_ = pretended(text);
    return;
  }
  std::vector<std::vector<int>> node_of(1);
  for (const mpi::place& p : all) node_of[0].push_back(p.leader);
  layout_ = hierarchy(node_of);
}

// TUTTI_NODES describes the ranks of MPI_COMM_WORLD. An adopted job may be a part of them. If its
// ranks come from several worlds, TUTTI_NODES describes the job.
hierarchy mpi_endpoint::pretended(std::string_view text) const {
  int ranks = 0;
  MPI_Group world, job;
  check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "run", rank_);
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "run", rank_);
  check(MPI_Comm_group(job_, &job), "run", rank_);
  std::vector<int> mine(static_cast<std::size_t>(size_)), there(mine.size());
  for (int r = 0; r < size_; ++r) mine[static_cast<std::size_t>(r)] = r;
  check(MPI_Group_translate_ranks(job, size_, mine.data(), world, there.data()), "run", rank_);
  MPI_Group_free(&job);
  MPI_Group_free(&world);
  if (std::find(there.begin(), there.end(), MPI_UNDEFINED) != there.end())
    return pretended_layout(text, size_);
  return pretended_layout(text, ranks).restricted_to(there);
}

}  // namespace tutti::mpi
