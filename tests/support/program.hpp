// SPDX-License-Identifier: Apache-2.0
//
// The main program of a test that runs on every rank of whatever started it. It ends with 0 when every case
// ended well on every rank; else the first rank that failed says so, in the two lines of repeated_calls.hpp.
#pragma once

#include <functional>

#include "support/cases.hpp"
#include "tutti/tutti.hpp"

namespace tests {

/// With GROUP_OF_TESTS set to a kind of group, `world` is a communicator over one of all ranks.
int run_program(int argc, char** argv, const std::function<void(tutti::communicator&, cases&)>& body);

/// Prints both lines to standard error, in one piece. `e`: what the rank threw.
void say_failed(const beginning& start, const place& at, const std::exception& e);

/// The interleaving that TUTTI_SEED asks for, on the engine that has any.
std::uint64_t seed_of_interleaving(std::string_view engine);

}  // namespace tests
