// SPDX-License-Identifier: Apache-2.0
//
// The entry of the mpi engine in the table of engines. It is part of the library, which links no
// MPI. The modules, one for each MPI, run the ranks (module.cpp).
#include <algorithm>

#include "engines/engine_table.hpp"
#include "engines/mpi/call_transport.hpp"
#include "engines/mpi/job_trees.hpp"
#include "engines/mpi/memory_pieces.hpp"
#include "engines/mpi/mpi_conditions.hpp"
#include "engines/mpi/mpi_offers.hpp"

namespace tutti::detail {
namespace {

constexpr variable variables_of_mpi[] = {
    {"TUTTI_MPI", "openmpi, mpich", "the MPI whose launcher started the program", "which MPI module to load"},
    {"TUTTI_SHM", "off, cells, copy, heap", "heap",
     "cells: native collectives and messages use memory that the ranks of a node share; copy: also, long "
     "collectives copy data from the memory of other ranks, if all ranks of the node may read each other; "
     "heap: also, they work in place if all their buffers lie in memory that others can map, which they look "
     "for only if a rank has asked for such memory before the start, or sets heap explicitly; "
     "off: all of them use MPI; if the ranks differ, the first of these that a rank has: off, cells, copy, "
     "heap"},
    {"TUTTI_NODE_LEVELS", "0, 1", "1",
     "1: if all ranks of a node are bound, and tutti was built with hwloc, those that share an L3 cache or a "
     "socket form levels of the "
     "topology below the node, for compositions; 0 on one rank: its node has no such levels; TUTTI_NODES "
     "replaces all levels"},
    {"TUTTI_NETWORK", "fast, slow", "measured at the start",
     "the network between nodes, which decides between two sets of built-in trees of each MPI: fast (they "
     "are simulated for 100 Gbit/s, 1 us) or slow (10 Gbit/s, 20 us); fast with TUTTI_NODES; that of rank 0 "
     "counts; if it is set, ranks that share cores keep native collectives"},
    {"TUTTI_PREFER", "native", "not set",
     "native: on several nodes, every collective that the MPI has is left to the MPI, as long as no tree of "
     "yours and no override chooses another; that of rank 0 counts"},
    {"TUTTI_DEADLOCK_AFTER", "1 to 86400 (seconds)", "10",
     "how long a rank waits before it prints its position; with TUTTI_CHECK=1: before the ranks check "
     "whether all wait for one another"},
};

}  // namespace

extern const engine_entry engine_mpi;
constinit const engine_entry engine_mpi = {
    .name = "mpi",
    .meaning = "a rank is a process of an MPI job",
    .by_default = [](const start_conditions& o) noexcept { return o.launched; },
    .when = "under an MPI launcher",
    .conditions = mpi_conditions,
    .offers =
        [](const agreed_signature& s, std::span<const std::string> holds) noexcept {
          const auto has = [&](const char* name) {
            return std::find(holds.begin(), holds.end(), name) != holds.end();
          };
          return has("node_memory") && in_node_memory(s) ? native_offer::any : mpi_offers(s, has("mpich"));
        },
    .transport = transport_over_mpi,
    .trees =
        [](int nodes, double message_us, std::string_view module) {
          tutti::mpi::network_speed speed = tutti::mpi::network_setting();
          if (speed == tutti::mpi::network_speed::unknown) speed = tutti::mpi::network_speed_of(message_us);
          return tutti::mpi::trees_of_job(nodes, speed, tutti::mpi::native_is_preferred(), module == "mpich");
        },
    .variables = variables_of_mpi,
};

}  // namespace tutti::detail
