// SPDX-License-Identifier: Apache-2.0
#include "selection/json.hpp"

#include <cstddef>
#include <iterator>

#include <nlohmann/json.hpp>

namespace tutti::json {
namespace {

// Counts lines while the parser reads. The parser reads one character beyond a number, which may be
// the end of the line. So `token_line` is the line of the last character that is not a space.
struct line_counter {
  int line = 1, token_line = 1;

  void advance(char c) noexcept {
    if (c == '\n') {
      ++line;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      token_line = line;
    }
  }
};

class counting_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, line_counter* lines) : at_(at), lines_(lines) {}
  reference operator*() const noexcept { return *at_; }
  counting_iterator& operator++() noexcept {
    lines_->advance(*at_);
    ++at_;
    return *this;
  }
  counting_iterator operator++(int) noexcept {
    const counting_iterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) noexcept {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  line_counter* lines_;
};

// Builds values from the parser's events.
class value_builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  value_builder(const line_counter& lines, parsed& result) : lines_(lines), result_(result) {}

  bool null() { return add(value::type::null) != nullptr; }
  bool boolean(bool truth) {
    add(value::type::boolean)->truth = truth;
    return true;
  }
  bool number_integer(number_integer_t n) {  // negative
    add(value::type::number)->text = std::to_string(n);
    return true;
  }
  bool number_unsigned(number_unsigned_t n) {
    value* v = add(value::type::number);
    v->is_unsigned = true;
    v->number = n;
    v->text = std::to_string(n);
    return true;
  }
  bool number_float(number_float_t, const string_t& written) {
    add(value::type::number)->text = written;
    return true;
  }
  bool string(string_t& text) {
    add(value::type::text)->text = std::move(text);
    return true;
  }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return open(value::type::object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(value::type::list); }
  bool end_array() { return close(); }
  bool key(string_t& name) {
    open_.back()->keys.push_back({std::move(name), lines_.token_line});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    std::string what = error.what();
    // The text before gives the kind of exception and the position, which is reported separately.
    if (const auto column = what.find(": ", what.find("column")); column != what.npos)
      what.erase(0, column + 2);
    else if (const auto bracket = what.find("] "); bracket != what.npos)
      what.erase(0, bracket + 2);
    return reject("not valid JSON: " + what);
  }

 private:
  bool reject(std::string problem) {
    result_.good = false;
    result_.problem = std::move(problem);
    result_.line = lines_.token_line;
    return false;
  }
  value* add(value::type is) {
    value* v = &result_.root;
    if (!open_.empty()) v = &open_.back()->items.emplace_back();
    v->is = is;
    v->line = lines_.token_line;
    return v;
  }
  // Pointers to open values stay valid: only the innermost open value grows.
  bool open(value::type is) {
    if (open_.size() == max_depth) return reject("nested deeper than " + std::to_string(max_depth));
    open_.push_back(add(is));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const line_counter& lines_;
  parsed& result_;
  std::vector<value*> open_;
};

}  // namespace

std::string wrong_kind(const value& found, value::type expected, std::string_view name) {
  value v;
  v.is = expected;
  return std::string(name) + " must be " + std::string(kind(v)) + ", not " + std::string(kind(found));
}

std::string_view kind(const value& v) noexcept {
  switch (v.is) {
    case value::type::null:
      return "null";
    case value::type::boolean:
      return "true or false";
    case value::type::number:
      return "a number";
    case value::type::text:
      return "a string";
    case value::type::list:
      return "a list";
    case value::type::object:
      return "an object";
  }
  return "";
}

parsed parse(std::string_view text) {
  parsed result;
  line_counter lines;
  value_builder builder(lines, result);
  if (!nlohmann::json::sax_parse(counting_iterator(text.data(), &lines),
                                 counting_iterator(text.data() + text.size(), &lines), &builder) &&
      result.good) {
    result.good = false;
    result.problem = "not valid JSON";
  }
  return result;
}

}  // namespace tutti::json
