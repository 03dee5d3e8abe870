// SPDX-License-Identifier: Apache-2.0
//
// The main program of a test that runs on every rank of any engine. It exits with 0 if every case
// passed on every rank. Otherwise the first failed rank prints the two lines of failure_report.hpp.
#pragma once

#include <functional>

#include "support/named_cases.hpp"
#include "tutti/tutti.hpp"

namespace tests {

/// If GROUP_OF_TESTS names a kind of group, `world` is a communicator over such a group of all
/// ranks.
int run_program(int argc, char** argv, const std::function<void(tutti::communicator&, cases&)>& body);

/// Prints both lines to standard error in one write. `e`: the exception of the rank.
void print_failure(const program_start& start, const failure_site& at, const std::exception& e);

/// Returns the interleaving that TUTTI_SEED selects, or 0 on engines without interleavings.
std::uint64_t seed_of_interleaving(std::string_view engine);

}  // namespace tests
