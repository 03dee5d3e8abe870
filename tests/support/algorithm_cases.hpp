// SPDX-License-Identifier: Apache-2.0
//
// Cases that compare every algorithm, every composition and the native collectives with plain
// loops, below the C++ API. They cover parameters, roots, sizes, types, in place, kinds of
// operators, blocking and nonblocking calls. All engines run the same cases. Neighborhood
// collectives and calls between two groups have one algorithm each. spmd/api_graph.cpp and
// spmd/api_intercommunicators.cpp contain their cases.
//
// The name of a case is for example
// allreduce/ring:segment=32/affine/ordered/in_place/nonblocking/root_2/count_17.
#pragma once

#include <functional>

#include "support/named_cases.hpp"
#include "transport/endpoint.hpp"

namespace tutti::detail {
class communicator_impl;
struct pure_algorithm;
struct composed_algorithm;
}  // namespace tutti::detail

namespace tests {

/// Runs one algorithm of the catalogue with its default parameters and with others.
void try_algorithm(tutti::detail::communicator_impl& comm, cases& cases,
                   const tutti::detail::pure_algorithm& a);
/// Runs everything that this engine supports on this communicator.
void try_every_algorithm(tutti::detail::communicator_impl& comm, cases& cases);

enum class coverage { all, some };
/// Runs one composition if the topology of this communicator permits it.
void try_composition(tutti::detail::communicator_impl& comm, cases& cases,
                     const tutti::detail::composed_algorithm& a, coverage extent = coverage::all);
/// Runs every composition that the topology of this communicator permits.
void try_every_composition(tutti::detail::communicator_impl& comm, cases& cases,
                           coverage extent = coverage::all);

/// Calls `program` on a rank of an engine with a communicator_impl like that of run(), without the
/// C++ API.
void run_with_world(tutti::detail::endpoint& ep,
                    const std::function<void(tutti::detail::communicator_impl&, cases&)>& program);
void every_algorithm(tutti::detail::endpoint& ep);
void every_composition(tutti::detail::endpoint& ep, coverage extent);

}  // namespace tests
