// SPDX-License-Identifier: Apache-2.0
#include "launch/modules.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/environment.hpp"
#include "tutti/core/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_head = "libtutti-mpi-", file_tail = ".so";

fs::path folder_of_executable() {
  std::error_code fault;
  const fs::path self = fs::read_symlink("/proc/self/exe", fault);
  return fault ? fs::path() : self.parent_path();
}

// Of the shared library, or of the program where the library is static.
fs::path folder_of_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_modules), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code fault;
  const fs::path file = fs::canonical(info.dli_fname, fault);
  return fault ? fs::path() : file.parent_path();
}

}  // namespace

launcher find_launcher() {
  const auto number = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
  };
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr)
    return {true, "openmpi", number("OMPI_COMM_WORLD_SIZE"), "OMPI_COMM_WORLD_SIZE"};
  if (std::getenv("PMI_SIZE") != nullptr) return {true, "mpich", number("PMI_SIZE"), "PMI_SIZE"};
  if (std::getenv("PMI_RANK") != nullptr) return {true, "mpich", 0, "PMI_RANK"};
  if (std::getenv("PMIX_RANK") != nullptr) return {true, "", 0, "PMIX_RANK"};
  // A step of several tasks whose launcher offers no PMI is still no place for a copy of an embedded job in
  // each.
  if (number("SLURM_STEP_NUM_TASKS") > 1 && std::getenv("SLURM_PROCID") != nullptr)
    return {true, "", number("SLURM_STEP_NUM_TASKS"), "SLURM_STEP_NUM_TASKS"};
  return {};
}

std::vector<std::string> module_folders(const char* header) {
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& p) {
    if (!p.empty() && std::find(folders.begin(), folders.end(), p.string()) == folders.end())
      folders.push_back(p.string());
  };
  if (const auto given = setting("TUTTI_MODULE_PATH")) {
    std::istringstream parts(*given);
    for (std::string one; std::getline(parts, one, ':');) add(one);
  }
  if (const fs::path exe = folder_of_executable(); !exe.empty())
    add((exe / ".." / "lib" / "tutti").lexically_normal());
  if (const fs::path lib = folder_of_library(); !lib.empty()) add(lib / "tutti");
#if defined(TUTTI_MODULE_DIR_INSTALL)
  if (header != nullptr && fs::path(header).is_absolute()) {
    // <prefix>/include/tutti/run.hpp; the library folder has the name that the installation gave it.
    const fs::path prefix = fs::path(header).parent_path().parent_path().parent_path();
    add((prefix / TUTTI_LIBDIR / "tutti").lexically_normal());
    add((prefix / "lib" / "tutti").lexically_normal());
  }
  add(TUTTI_MODULE_DIR_INSTALL);
#endif
  return folders;
}

std::vector<module_file> find_modules(const char* header) {
  std::vector<module_file> found;
  for (const std::string& folder : module_folders(header)) {
    std::error_code fault;
    std::vector<module_file> here;
    for (const auto& entry : fs::directory_iterator(folder, fault)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(file_head) || !file.ends_with(file_tail)) continue;
      here.push_back({file.substr(file_head.size(), file.size() - file_head.size() - file_tail.size()),
                      entry.path().string()});
    }
    std::sort(here.begin(), here.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (auto& m : here)
      if (std::none_of(found.begin(), found.end(), [&](const auto& f) { return f.name == m.name; }))
        found.push_back(m);
  }
  return found;
}

const engine_module& load_module(const module_file& file) {
  // Global: an MPI loads plugins of its own that expect its symbols to be visible.
  void* handle = dlopen(file.path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    throw engine_error("run", -1, "TUTTI_MPI", "the module " + file.name + " cannot be loaded: " + dlerror(),
                       "install the MPI that it was built for, or build tutti again");
  const auto* module = static_cast<const engine_module*>(dlsym(handle, "tutti_engine_module"));
  if (module == nullptr || module->abi != engine_abi)
    throw engine_error("run", -1, "TUTTI_MODULE_PATH", file.path + " belongs to another version of tutti",
                       "let the path name the modules that were built with this library");
  return *module;
}

std::string module_version(const module_file& file, std::string& fault) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      text = "+" + std::string(load_module(file).library_version());
    } catch (const std::exception& e) {
      text = "-" + std::string(e.what());
    }
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char part[512];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  if (said.starts_with('+')) return said.substr(1, said.find_first_of("\n,") - 1);
  fault = said.empty() ? "its process ended without a word" : said.substr(1);
  return {};
}

}  // namespace tutti
