// SPDX-License-Identifier: Apache-2.0
//
// Engine modules: shared libraries, one for each MPI. They are found at run time, so that the
// library itself links no MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/endpoint.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {

/// The launcher of this process.
struct launcher {
  bool mpi = false;      // an MPI launcher started it
  std::string module;    // "openmpi" or "mpich"; empty: unknown
  int ranks = 0;         // of the job; 0: unknown
  std::string variable;  // the environment variable that shows it
};
TUTTI_API launcher find_launcher();

/// Whether the program has no dynamic linker. dlopen() then crashes in most modules.
bool is_linked_statically();

/// The folders that the library searches for modules, in this order: those of TUTTI_MODULE_PATH,
/// those of the installation, and those beside the program. A setuid program searches only those of
/// the installation. `header`: the path of run.hpp when the program was compiled, or null. An
/// installation has its modules beside its headers.
std::vector<std::string> module_folders(const char* header = nullptr);

struct found_files {
  std::vector<std::string> usable;  // absolute paths, in the order of folders, then of names
  // The same files with all links resolved: pass these to dlopen().
  std::vector<std::string> real;
  // Each as "PATH why": files that may not be loaded (trust.hpp).
  std::vector<std::string> rejected;
};
/// Returns the files in these folders whose names begin with `prefix` and end with `suffix`. If
/// `suffix` is empty, it returns the files whose name is `prefix`.
found_files find_files(std::string_view prefix, std::string_view suffix, const char* header = nullptr);

struct module_file {
  std::string name;                // "openmpi"
  std::vector<std::string> paths;  // with links resolved, in the order in which they are tried
};
/// The engine modules that may be loaded. `rejected`: as in found_files.
std::vector<module_file> find_modules(const char* header = nullptr,
                                      std::vector<std::string>* rejected = nullptr);

struct loaded_module {
  const engine_module& module;
  std::string path;
};
/// Loads the first file that was built with this version of tutti. It stays loaded. Throws
/// engine_error with the reason for each file if there is none.
loaded_module load_module(const module_file& file);

/// The file that load_module() would load, and the version of the MPI that it was built for. A
/// child process finds out, because two MPIs in one process disturb each other.
struct module_description {
  std::string path;     // empty: no file can be loaded
  std::string version;  // of the MPI
  std::string problem;  // why no file can be loaded
};
module_description describe_module(const module_file& file);

}  // namespace tutti::detail
