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

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "engines/mpi/inner_groups.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/rank_info.hpp"
#include "engines/mpi/transport_report.hpp"
#include "engines/node_topology.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

namespace {

constexpr int rank_info_ints = sizeof(rank_info) / sizeof(int);

// Launchers may have bound each rank to some cores, so this function unites the sets of all ranks
// of the machine.
rank_info local_info(MPI_Comm job, int rank, const node_settings& requested, node_counters& counters,
                     node_memory& memory) {
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
  counters.open(node);
  memory.open(node, requested.several_threads ? memory_use::off : requested.use_of_memory);
  const inner_groups inner = find_inner_groups(node, leader, rank, mine, requested.inner_levels);
  const bool may_copy = ranks == 1 || (counters.is_open() && memory.is_open() && memory.may_copy());
  check(MPI_Comm_free(&node), "run", rank);
  rank_info info{};
  info.leader = leader;
  info.fine = inner.fine;
  info.coarse = inner.coarse;
  const int cores = std::max(1, CPU_COUNT(&all));
  info.ranks_per_core = (ranks + cores - 1) / cores;
  info.use_of_memory = static_cast<int>(requested.use_of_memory);
  info.several_threads = requested.several_threads ? 1 : 0;
  info.may_copy = may_copy ? 1 : 0;
  return info;
}

// The levels of the topology, finest first. The last one is the nodes. A level that equals the next
// one on all nodes is left out.
std::vector<std::vector<int>> levels_of(const std::vector<rank_info>& all) {
  std::vector<std::vector<int>> levels;
  for (const auto member : {&rank_info::leader, &rank_info::coarse, &rank_info::fine}) {
    std::vector<int> one;
    for (const rank_info& p : all) one.push_back(p.*member);
    if (levels.empty() || levels.front() != one) levels.insert(levels.begin(), std::move(one));
  }
  return levels;
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
void throw_rejection(const std::vector<rank_info>& all, const std::exception_ptr& own_error, MPI_Comm job,
                     int rank) {
  const auto first =
      std::find_if(all.begin(), all.end(), [](const rank_info& p) { return p.error_length != 0; });
  if (first == all.end()) return;
  const auto failed_rank = static_cast<int>(first - all.begin());
  std::string text = text_of(own_error);
  text.resize(static_cast<std::size_t>(first->error_length));
  check(MPI_Bcast(text.data(), first->error_length, MPI_CHAR, failed_rank, job), "run", rank);
  if (own_error) std::rethrow_exception(own_error);
  throw peer_error(
      "run", rank, "",
      "rank " + std::to_string(failed_rank) + " rejected its settings: " + std::string(without_prefix(text)),
      "");
}

}  // namespace

// `settings_error`: the exception for this rank's environment, or null. A node uses the minimum of
// what its ranks request. With MPI_THREAD_MULTIPLE on a rank, its node shares no memory: two
// threads of a rank cannot sleep on its one wakeup word.
void mpi_endpoint::discover_topology(const std::exception_ptr& settings_error,
                                     const node_settings& requested) {
  const std::string own_text = setting(topology_variable).value_or("");
  mpi::rank_info mine = local_info(job_, rank_, requested, node_counters_, node_memory_);
  mine.text_length = static_cast<int>(own_text.size());
  mine.polls_natives = failure_monitor_->checks() || !can_progress_in_waits() ? 1 : 0;
  mine.network = static_cast<int>(requested.network);
  mine.prefers_native = requested.prefers_native ? 1 : 0;
  mine.error_length = static_cast<int>(text_of(settings_error).size());
  std::vector<mpi::rank_info> all(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&mine, rank_info_ints, MPI_INT, all.data(), rank_info_ints, MPI_INT, job_), "run",
        rank_);
  throw_rejection(all, settings_error, job_, rank_);

  oversubscribed_ = mine.ranks_per_core > 1;
  enter_wait(nullptr);
  polls_natives_ =
      std::any_of(all.begin(), all.end(), [](const rank_info& p) { return p.polls_natives != 0; });
  std::copy(std::begin(mpi_conditions), std::end(mpi_conditions), conditions_.begin());
  state(conditions_, "oversubscribed",
        std::any_of(all.begin(), all.end(), [](const mpi::rank_info& p) { return p.ranks_per_core > 1; }));
#if defined(OPEN_MPI)
  state(conditions_, "open_mpi", true);
#elif defined(MPICH_VERSION)
  state(conditions_, "mpich", true);
#endif

  std::vector<std::vector<int>> node_of(1);
  for (const mpi::rank_info& p : all) node_of[0].push_back(p.leader);
  on_first_node_ = mine.leader == all.front().leader;
  find_node_counter(node_of[0], all.front().text_length == 0);
  if (node_memory_.is_open()) use_node_memory(node_of[0]);
  has_node_memory_ = node_memory_.is_open() && counts_rejections_;
  reasons_ = find_reasons(all, rank_, node_counters_, node_memory_);
  state(conditions_, "node_memory", has_node_memory_);
  const auto may_copy = [](const rank_info& p) { return p.may_copy != 0; };
  state(conditions_, "cross_memory",
        all.front().text_length == 0 && hierarchy(node_of).nodes() < size_ &&
            std::all_of(all.begin(), all.end(), may_copy));
  if (all.front().text_length != 0) {
    std::string text = own_text;
    text.resize(static_cast<std::size_t>(all.front().text_length));
    check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, job_), "run", rank_);
    topology_ = configured_topology(text);
    choose_trees(all, topology_.nodes());
    return;
  }
  const std::vector<std::vector<int>> levels = levels_of(all);
  node_level_ = static_cast<int>(levels.size()) - 1;
  topology_ = hierarchy(levels);
  choose_trees(all, hierarchy(node_of).nodes());
}

std::vector<std::string> mpi_endpoint::transports() const {
  return report_transports(reasons_, node_memory_, has_node_memory_);
}

// `leaders`: of all ranks of the job. Ranks are in the same order in the node and in the job.
void mpi_endpoint::use_node_memory(const std::vector<int>& leaders) {
  node_messages_.emplace(node_memory_.messages());
  node_p2p_.emplace(node_memory_.messages(), *node_messages_);
  with_node_memory_.push_back(this);
  // Messages in memory need progress also while this rank waits in a collective of MPI.
  if (!polls_natives_) register_progress();
  std::vector<int> here;
  for (int r = 0; r < size_; ++r)
    if (leaders[static_cast<std::size_t>(r)] == leaders[static_cast<std::size_t>(rank_)]) here.push_back(r);
  peer_watch_.emplace(node_memory_.segment(), here, node_memory_.messages().rank());
}

// Ranks that TUTTI_NODES puts on several nodes ask MPI for rejections, as ranks on several real
// nodes do.
void mpi_endpoint::find_node_counter(const std::vector<int>& leaders, bool may_share) {
  rank_on_node_.assign(leaders.size(), -1);
  int ranks = 0;
  if (may_share && node_counters_.is_open())
    for (std::size_t r = 0; r < leaders.size(); ++r)
      if (leaders[r] == leaders[static_cast<std::size_t>(rank_)]) rank_on_node_[r] = ranks++;
  counts_rejections_ = ranks == size_;
}

// TUTTI_NODES describes the ranks of MPI_COMM_WORLD. An adopted job may be a part of them. If its
// ranks come from several worlds, TUTTI_NODES describes the job.
hierarchy mpi_endpoint::configured_topology(std::string_view text) const {
  int ranks = 0;
  MPI_Group world, job;
  check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "run", rank_);
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "run", rank_);
  check(MPI_Comm_group(job_, &job), "run", rank_);
  std::vector<int> mine(static_cast<std::size_t>(size_)), world_ranks(mine.size());
  for (int r = 0; r < size_; ++r) mine[static_cast<std::size_t>(r)] = r;
  check(MPI_Group_translate_ranks(job, size_, mine.data(), world, world_ranks.data()), "run", rank_);
  MPI_Group_free(&job);
  MPI_Group_free(&world);
  if (std::find(world_ranks.begin(), world_ranks.end(), MPI_UNDEFINED) != world_ranks.end())
    return topology_from_text(text, size_);
  return topology_from_text(text, ranks).restricted_to(world_ranks);
}

}  // namespace tutti::mpi
