// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/job_command.hpp"

#include <cstring>
#include <stdexcept>

namespace tutti::lpf {
namespace {

void put(std::vector<char>& text, std::uint64_t number) {
  const auto* bytes = reinterpret_cast<const char*>(&number);
  text.insert(text.end(), bytes, bytes + sizeof number);
}

void put(std::vector<char>& text, const function_location& place) {
  put(text, place.null ? 1 : 0);
  put(text, place.offset);
  put(text, place.call_key);
  put(text, place.file.size());
  text.insert(text.end(), place.file.begin(), place.file.end());
}

class reader {
 public:
  explicit reader(const std::vector<char>& text) : text_(text) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, next(sizeof value), sizeof value);
    return value;
  }
  function_location place() {
    function_location p;
    p.null = number() != 0;
    p.offset = number();
    p.call_key = number();
    const std::size_t length = number();
    p.file.assign(next(length), length);
    return p;
  }

 private:
  const char* next(std::size_t bytes) {
    if (bytes > text_.size() - at_) throw std::runtime_error("a command to a waiting process is truncated");
    at_ += bytes;
    return text_.data() + at_ - bytes;
  }
  const std::vector<char>& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<char> written(const order& what) {
  std::vector<char> text;
  put(text, what.processes);
  put(text, what.spmd);
  put(text, what.symbols.size());
  for (const function_location& one : what.symbols) put(text, one);
  return text;
}

order read_order(const std::vector<char>& text) {
  reader from(text);
  order what;
  what.processes = static_cast<lpf_pid_t>(from.number());
  what.spmd = from.place();
  for (std::uint64_t n = from.number(); n > 0; --n) what.symbols.push_back(from.place());
  return what;
}

}  // namespace tutti::lpf
