// SPDX-License-Identifier: Apache-2.0
#include "detect_mpi.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/launch/modules.hpp"

namespace tutti::tool {
namespace {

namespace fs = std::filesystem;

// Returns all output of a command, from stdout and stderr. Its standard input is empty, because the
// input belongs to the job.
std::string output_of(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  char part[4096];
  for (ssize_t n; child > 0 && (n = read(ends[0], part, sizeof part)) > 0;)
    output.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return output;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    if (text.find(part) != text.npos) return true;
  return false;
}

// Returns the name of the file and of every file that its links lead to. On Debian mpirun links to
// a link to mpirun.openmpi, which links to orterun.
std::vector<std::string> names_of_file(const std::string& file) {
  std::vector<std::string> names;
  fs::path at = file;
  for (int links = 0; links < 40; ++links) {
    names.push_back(at.filename().string());
    std::error_code fault;
    const fs::path next = fs::read_symlink(at, fault);
    if (fault) break;
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return names;
}

// Returns the ELF interpreter of a program. Returns an empty text if the file is no program of this
// machine, or is static.
std::string interpreter_of(const std::string& file) {
  std::error_code fault;
  if (!fs::is_regular_file(file, fault)) return {};
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr head{};
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    in.seekg(static_cast<std::streamoff>(head.e_phoff + static_cast<Elf64_Off>(i) * sizeof part));
    if (!in.read(reinterpret_cast<char*>(&part), sizeof part)) return {};
    if (part.p_type != PT_INTERP || part.p_filesz > 4096) continue;
    std::string name(part.p_filesz, '\0');
    in.seekg(static_cast<std::streamoff>(part.p_offset));
    if (!in.read(name.data(), static_cast<std::streamsize>(name.size()))) return {};
    return name.c_str();  // the name ends with a zero byte
  }
  return {};
}

}  // namespace

std::string program_file(const std::string& word) {
  const auto can_start = [](const fs::path& file) {
    std::error_code fault;
    return fs::is_regular_file(file, fault) && access(file.c_str(), X_OK) == 0;
  };
  if (word.empty()) return {};
  if (word.find('/') != word.npos) return can_start(word) ? word : std::string();
  const char* path = secure_getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder.empty() ? "." : folder) / word; can_start(file))
      return file.string();
  return {};
}

bool has_launcher_name(const std::string& file) {
  constexpr std::array<std::string_view, 7> heads{"mpirun", "mpiexec",  "orterun",      "prterun",
                                                  "oshrun", "shmemrun", "hydra_mpiexec"};
  for (const std::string& name : names_of_file(file))
    for (const std::string_view head : heads)
      if (name == head || name.starts_with(std::string(head) + '.') ||
          name.starts_with(std::string(head) + '-') || name.starts_with(std::string(head) + '_'))
        return true;
  return false;
}

// The names of the executables themselves are unique. Other launchers are asked, which takes some
// milliseconds.
std::string mpi_of_launcher(const std::string& file) {
  const std::string name = names_of_file(file).back();
  if (name == "orterun" || name == "prterun") return "openmpi";
  if (name == "mpiexec.hydra" || name == "hydra_mpiexec") return "mpich";
  const std::string output = output_of({file, "--version"});
  if (contains_any(output, {"Open MPI", "OpenRTE", "PRRTE"})) return "openmpi";
  if (contains_any(output, {"HYDRA", "MPICH"})) return "mpich";
  for (const std::string& one : names_of_file(file)) {
    if (contains_any(one, {"openmpi", "orterun", "prterun"})) return "openmpi";
    if (contains_any(one, {"mpich", "hydra"})) return "mpich";
  }
  return {};
}

std::string mpi_of_program(const std::string& file) {
  // Asks the loader, which knows search paths and indirect dependencies. It never starts the
  // program itself: a static program would simply run.
  const std::string loader = interpreter_of(file);
  if (loader.empty()) return {};
  const std::string libraries = output_of({loader, "--list", file});
  // MPICH and old versions of Open MPI both call their library libmpi.so.12. The libraries below it
  // differ.
  if (contains_any(libraries, {"libopen-pal.so", "libopen-rte.so", "libmpi.so.20", "libmpi.so.40"}))
    return "openmpi";
  if (contains_any(libraries, {"libmpich.so", "libmpi.so.12"})) return "mpich";
  return {};
}

std::string mpi_version(const std::string& module) {
  std::string text;
  for (const detail::module_file& m : detail::find_modules())
    if (m.name == module) text = detail::load_module(m).module.library_version();
  std::istringstream words(text.substr(0, text.find_first_of("\n,")));
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace tutti::tool
