// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm of the catalogue, every composition and the engine's own collectives, against plain loops,
// below the C++ face: parameters x roots x sizes x types x in place x kinds of operator, blocking and
// nonblocking. The same cases for every engine. Neighbours and calls between two groups have one algorithm
// each, and cases of their own in spmd/api_graph.cpp and spmd/api_between.cpp.
//
// A case is named allreduce/ring:segment=32/affine/ordered/in_place/nonblocking/root_2/count_17.
#pragma once

#include <functional>

#include "support/cases.hpp"
#include "transport/endpoint.hpp"

namespace tutti {
struct pure_algorithm;
struct composed_algorithm;
namespace detail {
class communicator_impl;
}
}  // namespace tutti

namespace tests {

/// One algorithm of the catalogue, with its usual parameters and with others.
void try_algorithm(tutti::detail::communicator_impl& communicator_impl, cases& cases,
                   const tutti::pure_algorithm& a);
/// Everything that this engine can run on this communicator.
void try_every_algorithm(tutti::detail::communicator_impl& communicator_impl, cases& cases);

enum class how_much { all, some };
/// One composition, where the layout of this communicator permits it.
void try_composition(tutti::detail::communicator_impl& communicator_impl, cases& cases,
                     const tutti::composed_algorithm& a, how_much tried = how_much::all);
/// Every composition that the layout of this communicator permits.
void try_every_composition(tutti::detail::communicator_impl& communicator_impl, cases& cases,
                           how_much tried = how_much::all);

/// What a rank of an engine runs, with a core as run() makes one, without the C++ face.
void on_a_core(tutti::endpoint& ep,
               const std::function<void(tutti::detail::communicator_impl&, cases&)>& program);
void every_algorithm(tutti::endpoint& ep);
void every_composition(tutti::endpoint& ep, how_much tried);

}  // namespace tests
