// SPDX-License-Identifier: Apache-2.0
//
// Writes a JSON document element by element, so that no complete document is in memory. The text is
// that of nlohmann's dump(2).
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

namespace tutti::tool {

/// begin_...() and value() write the next element of the open array, or the value of the last key.
class json_stream {
 public:
  using json = nlohmann::ordered_json;

  explicit json_stream(std::FILE* out) : out_(out) {}
  void begin_object() { begin('{'); }
  void begin_array() { begin('['); }
  /// Ends the innermost open object or array. The end of the outermost one writes a newline.
  void end();
  /// A name without characters that JSON escapes.
  void key(std::string_view name);
  void value(const json& element);
  /// The same for numbers, and for names without characters that JSON escapes.
  void value(std::size_t number);
  void value(std::string_view name);
  template <class Element>
  void member(std::string_view name, const Element& element) {
    static_assert(!std::is_null_pointer_v<Element>, "null is json()");
    key(name);
    if constexpr (std::is_same_v<Element, std::size_t> || std::is_same_v<Element, json>)
      value(element);
    else if constexpr (std::is_convertible_v<const Element&, std::string_view>)
      value(std::string_view(element));
    else
      value(json(element));
  }

 private:
  struct level {
    char closing;
    bool empty = true;
  };
  void begin(char opening);
  void separate();
  void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), out_); }
  void indent();

  std::FILE* out_;
  std::vector<level> open_;
  bool after_key_ = false;
};

}  // namespace tutti::tool
