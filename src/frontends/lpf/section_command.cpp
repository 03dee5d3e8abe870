// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/section_command.hpp"

#include <cstring>
#include <stdexcept>

namespace tutti::lpf {
namespace {

void append(std::vector<char>& data, std::uint64_t number) {
  const auto* bytes = reinterpret_cast<const char*>(&number);
  data.insert(data.end(), bytes, bytes + sizeof number);
}

void append(std::vector<char>& data, const function_location& location) {
  append(data, location.null ? 1 : 0);
  append(data, location.offset);
  append(data, location.layout_hash);
  append(data, location.file.size());
  data.insert(data.end(), location.file.begin(), location.file.end());
}

class reader {
 public:
  explicit reader(const std::vector<char>& data) : data_(data) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  function_location location() {
    function_location p;
    p.null = number() != 0;
    p.offset = number();
    p.layout_hash = number();
    const std::size_t length = number();
    p.file.assign(next(length), length);
    return p;
  }

 private:
  const char* next(std::size_t bytes) {
    if (bytes > data_.size() - at_) throw std::runtime_error("a command to a waiting process is truncated");
    at_ += bytes;
    return data_.data() + at_ - bytes;
  }
  const std::vector<char>& data_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<char> serialize(const section_command& command) {
  std::vector<char> data;
  append(data, command.processes);
  append(data, command.spmd);
  append(data, command.symbols.size());
  for (const function_location& one : command.symbols) append(data, one);
  return data;
}

section_command deserialize(const std::vector<char>& data) {
  reader from(data);
  section_command command;
  command.processes = static_cast<lpf_pid_t>(from.number());
  command.spmd = from.location();
  for (std::uint64_t n = from.number(); n > 0; --n) command.symbols.push_back(from.location());
  return command;
}

}  // namespace tutti::lpf
