// SPDX-License-Identifier: Apache-2.0
//
// Which MPI a command belongs to: of a launcher by what it says of itself and by what it is called, of a
// program by the libraries that it would be started with.
#pragma once

#include <string>

namespace tutti::tool {

/// The file that would be started for this word, looked for in PATH unless it has a slash; empty: there is
/// none.
std::string program_file(const std::string& word);

/// Is it called as launchers of MPI are, itself or where its links lead? Others are never asked anything:
/// that would start them.
bool called_as_launcher(const std::string& file);

/// "openmpi", "mpich", or empty: it cannot be told.
std::string mpi_of_launcher(const std::string& file);
/// The same of a program; empty too where it is none, or links no MPI.
std::string mpi_of_program(const std::string& file);

}  // namespace tutti::tool
