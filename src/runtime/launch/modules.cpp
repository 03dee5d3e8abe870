// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch/modules.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "runtime/launch/trust.hpp"
#include "transport/shm/shared_arena.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_head = "libtutti-mpi-", file_tail = ".so";

fs::path folder_of_executable() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

// The folder of the shared library. Empty if the library is linked into the program, which has no
// name in the loader's list. The file that dladdr names for it is the caller's argv[0].
fs::path folder_of_library() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&find_modules), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0)
    return {};
  if (map == nullptr || map->l_name == nullptr || *map->l_name == '\0') return {};
  if (info.dli_fname == nullptr) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

// The folders found by the location of the program: in a build tree, and in an installation that
// was moved.
std::vector<std::string> folders_near_program() {
  std::vector<std::string> folders;
  const fs::path exe = folder_of_executable();
  if (exe.empty() || has_elevated_privileges()) return folders;
#if defined(TUTTI_LIBDIR)
  folders.push_back((exe / ".." / TUTTI_LIBDIR / "tutti").lexically_normal().string());
#endif
  folders.push_back((exe / ".." / "lib" / "tutti").lexically_normal().string());
  return folders;
}

std::vector<std::string> folders_of_variable() {
  std::vector<std::string> folders;
  if (const auto path_list = setting("TUTTI_MODULE_PATH")) {
    std::istringstream parts(*path_list);
    for (std::string one; std::getline(parts, one, ':');) folders.push_back(one);
  }
  return folders;
}

}  // namespace

bool is_linked_statically() {
  bool has_linker = false;
  const auto of_program = [](dl_phdr_info* program, std::size_t, void* found) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
      if (program->dlpi_phdr[i].p_type == PT_INTERP) *static_cast<bool*>(found) = true;
    return 1;  // the first object is the program
  };
  dl_iterate_phdr(of_program, &has_linker);
  return !has_linker;
}

// The caller's variables must not make a setuid program load an MPI.
launcher find_launcher() {
  const auto number = [](const char* name) {
    const char* text = secure_getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
  };
  if (secure_getenv("OMPI_COMM_WORLD_SIZE") != nullptr)
    return {true, "openmpi", number("OMPI_COMM_WORLD_SIZE"), "OMPI_COMM_WORLD_SIZE"};
  if (secure_getenv("PMI_SIZE") != nullptr) return {true, "mpich", number("PMI_SIZE"), "PMI_SIZE"};
  if (secure_getenv("PMI_RANK") != nullptr) return {true, "mpich", 0, "PMI_RANK"};
  if (secure_getenv("PMIX_RANK") != nullptr) return {true, "", 0, "PMIX_RANK"};
  // A Slurm step of several tasks without PMI must still not run an embedded job in each task.
  if (number("SLURM_STEP_NUM_TASKS") > 1 && secure_getenv("SLURM_PROCID") != nullptr)
    return {true, "", number("SLURM_STEP_NUM_TASKS"), "SLURM_STEP_NUM_TASKS"};
  return {};
}

std::vector<std::string> module_folders(const char* header) {
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& p) {
    if (!p.empty() && std::find(folders.begin(), folders.end(), p.string()) == folders.end())
      folders.push_back(p.string());
  };
  for (const std::string& one : folders_of_variable()) add(one);
  if (const fs::path lib = folder_of_library(); !lib.empty()) add(lib / "tutti");
#if defined(TUTTI_MODULE_DIR_INSTALL)
  if (header != nullptr && fs::path(header).is_absolute()) {
    // <prefix>/include/tutti/run.hpp. The installation chose the name of the library folder.
    const fs::path prefix = fs::path(header).lexically_normal().parent_path().parent_path().parent_path();
    add((prefix / TUTTI_LIBDIR / "tutti").lexically_normal());
    add((prefix / "lib" / "tutti").lexically_normal());
  }
  add(TUTTI_MODULE_DIR_INSTALL);
#endif
  // Last, because they depend on the program.
  for (const std::string& one : folders_near_program()) add(one);
  return folders;
}

found_files find_files(std::string_view prefix, std::string_view suffix, const char* header) {
  found_files all;
  const std::vector<std::string> named = folders_of_variable();
  for (const std::string& folder : module_folders(header)) {
    const bool of_installation = std::find(named.begin(), named.end(), folder) == named.end();
    std::error_code error;
    std::vector<std::string> matching;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const fs::path& path = entry->path();
      const std::string file = path.filename().string();
      const bool fits = suffix.empty() ? file == prefix
                                       : file.size() >= prefix.size() + suffix.size() &&
                                             file.starts_with(prefix) && file.ends_with(suffix);
      if (fits) matching.push_back(fs::absolute(path).lexically_normal().string());
    }
    std::sort(matching.begin(), matching.end());
    for (std::string& path : matching) {
      trust_decision file = decide_trust(path, of_installation);
      if (!file.reason.empty()) {
        all.rejected.push_back(echoed(path) + ' ' + file.reason);
        continue;
      }
      all.usable.push_back(std::move(path));
      all.real.push_back(file.real.string());
    }
  }
  return all;
}

std::vector<module_file> find_modules(const char* header, std::vector<std::string>* rejected) {
  found_files files = find_files(file_head, file_tail, header);
  std::vector<module_file> found;
  for (std::size_t i = 0; i < files.usable.size(); ++i) {
    const std::string file = fs::path(files.usable[i]).filename().string();
    const std::string name = file.substr(file_head.size(), file.size() - file_head.size() - file_tail.size());
    auto at = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.name == name; });
    if (at == found.end()) at = found.insert(at, {name, {}});
    at->paths.push_back(std::move(files.real[i]));
  }
  if (rejected != nullptr) *rejected = std::move(files.rejected);
  return found;
}

loaded_module load_module(const module_file& file) {
  if (is_linked_statically())
    throw engine_error("run", -1, "",
                       "this program is linked statically, so it cannot load the module of an MPI",
                       "link it without -static");
  std::string errors;
  for (const std::string& path : file.paths) {
    // Global, because an MPI loads its own plugins, which need its symbols.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    errors += errors.empty() ? "" : "; ";
    if (handle == nullptr) {
      errors += dlerror();
      continue;
    }
    const auto* module = static_cast<const engine_module*>(dlsym(handle, "tutti_engine_module"));
    if (module != nullptr && module->abi == engine_abi) {
      module->use_arena(shm::shared_arena::current());
      return {*module, path};
    }
    dlclose(handle);
    errors += echoed(path) + " belongs to another version of tutti";
  }
  throw engine_error("run", -1, "TUTTI_MPI", "the module " + file.name + " cannot be loaded: " + errors,
                     "install the MPI that it was built for, build tutti again, or set TUTTI_MODULE_PATH to "
                     "the modules that were built with this library");
}

module_description describe_module(const module_file& file) {
  int ends[2];
  if (pipe(ends) != 0) return {{}, {}, "cannot create a pipe to the process that loads it"};
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      const loaded_module loaded = load_module(file);
      text = "+" + loaded.path + '\n' + std::string(loaded.module.library_version());
    } catch (const std::exception& e) {
      text = "-" + std::string(e.what());
    }
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string output;
  char part[512];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    output.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  if (!output.starts_with('+')) {
    return {{}, {}, output.empty() ? "the process that loaded it ended without an answer" : output.substr(1)};
  }
  const std::size_t line = output.find('\n');
  const std::string version = output.substr(line + 1);
  return {output.substr(1, line - 1), version.substr(0, version.find_first_of("\n,")), {}};
}

}  // namespace tutti::detail
