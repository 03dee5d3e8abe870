// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/transport_report.hpp"

#include <algorithm>
#include <utility>

namespace tutti::mpi {
namespace {

// The first rank of this rank's node for which `holds`; -1: there is none.
template <class Holds>
int first_on_node(const std::vector<rank_info>& all, int rank, const Holds& holds) {
  const int leader = all[static_cast<std::size_t>(rank)].leader;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const rank_info& p) { return p.leader == leader && holds(p); });
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

int first_with(const std::vector<rank_info>& all, int rank, memory_use use) {
  return first_on_node(all, rank,
                       [&](const rank_info& p) { return p.use_of_memory == static_cast<int>(use); });
}

std::string why_mpi_only(const std::vector<rank_info>& all, int rank, const node_counters& counters,
                         const node_memory& memory) {
  if (all.size() == 1) return "the job has one rank";
  if (all.front().text_length != 0) return "TUTTI_NODES is set";
  const int leader = all[static_cast<std::size_t>(rank)].leader;
  if (std::count_if(all.begin(), all.end(), [&](const rank_info& p) { return p.leader == leader; }) == 1)
    return "the node has one rank";
  if (const int r = first_with(all, rank, memory_use::off); r >= 0)
    return "TUTTI_SHM is off on rank " + std::to_string(r);
  if (const int r = first_on_node(all, rank, [](const rank_info& p) { return p.several_threads != 0; });
      r >= 0)
    return "rank " + std::to_string(r) + " uses MPI_THREAD_MULTIPLE";
  if (!memory.is_open()) return memory.why_not_better();
  return counters.is_open() ? "" : "shm_open, which the counters of rejections need, fails";
}

std::string why_no_copies(const std::vector<rank_info>& all, int rank, const node_memory& memory) {
  if (memory.may_copy()) return "";
  if (const int r = first_with(all, rank, memory_use::cells); r >= 0)
    return "TUTTI_SHM is cells on rank " + std::to_string(r);
  return memory.why_not_copy();
}

std::string why_no_buffers(const std::vector<rank_info>& all, int rank, const node_memory& memory) {
  if (memory.shares_buffers()) return "";
  for (const auto& [use, name] : {std::pair(memory_use::cells, "cells"), std::pair(memory_use::copy, "copy")})
    if (const int r = first_with(all, rank, use); r >= 0)
      return "TUTTI_SHM is " + std::string(name) + " on rank " + std::to_string(r);
  return memory.why_not_buffers();
}

}  // namespace

transport_reasons find_reasons(const std::vector<rank_info>& all, int rank, const node_counters& counters,
                               const node_memory& memory) {
  return {why_mpi_only(all, rank, counters, memory), why_no_copies(all, rank, memory),
          why_no_buffers(all, rank, memory)};
}

std::vector<std::string> report_transports(const transport_reasons& why, const node_memory& memory,
                                           bool whole_job) {
  if (!why.mpi_only.empty()) return {"MPI carries all data of the node: " + why.mpi_only};
  std::vector<std::string> all{"the ranks of the node share " + std::to_string(memory.bytes() / 1024 / 1024) +
                               " MiB of memory (" + name_of(memory.kind()) + ")"};
  if (!memory.why_not_better().empty())
    all.push_back("a better kind of memory does not work: " + memory.why_not_better());
  all.push_back(why.no_copies.empty()
                    ? "long native collectives copy from the memory of other ranks (process_vm_readv)"
                    : "no rank copies from the memory of another: " + why.no_copies);
  all.push_back(why.no_buffers.empty()
                    ? "long native collectives work in buffers that lie in memory which others can map"
                    : "no call looks for buffers that others can map: " + why.no_buffers);
  all.push_back(whole_job
                    ? "all ranks of the job are on one node: native collectives use its memory"
                    : "the job has several nodes: native collectives of communicators within a node use "
                      "its memory");
  all.push_back("messages of schedules and of the program between ranks of a node use its memory");
  all.push_back("all data between nodes, and messages on MPI communicators that the program shares, use MPI");
  return all;
}

}  // namespace tutti::mpi
