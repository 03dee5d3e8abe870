// SPDX-License-Identifier: Apache-2.0
#include "compare/process.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class pipe_pair {
 public:
  pipe_pair() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("pipe");
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  ~pipe_pair() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t which) {
    if (ends_[which] >= 0) ::close(ends_[which]);
    ends_[which] = -1;
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> changed_environment(const environment& changes) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : changes) {
    if (value) {
      variables[name] = *value;
    } else {
      variables.erase(name);
    }
  }
  std::vector<std::string> result;
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// Reads the available bytes. Returns false at the end of the stream.
bool drain(int from, std::string& to) {
  std::array<char, 65536> chunk{};
  const ssize_t got = ::read(from, chunk.data(), chunk.size());
  if (got > 0) to.append(chunk.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

child_result run_child(const std::vector<std::string>& command, const environment& changes, seconds limit) {
  // Allocates all memory before fork(), because the child may not allocate.
  auto arguments = command;
  auto variables = changed_environment(changes);
  const auto argv = pointers(arguments);
  const auto envp = pointers(variables);
  pipe_pair out;
  pipe_pair err;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::setpgid(0, 0);  // so that a launcher and its ranks are killed together
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);  // mpirun would read the terminal
    ::dup2(out.writer(), STDOUT_FILENO);
    ::dup2(err.writer(), STDERR_FILENO);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::setpgid(child, child);
  out.close_end(1);
  err.close_end(1);

  child_result result;
  std::array<pollfd, 2> streams{{{out.reader(), POLLIN, 0}, {err.reader(), POLLIN, 0}}};
  bool reaped = false;
  int signals_sent = 0;
  auto deadline = clock::now() + std::chrono::duration_cast<clock::duration>(limit);
  while (true) {
    const bool open = streams[0].fd >= 0 || streams[1].fd >= 0;
    if (reaped && !open) break;
    ::poll(streams.data(), streams.size(), open ? 100 : 10);
    std::string* const texts[] = {&result.out, &result.err};
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd >= 0 && streams[i].revents != 0 && !drain(streams[i].fd, *texts[i]))
        streams[i].fd = -1;
    }
    int status = 0;
    if (!reaped && ::waitpid(child, &status, WNOHANG) == child) {
      reaped = true;
      result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      // A remaining rank may keep the pipes open. Do not wait for its output.
      deadline = clock::now() + std::chrono::milliseconds(500);
    }
    if (clock::now() < deadline) continue;
    if (reaped) break;
    result.timed_out = true;  // SIGTERM first, so that a launcher can end its ranks
    ::kill(-child, signals_sent++ == 0 ? SIGTERM : SIGKILL);
    deadline = clock::now() + std::chrono::seconds(3);
  }
  return result;
}

std::vector<std::string> launcher_command(const std::string& launcher, int ranks, environment& variables) {
  std::vector<std::string> words{launcher, "-n", std::to_string(ranks)};
  if (launcher == "mpirun.openmpi") {
    words.insert(words.end(), {"--oversubscribe", "--allow-run-as-root"});
    variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    variables.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return words;
}

std::vector<std::string> cluster::command(const std::string& launcher) const {
  return {script, "--quiet", "--mpi", mpi_of(launcher), "--nodes", std::to_string(nodes), "--rate",
          rate,   "--delay", delay};
}

std::vector<std::string> cluster_command(const cluster& where, const std::string& launcher, int ranks) {
  auto words = where.command(launcher);
  words.insert(words.end(), {"--ranks-per-node", std::to_string(ranks / where.nodes), "--"});
  return words;
}

std::string mpi_of(const std::string& launcher) { return launcher.substr(launcher.rfind('.') + 1); }

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace bench
