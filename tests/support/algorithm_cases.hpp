// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm of the catalogue, every composition and the engine's own collectives, against plain loops,
// below the C++ face: parameters x roots x sizes x types x in place x kinds of operator, blocking and
// nonblocking. The same cases for every engine. Neighbours and calls between two groups have one algorithm
// each, and cases of their own in spmd/face_graph.cpp and spmd/face_between.cpp.
//
// A case is named allreduce/ring:segment=32/affine/ordered/in_place/nonblocking/root_2/count_17.
#pragma once

#include <functional>

#include "engines/endpoint.hpp"
#include "support/cases.hpp"

namespace tutti {
struct pure_algorithm;
struct composed_algorithm;
namespace detail {
class core;
}
}  // namespace tutti

namespace tests {

/// One algorithm of the catalogue, with its usual parameters and with others.
void try_algorithm(tutti::detail::core& core, cases& cases, const tutti::pure_algorithm& a);
/// Everything that this engine can run on this communicator.
void try_every_algorithm(tutti::detail::core& core, cases& cases);

enum class how_much { all, some };
/// One composition, where the layout of this communicator permits it.
void try_composition(tutti::detail::core& core, cases& cases, const tutti::composed_algorithm& a,
                     how_much tried = how_much::all);
/// Every composition that the layout of this communicator permits.
void try_every_composition(tutti::detail::core& core, cases& cases, how_much tried = how_much::all);

/// What a rank of an engine runs, with a core as run() makes one, without the C++ face.
void on_a_core(tutti::endpoint& door, const std::function<void(tutti::detail::core&, cases&)>& program);
void every_algorithm(tutti::endpoint& door);
void every_composition(tutti::endpoint& door, how_much tried);

}  // namespace tests
