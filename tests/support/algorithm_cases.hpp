// SPDX-License-Identifier: Apache-2.0
//
// Every algorithm of the catalogue, every composition and the engine's own collectives, against plain loops,
// below the C++ face: parameters x roots x sizes x types x in place x kinds of operator, blocking and
// nonblocking. The same cases for every engine. Neighbours and calls between two groups have one algorithm
// each, and cases of their own in spmd/face_graph.cpp and spmd/face_between.cpp.
//
// A case is named allreduce/ring:segment=32/affine/ordered/in_place/nonblocking/root_2/count_17.
#pragma once

#include "engines/endpoint.hpp"
#include "support/cases.hpp"

namespace tutti::detail {
class core;
}

namespace tests {

/// Everything that this engine can run on this communicator.
void try_every_algorithm(tutti::detail::core& core, cases& cases);

enum class how_much { all, some };
/// Every composition that the layout of this communicator permits.
void try_every_composition(tutti::detail::core& core, cases& cases, how_much tried = how_much::all);

/// Both as what a rank of an engine runs, without the C++ face.
void every_algorithm(tutti::endpoint& door);
void every_composition(tutti::endpoint& door, how_much tried);

}  // namespace tests
