// SPDX-License-Identifier: Apache-2.0
//
// Checks of one rank. A failed check throws with its place and values. So the job fails and
// releases the other ranks from their waits. The caller of the job reports the rank.
#pragma once

#include <exception>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace tests {

template <class T>
void print(std::ostream& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else if constexpr (requires {
                         value.begin();
                         value.end();
                       }) {
    out << '{';
    std::size_t shown = 0;
    for (const auto& item : value) {
      if (shown++ == 40) break;
      print(out, item);
      out << ' ';
    }
    out << (shown > 40 ? "...}" : "}");
  } else if constexpr (requires { value.first, value.second; }) {
    out << '(', print(out, value.first), out << ',', print(out, value.second), out << ')';
  } else {
    out << "?";
  }
}

[[noreturn]] inline void fail(const std::string& what, const std::source_location& at) {
  throw std::runtime_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " + what);
}

struct checks {
  void that(bool holds, const std::source_location& at = std::source_location::current()) const {
    if (!holds) fail("does not hold", at);
  }
  void that(bool holds, const std::string& what,
            const std::source_location& at = std::source_location::current()) const {
    if (!holds) fail(what, at);
  }

  template <class A, class B>
  void equal(const A& got, const B& expected,
             const std::source_location& at = std::source_location::current()) const {
    bool same;
    if constexpr (requires {
                    got.size();
                    expected.size();
                    got[0];
                    expected[0];
                  }) {
      same = got.size() == expected.size();
      for (std::size_t i = 0; same && i < got.size(); ++i) same = got[i] == expected[i];
    } else {
      same = got == static_cast<A>(expected);
    }
    if (same) return;
    std::ostringstream text;
    text << "got ", print(text, got), text << ", expected ", print(text, expected);
    fail(text.str(), at);
  }

  /// `call` must throw an E whose text contains all `words`.
  template <class E, class Call>
  void throws(Call&& call, std::initializer_list<const char*> words,
              const std::source_location& at = std::source_location::current()) const {
    try {
      call();
    } catch (const E& e) {
      for (const char* word : words)
        if (std::string(e.what()).find(word) == std::string::npos)
          fail(std::string("\"") + e.what() + "\" does not contain \"" + word + "\"", at);
      return;
    } catch (const std::exception& e) {
      fail(std::string("threw another exception: ") + e.what(), at);
    }
    fail("did not throw", at);
  }
};

inline constexpr checks check;

}  // namespace tests
