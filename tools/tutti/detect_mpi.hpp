// SPDX-License-Identifier: Apache-2.0
//
// Determines the MPI of a command. A launcher is recognized by its name and by the version that it
// prints, a program by the libraries that it loads.
#pragma once

#include <string>

namespace tutti::tool {

/// Returns the file that this word would start: it is searched in PATH unless it contains a slash.
/// Empty if there is none.
std::string program_file(const std::string& word);

/// Returns whether the file, or a target of its links, has the name of an MPI launcher. Other
/// programs are never queried, because that would start them.
bool has_launcher_name(const std::string& file);

/// "openmpi", "mpich", or empty if unknown.
std::string mpi_of_launcher(const std::string& file);
/// The same for a program. Also empty if it is no program, or links no MPI.
std::string mpi_of_program(const std::string& file);

/// "Open MPI v4.1.4": the MPI of an engine module that this process has loaded, on one line. Empty
/// if there is no such module.
std::string mpi_version(const std::string& module);

}  // namespace tutti::tool
