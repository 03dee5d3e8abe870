// SPDX-License-Identifier: Apache-2.0
//
// Engine modules: shared libraries, one for each MPI, found at run time, so that the library itself links no
// MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/endpoint.hpp"

namespace tutti {

/// What started this process.
struct launcher {
  bool mpi = false;      // an MPI launcher did
  std::string module;    // "openmpi" or "mpich"; empty: cannot be told
  int ranks = 0;         // of the job; 0: cannot be told
  std::string evidence;  // the variable that says so
};
launcher find_launcher();

/// The folders searched for code, in their order: those of TUTTI_MODULE_PATH, the installation's, and last
/// the one beside the program. A program with other rights than its caller's searches the installation's
/// alone. `header`: run.hpp as the program was compiled with it, or null; an installation has its modules
/// beside its headers.
std::vector<std::string> module_folders(const char* header = nullptr);

struct found_files {
  std::vector<std::string> usable;    // absolute paths, in the order of folders, then of names
  std::vector<std::string> real;      // the same with all links followed: what was judged, for dlopen()
  std::vector<std::string> rejected;  // each as "PATH why": these may not be loaded (trust.hpp)
};
/// The files in the folders searched whose names begin and end so; with an empty `end`, those of that name.
found_files find_files(std::string_view beginning, std::string_view end, const char* header = nullptr);

struct module_file {
  std::string name;                // "openmpi"
  std::vector<std::string> paths;  // where it is, links followed, in the order in which they are tried
};
/// The engine modules that may be loaded. `rejected`: as in found_files.
std::vector<module_file> find_modules(const char* header = nullptr,
                                      std::vector<std::string>* rejected = nullptr);

struct loaded_module {
  const engine_module& module;
  std::string path;
};
/// Loads the first of its files that was built with this version of tutti, for the rest of the process.
/// Throws engine_error if there is none, with the reason for each.
loaded_module load_module(const module_file& file);

/// What load_module() would load, and the version of the MPI that it was built for. A process of its own
/// asks, since two MPIs in one process disturb each other.
struct module_report {
  std::string path;     // empty: none can be loaded
  std::string version;  // of the MPI
  std::string fault;    // why none can be loaded
};
module_report report_module(const module_file& file);

}  // namespace tutti
