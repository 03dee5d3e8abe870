// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of `tutti`: each adds itself to the command line in its own file. A subcommand's
// callback returns its exit status through `status`, or throws called_wrongly.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tutti::tool {

/// Thrown if the command line is invalid. main() prints it after the subcommand's name and exits
/// with status 2.
struct called_wrongly : std::runtime_error {
  using runtime_error::runtime_error;
};

/// For options that take a size: parses "64K", "64KiB" or "1M" in the same way as the library.
CLI::Validator as_size();

void add_diff(CLI::App& app, int& status);
void add_import(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_measure(CLI::App& app, int& status);
/// `command`: the arguments after --.
void add_preload(CLI::App& app, int& status, const std::vector<std::string>& command);
void add_show(CLI::App& app, int& status);
void add_simulate(CLI::App& app, int& status);
void add_tree(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_tune(CLI::App& app, int& status);
void add_validate(CLI::App& app, int& status);

}  // namespace tutti::tool
