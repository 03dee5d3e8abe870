// SPDX-License-Identifier: Apache-2.0
//
// Engine modules: shared libraries, one for each MPI, found at run time, so that the library itself links no
// MPI.
#pragma once

#include <string>
#include <vector>

#include "engines/endpoint.hpp"

namespace tutti {

/// What started this process.
struct launcher {
  bool mpi = false;      // an MPI launcher did
  std::string module;    // "openmpi" or "mpich"; empty: cannot be told
  int ranks = 0;         // of the job; 0: cannot be told
  std::string evidence;  // the variable that says so
};
launcher find_launcher();

struct module_file {
  std::string name;  // "openmpi"
  std::string path;
};
/// The modules that are there, in the order in which folders are searched; a name once.
/// `header`: run.hpp as the program was compiled with it, or null; an installation has its modules beside its
/// headers.
std::vector<module_file> find_modules(const char* header = nullptr);
/// The folders searched, for messages.
std::vector<std::string> module_folders(const char* header = nullptr);

/// The version of the MPI that a module was built for, asked in a process of its own: two MPIs in one process
/// disturb each other. Empty where it cannot be loaded; `fault` says why.
std::string module_version(const module_file& file, std::string& fault);

/// Loads it for the rest of the process. Throws engine_error that says what the loader said.
const engine_module& load_module(const module_file& file);

}  // namespace tutti
