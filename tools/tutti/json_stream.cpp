// SPDX-License-Identifier: Apache-2.0
#include "json_stream.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace tutti::tool {

// Begins the line of the next element, unless a key precedes it.
void json_stream::separate() {
  if (std::exchange(after_key_, false) || open_.empty()) return;
  write(open_.back().empty ? "\n" : ",\n");
  indent();
  open_.back().empty = false;
}

void json_stream::begin(char opening) {
  separate();
  write({&opening, 1});
  open_.push_back({opening == '{' ? '}' : ']'});
}

void json_stream::end() {
  const level closed = open_.back();
  open_.pop_back();
  if (!closed.empty) {
    write("\n");
    indent();
  }
  write({&closed.closing, 1});
  if (open_.empty()) write("\n");
}

void json_stream::key(std::string_view name) {
  separate();
  write("\"");
  write(name);
  write("\": ");
  after_key_ = true;
}

void json_stream::indent() {
  static constexpr std::string_view blanks = "                                ";
  for (std::size_t n = 2 * open_.size(); n > 0;) {
    const std::size_t part = std::min(n, blanks.size());
    write(blanks.substr(0, part));
    n -= part;
  }
}

void json_stream::value(std::size_t number) {
  separate();
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  write({digits, static_cast<std::size_t>(end - digits)});
}

void json_stream::value(std::string_view name) {
  separate();
  write("\"");
  write(name);
  write("\"");
}

void json_stream::value(const json& element) {
  separate();
  const std::string text = element.dump(2);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    write(std::string_view(text).substr(at, end - at));
    if (end < text.size()) {
      write("\n");
      indent();
    }
    at = end + 1;
  }
}

}  // namespace tutti::tool
