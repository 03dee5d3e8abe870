// SPDX-License-Identifier: Apache-2.0
//
// Finds the module of workers, which is installed beside those of the engines.
#include <string>

#include <dlfcn.h>

#include "frontends/tasks/worker_pool.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/error.hpp"

namespace tutti::tasks {

using namespace tutti::detail;

std::unique_ptr<worker_pool> make_worker_pool(int workers, int rank, const char* header) {
  if (is_linked_statically())
    throw engine_error("tasks", rank, "workers",
                       "are " + std::to_string(workers) +
                           ", but this program is linked statically, so it cannot load the module of workers",
                       "use one worker, or link it without -static");
  const found_files files = find_files("libtutti-workers.so", "", header);
  std::string tried;
  const auto add = [&tried](const std::string& text) { tried += (tried.empty() ? "" : "; ") + text; };
  for (const std::string& path : files.real) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      add(dlerror());
      continue;
    }
    const auto* const module = static_cast<const workers_module*>(dlsym(handle, "tutti_workers_module"));
    if (module != nullptr && module->abi == workers_abi)
      return std::unique_ptr<worker_pool>(module->make(workers));
    dlclose(handle);
    add(path + " belongs to another version of tutti");
  }
  for (const std::string& path : files.rejected) add(path);
  if (tried.empty()) {
    tried = "it is in none of the folders";
    for (const std::string& folder : module_folders(header)) tried += ' ' + folder;
  }
  throw engine_error(
      "tasks", rank, "workers",
      "are " + std::to_string(workers) + ", but the module of workers cannot be loaded: " + tried,
      "build tutti with oneTBB (libtbb-dev), set TUTTI_MODULE_PATH to the folder of its modules, or use one "
      "worker");
}

}  // namespace tutti::tasks
