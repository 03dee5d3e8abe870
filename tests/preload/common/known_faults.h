// SPDX-License-Identifier: Apache-2.0
//
// Calls that Open MPI 4.1.4 and MPICH 4.0.2 get wrong themselves. Programs make such calls only
// with the argument all=1, which states that tutti serves all of them.
#ifndef TUTTI_TESTS_PRELOAD_KNOWN_H
#define TUTTI_TESTS_PRELOAD_KNOWN_H

#include "moving_calls.h"
#include "reducing_calls.h"

int move_has_known_fault(enum collective which, const struct move* move, int nonblocking);
int reduction_has_known_fault(enum collective which, const struct reduction* reduction, int nonblocking);

#endif
