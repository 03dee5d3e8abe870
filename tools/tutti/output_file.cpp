// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <charconv>
#include <csignal>
#include <system_error>

#include <unistd.h>

#include "base/regular_file.hpp"
#include "base/report_text.hpp"
#include "subcommands.hpp"

namespace tutti::tool {

using namespace tutti::detail;

std::filesystem::path output_path(const std::string& named, const std::string& name) {
  std::filesystem::path path = named;
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault)) path /= name + ".json";
  if (std::filesystem::exists(path, fault) && !std::filesystem::is_regular_file(path, fault))
    throw called_wrongly{echoed(path.string()) + " is not a regular file"};
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, fault))
    throw called_wrongly{echoed(folder.string()) + " is not a folder"};
  if (::access(folder.c_str(), W_OK) != 0)
    throw called_wrongly{echoed(folder.string()) + " cannot be written to"};
  return path;
}

void write_atomically(const std::filesystem::path& path, const std::string& text) {
  sigset_t interrupts, before;
  sigemptyset(&interrupts);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&interrupts, signal);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  std::filesystem::path part = path;
  part += "." + std::to_string(getpid());
  const bool written = write_regular_file(part.string(), text).empty();
  std::error_code error;
  if (written) std::filesystem::rename(part, path, error);
  const bool good = written && !error;
  if (!good) std::filesystem::remove(part, error);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!good) throw called_wrongly{echoed(path.string()) + " cannot be written"};
}

double read_seconds(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return -1;
  const std::string unit(end, text.data() + text.size());
  return unit.empty() || unit == "s" ? value : unit == "m" || unit == "min" ? 60 * value : -1;
}

}  // namespace tutti::tool
